//! Functions and memory for the payload, and messages in it, that the functions of a file have in common.

use arch::payload::AllAsked;
use ir::ExternInst;
use messages::{Member, Patterns};
use payload::Kind;
use smol_str::SmolStr;
use std::collections::HashMap;

/// Functions and memory for the payload, and for messages in it.
#[derive(Clone, Default)]
pub(crate) struct Messages {
    /// The attributes that the program asks for, of all its paths.
    pub asked: AllAsked,
    /// The functions that read messages for some attributes, by their objects and the lists of these.
    pub reads_for: Vec<((ExternInst, String), SmolStr)>,
    /// The functions that keep the first bytes of messages, by their objects.
    pub keeps: HashMap<ExternInst, SmolStr>,
    /// The program reads the payload.
    pub reads_payload: bool,
    /// It reads messages with documents in them.
    pub reads_documents: bool,
    /// The functions that look for bytes in it.
    pub finds: Vec<(Vec<u8>, SmolStr)>,
    /// The map of the memory that they look in, and its struct.
    pub find_memory: Option<(SmolStr, SmolStr)>,
    /// The regular expressions that are looked for in a memory.
    pub patterns: Patterns,
    /// Those that do so in the payload, by the expressions' texts.
    pub payload_patterns: Vec<(String, SmolStr)>,
    /// The function that passes over a body in chunks, if one does.
    pub chunks: Option<SmolStr>,
    /// What reads messages.
    pub objects: HashMap<ExternInst, Object>,
}

/// An object that reads messages.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// The map with its memory.
    pub map: SmolStr,
    /// The struct of it.
    pub structure: SmolStr,
    /// The function that reads a message.
    pub read: SmolStr,
    /// The map with the first bytes of messages that go on in later packets, if some are kept.
    pub heads: Option<SmolStr>,
    /// The most bytes of a message that are read.
    pub limit: u32,
    /// The function that gives the text of a DNS name, if one is wanted.
    pub name_text: Option<SmolStr>,
    /// The members that say where attributes are, by their names.
    pub attributes: HashMap<String, (Member, Kind)>,
}
