//! Messages: a code and fields of bytes, with their sizes in front.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;

/// What each side says first.
const GREETING: &[u8; 8] = b"PBKCOOR1";

/// More than this is no message.
const MAX_BYTES: usize = 64 << 20;

/// What is asked for.
pub(crate) mod ask {
    pub(crate) const JOIN: u8 = 1;
    pub(crate) const ALIVE: u8 = 2;
    pub(crate) const LEAVE: u8 = 3;
    pub(crate) const SET: u8 = 4;
    pub(crate) const GET: u8 = 5;
    pub(crate) const LIST: u8 = 6;
    pub(crate) const DELETE: u8 = 7;
    pub(crate) const INCREMENT: u8 = 8;
    pub(crate) const BARRIER: u8 = 9;
    pub(crate) const LIVE: u8 = 10;
}

/// Answers: done, or one of the codes of failures with a text.
pub(crate) const DONE: u8 = 0;

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) code: u8,
    pub(crate) fields: Vec<Vec<u8>>,
}

impl Message {
    pub(crate) fn new(code: u8, fields: &[&[u8]]) -> Message {
        Message { code, fields: fields.iter().map(|field| field.to_vec()).collect() }
    }

    /// A field as bytes; empty where there is none.
    pub(crate) fn bytes(&self, at: usize) -> &[u8] {
        self.fields.get(at).map_or(&[], Vec::as_slice)
    }

    /// A field as text.
    pub(crate) fn text(&self, at: usize) -> String {
        String::from_utf8_lossy(self.bytes(at)).into_owned()
    }

    /// A field as a number.
    pub(crate) fn number(&self, at: usize) -> u64 {
        self.bytes(at).try_into().map_or(0, u64::from_le_bytes)
    }

    fn encode(&self) -> Vec<u8> {
        let mut body = vec![self.code];
        for field in &self.fields {
            body.extend((field.len() as u32).to_le_bytes());
            body.extend(field);
        }
        [&(body.len() as u32).to_le_bytes()[..], &body].concat()
    }

    fn decode(body: &[u8]) -> Option<Message> {
        let (&code, mut rest) = body.split_first()?;
        let mut fields = vec![];
        while !rest.is_empty() {
            let (size, after) = rest.split_first_chunk::<4>()?;
            let (field, after) = after.split_at_checked(u32::from_le_bytes(*size) as usize)?;
            fields.push(field.to_vec());
            rest = after;
        }
        Some(Message { code, fields })
    }
}

fn strange(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}

pub(crate) fn send(stream: &mut TcpStream, message: &Message) -> Result<()> {
    stream.write_all(&message.encode())
}

pub(crate) fn receive(stream: &mut TcpStream) -> Result<Message> {
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    let size = u32::from_le_bytes(size) as usize;
    if size > MAX_BYTES {
        return Err(strange("a message that is too long"));
    }
    // Memory is taken as bytes come, not as they are announced.
    let mut body = vec![];
    stream.take(size as u64).read_to_end(&mut body)?;
    if body.len() < size {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Message::decode(&body).ok_or_else(|| strange("a message that cannot be read"))
}

/// Says the greeting.
pub(crate) fn greet(stream: &mut TcpStream) -> Result<()> {
    stream.write_all(GREETING)
}

/// Hears the greeting of the other side.
pub(crate) fn expect_greeting(stream: &mut TcpStream) -> Result<()> {
    let mut heard = [0; GREETING.len()];
    stream.read_exact(&mut heard)?;
    if &heard == GREETING { Ok(()) } else { Err(strange("another protocol is spoken there")) }
}
