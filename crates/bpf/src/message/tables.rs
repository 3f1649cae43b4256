//! Tables of what the headers' functions do at each byte.

use super::file::File;
use cgen::tree::{Expr as C, Type as CType};
use payload::chunks::{KIND_OF, NEXT};

/// The table of `message_search` for bytes that are looked for, 64 at most: of each byte, the bits of those that it is not.
pub(crate) fn places(file: &mut File<'_>, wanted: &[u8]) -> C {
    let other = |byte: u8| {
        let all = wanted.iter().enumerate();
        all.fold(u64::MAX, |bits, (at, &wanted)| match wanted == byte {
            true => bits & !(1 << at),
            false => bits,
        })
    };
    file.array("places", CType::U64, 256, &mut (0..=255).map(other))
}

/// The tables of `chunks_pass`: the kinds of bytes, and the phases behind them.
pub(crate) fn chunks(file: &mut File<'_>) -> [C; 2] {
    [("kinds", &KIND_OF), ("phases", &NEXT)].map(|(wish, table)| {
        let bytes = &mut table.iter().map(|&byte| byte.into());
        file.array(wish, CType::U8, table.len(), bytes)
    })
}

#[cfg(test)]
mod tests {
    use payload::chunks::NAMED;

    #[test]
    fn phases_of_chunks_are_those_of_the_header() {
        let header = include_str!("../../include/onpath/message.h");
        for (name, phase) in NAMED {
            assert!(
                header.contains(&format!("    {name} = {phase},\n")),
                "{name}"
            );
        }
    }
}
