//! Tables of what functions of headers do at each byte.

use crate::file::File;
use cgen::tree::{Expr as C, Type as CType};
use payload::chunks::{KIND_OF, NEXT};

/// The table of `message_search` for bytes that are looked for, 64 at most: of each byte, the bits of those that it is not.
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

/// The tables of a function that passes over a body in chunks: the kinds of bytes, and the phases behind them.
pub fn chunks(file: &mut File<'_>) -> [C; 2] {
    [("kinds", &KIND_OF), ("phases", &NEXT)].map(|(wish, table)| {
        let bytes = &mut table.iter().map(|&byte| byte.into());
        file.array(wish, CType::U8, table.len(), bytes)
    })
}
