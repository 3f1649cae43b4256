//! The payload, which is the rest of a packet after the parser, and messages in it (`p4include/payload.p4`): the checks
//! of a program's accesses, and the lowering of the calls for targets.

mod asked;
mod check;
mod lower;

pub use asked::{AllAsked, Asked, are_read, are_read_in_loop, asked, object_of};
pub use check::check;
pub(crate) use lower::{Calls, lower};
pub use lower::{ENDING, EXCESS, WITH_PAYLOAD};

pub use externs::message::{
    FIND_NAME, FIND_PATTERN, FIND_URL, GET_BYTES, GET_NUMBER, HEADS, KEEP, MATCHES_PATTERN,
    MESSAGE, MOST_BYTES, OF_URL, READ_BEHIND, READ_FOR, READ_HELD, READ_INITIALS, READ_MESSAGE,
    kept_and_behind, limit_of, names_in, schema_name, schema_of,
};
pub use externs::name_set::{FIND_BYTES, NAME_SET};
pub use externs::pattern_set::PATTERN_SET;
pub use externs::payload::{
    CHUNKS, FIND, LENGTH, MATCHES, PATTERN, REACH, READ, SUM, TRUNCATE, UNCHANGED, WRITE,
};
pub use externs::quic::{MOST_CONNECTIONS, QUIC_INITIALS, TAKE, connections};
pub use externs::stream_bytes::{
    CANDIDATES, EQUAL, GENERATION, HOLD, MOST_STREAMS, RELEASE, RING, STREAM_BYTES,
};

use ir::{ExternArg, ExternCall, ExternData, Program, StmtKind, visit};
use payload::builtin;

/// The externs of `payload.p4`.
pub(crate) const EXTERNS: &[&str] = &[
    LENGTH,
    READ,
    WRITE,
    TRUNCATE,
    UNCHANGED,
    SUM,
    MATCHES,
    FIND,
    PATTERN,
    CHUNKS,
    MESSAGE,
    NAME_SET,
    PATTERN_SET,
    STREAM_BYTES,
    QUIC_INITIALS,
];

/// Externs that change the packet that leaves.
const CHANGES: [&str; 3] = [WRITE, TRUNCATE, UNCHANGED];

/// Externs whose objects read the payload.
const OBJECTS: [&str; 5] = [MESSAGE, NAME_SET, PATTERN_SET, STREAM_BYTES, QUIC_INITIALS];

/// Most bits that are read at once of a payload, or of an attribute that is bytes.
pub const WIDEST_READ: u32 = 1024;
/// Most bits of an attribute that is bytes.
pub const WIDEST_ATTRIBUTE: u32 = 2048;
/// Most rules of a name set.
pub const MOST_RULES: u32 = 2_000_000;
/// Most states of a pattern set.
pub const MOST_STATES: u32 = patterns::MOST_STATES;
/// Most bits of a constant that is compared or searched for.
pub const WIDEST_CONSTANT: u32 = 512;

/// Returns true if a call of a method of [`MESSAGE`] reads a message.
pub fn reads_message(call: &ExternCall) -> bool {
    let name = call.name.as_str();
    [
        READ_MESSAGE,
        READ_FOR,
        READ_BEHIND,
        READ_HELD,
        READ_INITIALS,
    ]
    .contains(&name)
}

/// Returns the list of the attributes for which such a call reads a message; `None` if it reads to the end.
pub fn read_for(call: &ExternCall) -> Option<&String> {
    let at = match call.name.as_str() {
        READ_FOR | READ_INITIALS => 2,
        READ_BEHIND => 3,
        READ_HELD => 5,
        _ => return None,
    };
    match call.args.get(at) {
        Some(ExternArg::String(list)) => Some(list),
        _ => None,
    }
}

/// Returns true if reading the payload takes a program loops: it reads messages, or searches for bytes.
pub fn has_loops(program: &Program) -> bool {
    let reads = |data: &ExternData| OBJECTS.contains(&data.ty.as_str());
    program.externs.values().any(reads)
        || visit::bodies(program).any(|body| {
            let mut finds = false;
            visit::walk_block(body, &mut |stmt| {
                finds |= matches!(&stmt.kind, StmtKind::Extern(call) if call.object.is_none() && [FIND, PATTERN, CHUNKS].contains(&call.name.as_str()));
            });
            finds
        })
}

/// Returns true if a program changes its payload, or lets packets leave as they came in.
pub fn is_changed(program: &Program) -> bool {
    visit::bodies(program).any(|body| {
        let mut changes = false;
        visit::walk_block(body, &mut |stmt| {
            changes |= matches!(&stmt.kind, StmtKind::Extern(call) if call.object.is_none() && CHANGES.contains(&call.name.as_str()));
        });
        changes
    })
}

/// Returns the names of the built-in schemas.
fn known_schemas() -> Vec<&'static str> {
    builtin::ALL.iter().map(|builtin| builtin.name).collect()
}
