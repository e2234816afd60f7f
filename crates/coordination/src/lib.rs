//! Processes of one program: a service that one of them runs, and a client in each.
//!
//! The service keeps values by key, holds barriers, and knows who is alive: each process has a connection whose end, or
//! silence, means that it is gone; then everything that waits, or asks later, gets an error that names it. Nothing waits
//! without a limit. It moves no arrays: collectives are the plugin's. There is no secret in the protocol: the port is for a
//! network that is trusted; what does not speak it is sent away.
#![forbid(unsafe_code)]

mod client;
mod service;
mod wire;

pub use client::{Client, Settings};
pub use service::Service;

#[cfg(test)]
mod tests;
