//! Collectives: primitives that communicate along named axes of maps around the program, and what they share.
//!
//! Under `vmap` the batching rules turn them into operations on the batch axis. On devices, which run one program on a
//! thread each, they are host calls that meet (see [`team`]).

mod all_gather;
pub mod all_reduce;
mod all_to_all;
mod axes;
mod axis_index;
mod collective;
mod exchange;
mod pbroadcast;
mod pmax;
mod pmin;
mod ppermute;
mod psum;
mod psum_invariant;
mod pvary;
mod reduce_scatter;
mod reshard;
mod sharding;
mod sharding_constraint;
pub mod team;

pub use all_gather::{ALL_GATHER, AllGather};
pub use all_reduce::AllReduce;
pub use all_to_all::{ALL_TO_ALL, AllToAll};
pub use axes::{Axis, AxisNames, BareNames, Groups};
pub use axis_index::{AXIS_INDEX, AxisIndex, axis_index};
pub use pbroadcast::{PBROADCAST, Pbroadcast};
pub use pmax::PMAX;
pub use pmin::PMIN;
pub use ppermute::{PPERMUTE, Ppermute};
pub use psum::PSUM;
pub use psum_invariant::{PSUM_INVARIANT, PsumInvariant};
pub use pvary::{PVARY, Pvary};
pub use reduce_scatter::{REDUCE_SCATTER, ReduceScatter};
pub use reshard::{RESHARD, Reshard};
pub use sharding::{MeshParam, NameSet, ShardingParam, SpecParam};
pub use sharding_constraint::{SHARDING_CONSTRAINT, ShardingConstraint};
