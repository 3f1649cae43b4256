//! Resource models of programmable packet hardware: how far into a payload its parser could look.
//!
//! **These are models.** Nothing here runs on hardware, and no vendor's compiler is asked. A model counts
//! what a parsing [`Technique`] takes of each [`Resource`] and compares it with what the chip has: a payload
//! fits if no resource is short. A real compiler may do better or worse, since it also places headers,
//! metadata and tables.
//!
//! Each parameter says where its number is from. Those from the chip's documents are called *published*; those that
//! were chosen so that the model meets a figure measured on hardware are called *fitted*, with that figure. There are
//! five fitted ones: [`tofino::RESERVED_BITS`], [`tofino::BASE_ENTRIES`], [`recirculation::OFFERED_GBPS`],
//! [`nfp::RESERVED_BYTES`] and [`nfp::INSTRUCTIONS_A_COMPARED_BYTE`]. The value that the published byte-by-byte
//! figures search for is not reported; [`PUBLISHED_VALUE_BYTES`] is assumed.

pub mod growth;
pub mod nfp;
pub mod recirculation;
mod resource;
mod technique;
pub mod tofino;

pub use resource::{Model, Resource, Usage, largest, max_attributes, max_bytes, refused_by};
pub use technique::{Order, Payload, Technique};

/// Bytes of the value that the published byte-by-byte figures search for. Assumed: the figures come without it, and
/// both chips' models meet theirs with 8.
pub const PUBLISHED_VALUE_BYTES: u32 = 8;
