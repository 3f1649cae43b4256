//! Layout of the bytes that packets and the control plane share: keys, values and entries, the maps that hold them, and
//! the structures by which tables are searched. Pure data, the same for every target.
//!
//! Integers without a [`ByteOrder`] of their own are in the machine's byte order: action numbers, priorities, tuple
//! numbers, list heads, prefix lengths, counters. Bytes that no field covers are zero.

mod contents;
mod field;
mod globals;
mod indexed;
mod keyed;
mod lookup;
mod map;
mod name_set;
mod pattern_set;
mod records;
mod seeds;
mod structure;
mod table;

pub use contents::Contents;
pub use field::{ActionAbi, ByteOrder, FieldAbi, KeyAbi, ValueAbi};
pub use globals::GlobalsAbi;
pub use indexed::{CounterAbi, MeterAbi, RegisterAbi};
pub use keyed::{FlowStateAbi, MetricsAbi, StateAbi};
pub use lookup::{
    BUCKET_PLACES, BitVectorsAbi, BucketsAbi, Lane, LookupAbi, MOST_BLOCKS, MultibitTrieAbi,
    RowForm, Test, TupleSpaceAbi, WORDS_AT_ONCE,
};
pub use map::{Map, MapKind};
pub use name_set::{
    NAME_BELOW, NAME_IN_FRONT, NAME_ITSELF, NAME_RECORD, NAME_SLOTS, NameHash, NameSetAbi,
    name_records, name_set_room,
};
pub use pattern_set::PatternSetAbi;
pub use records::{DigestAbi, DigestsAbi, LogAbi, LogsAbi};
pub use seeds::HashSeeds;
pub use structure::{Matching, Structure};
pub use table::{
    DefaultAbi, DirectAbi, MOST_MEMBERS_OF_A_GROUP, MemberGroupsAbi, TableAbi, ValueSetAbi,
};
