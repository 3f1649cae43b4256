//! Resource models of programmable packet hardware: how far its parser could look into a payload.
//!
//! **These are models.** Nothing here runs on hardware, and no vendor's compiler is consulted. A model counts the
//! [`Resource`]s that a parsing [`Technique`] uses, and compares them with those of the chip: a payload fits if no
//! resource is exceeded. A real compiler may do better or worse, since it also places headers, metadata and tables.
//!
//! The source of each parameter is stated. *Published* parameters are from the chip's documents. *Fitted* ones were
//! chosen so that the model reproduces a result measured on hardware, which is stated too. There are five fitted ones:
//! [`tofino::RESERVED_BITS`], [`tofino::BASE_ENTRIES`], [`recirculation::OFFERED_GBPS`], [`nfp::RESERVED_BYTES`] and
//! [`nfp::INSTRUCTIONS_A_COMPARED_BYTE`]. The size of the value in the published byte-by-byte results is not reported;
//! [`PUBLISHED_VALUE_BYTES`] is assumed.

pub mod exact_match;
pub mod growth;
pub mod nfp;
pub mod recirculation;
mod resource;
mod technique;
pub mod tofino;

pub use resource::{Model, Resource, Usage, largest, max_attributes, max_bytes, refused_by};
pub use technique::{Order, Payload, Technique};

/// Size in bytes of the value that the published byte-by-byte results search for. Assumed: the results do not state it,
/// and both chips' models reproduce theirs with 8.
pub const PUBLISHED_VALUE_BYTES: u32 = 8;
