//! Byte tables for functions of the headers.

use crate::file::File;
use cgen::tree::{Expr as C, Type as CType};
use payload::chunks::{KIND_OF, NEXT};

/// Adds the table of `message_search` for at most 64 wanted bytes. For each byte, the bits of the positions of other
/// bytes are set.
pub fn places(file: &mut File<'_>, wanted: &[u8]) -> C {
    let other = |byte: u8| {
        let all = wanted.iter().enumerate();
        all.fold(u64::MAX, |bits, (at, &wanted)| match wanted == byte {
            true => bits & !(1 << at),
            false => bits,
        })
    };
    file.array("places", CType::U64, 256, &mut (0..=255).map(other))
}

/// Adds the tables for a function that passes over a chunked body: kinds of bytes, and phases after them.
pub fn chunks(file: &mut File<'_>) -> [C; 2] {
    [("kinds", &KIND_OF), ("phases", &NEXT)].map(|(wish, table)| {
        let bytes = &mut table.iter().map(|&byte| byte.into());
        file.array(wish, CType::U8, table.len(), bytes)
    })
}
