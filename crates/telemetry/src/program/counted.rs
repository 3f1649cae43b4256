//! Counters of a query's program: those of `p4include/streams.p4`, followed by its own.

use super::p4::{Enum, Stmt, name};

/// Name of the object with the counters.
pub(super) const COUNTS: &str = "counts";

/// Counter. Its index is its position in the enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Gap,
    Again,
    Unfollowed,
    Begun,
    Ended,
    Malformed,
    Unread,
    Read,
    Matched,
    WithoutKey,
    Message,
    Cut,
    Request,
    Answered,
    Unmatched,
}

/// All counters by index: the enum that has it (the include file's or the program's), its name there, and a comment for
/// the program's own.
const ALL: [(Count, &str, &str, &str); 15] = [
    (Count::Gap, SHIPPED, "GAP", ""),
    (Count::Again, SHIPPED, "AGAIN", ""),
    (Count::Unfollowed, SHIPPED, "UNFOLLOWED", ""),
    (Count::Begun, SHIPPED, "BEGUN", ""),
    (Count::Ended, SHIPPED, "ENDED", ""),
    (Count::Malformed, SHIPPED, "MALFORMED", ""),
    (Count::Unread, SHIPPED, "UNREAD", ""),
    (Count::Read, OWN, "READ", "packets"),
    (
        Count::Matched,
        OWN,
        "MATCHED",
        "records for which the condition holds",
    ),
    (
        Count::WithoutKey,
        OWN,
        "WITHOUT_KEY",
        "of these, those without a key",
    ),
    (Count::Message, OWN, "MESSAGE", "messages"),
    (Count::Cut, OWN, "CUT", "texts that were cut"),
    (Count::Request, OWN, "REQUEST", "requests"),
    (
        Count::Answered,
        OWN,
        "ANSWERED",
        "of these, those with a response",
    ),
    (
        Count::Unmatched,
        OWN,
        "UNMATCHED",
        "responses without a request",
    ),
];

const SHIPPED: &str = "stream_count";
const OWN: &str = "query_count";

/// Number of counters.
pub(super) const COUNTERS: usize = ALL.len();

impl Count {
    /// Emits the increment of the counter.
    pub(super) fn increment(self) -> Stmt {
        let (_, of, member, _) = ALL[self as usize];
        Stmt::Call(name(COUNTS).method("increment", vec![name(of).member(member)]))
    }
}

/// Returns the enum with the names of the program's own counters.
pub(super) fn names() -> Enum {
    Enum {
        name: OWN,
        bits: 32,
        members: ALL
            .iter()
            .filter(|(_, of, ..)| *of == OWN)
            .map(|&(count, _, name, comment)| (name, count as u32, comment))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behind::NO_END;
    use crate::messages::MOST_KEPT;
    use crate::streams::REACH;
    use payload::Pattern;

    const FILE: &str = include_str!("../../../../p4include/streams.p4");

    #[test]
    fn the_include_file_has_the_limits_of_the_evaluation() {
        for (name, value) in [
            ("STREAM_KEPT", MOST_KEPT as u64),
            ("STREAM_REACH", REACH.into()),
        ] {
            let line = format!("\nconst bit<32> {name} = {value};\n");
            assert!(FILE.contains(&line), "{line}");
        }
        let line = format!("\nconst bit<64> STREAM_NO_END = {NO_END:#x};\n");
        assert!(FILE.contains(&line), "{line}");
    }

    #[test]
    fn the_include_file_knows_the_coding_of_the_evaluation() {
        let pattern = FILE.split("matches(chunked, \"").nth(1);
        let pattern = pattern
            .and_then(|rest| rest.split('"').next())
            .unwrap_or("");
        let pattern = Pattern::new(&pattern.replace("\\\\", "\\")).expect("an expression");
        for value in [
            "chunked",
            "Chunked",
            "gzip, CHUNKED",
            "gzip,\tchunked",
            ",chunked",
            "chunked, gzip",
            "chunked,",
            "xchunked",
            "gzip chunked",
            "chunked;a=b",
            "",
        ] {
            let is_it = payload::chunks::is_chunked(value.as_bytes());
            assert_eq!(pattern.is_in(value.as_bytes()), is_it, "{value}");
        }
    }

    #[test]
    fn counters_of_streams_have_the_numbers_of_the_include_file() {
        let named = FILE.split("enum bit<32> stream_count {").nth(1);
        let named = named.and_then(|rest| rest.split('}').next()).unwrap_or("");
        let found: Vec<(&str, String)> = named
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.trim(), value.trim_start()))
            .map(|(name, value)| {
                (
                    name,
                    value.chars().take_while(char::is_ascii_digit).collect(),
                )
            })
            .collect();
        let shipped = ALL.iter().filter(|(_, of, ..)| *of == SHIPPED);
        let expected: Vec<(&str, String)> = shipped
            .map(|(count, _, name, _)| (*name, (*count as u32).to_string()))
            .collect();
        assert_eq!(found, expected);
        for (place, (count, ..)) in ALL.iter().enumerate() {
            assert_eq!(*count as usize, place);
        }
    }
}
