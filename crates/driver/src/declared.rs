//! Declarations in the first lines of an STF script: the direction of its packets, and its needs.

use arch::tc::Direction;
use std::ops::Range;

/// A requirement of a test besides its program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Packets shorter than an Ethernet header, which neither a network device nor the kernel's test run takes.
    Interpreter,
    /// Times and random numbers, which the interpreter and test runs let a test choose.
    VirtualTime,
    /// Metrics that each processor keeps separately: one processor must handle all packets.
    OneProcessor,
}

/// The declarations of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Declared {
    /// The directions that it is for, ingress before egress.
    pub directions: &'static [Direction],
    /// Requirement of the test, if it has one.
    pub need: Option<Need>,
}

/// A declaration with an unknown value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown<'s> {
    /// The word that it begins with.
    pub word: &'s str,
    /// Text after the colon.
    pub value: &'s str,
    /// Range of the text after the colon, in bytes from the script's beginning.
    pub at: Range<usize>,
    /// Known values.
    pub known: &'static [&'static str],
}

/// Reads the comments before the first statement. Lines such as `# direction: egress` and `# needs: interp`, with
/// nothing else in them, are declarations. Other comments have no meaning.
///
/// # Errors
/// A direction or a need is unknown.
pub fn declared(script: &str) -> Result<Declared, Unknown<'_>> {
    let mut found = Declared {
        directions: &[Direction::Ingress],
        need: None,
    };
    let comments = script.split_inclusive('\n').take_while(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#')
    });
    let mut next = 0;
    for line in comments {
        let begin = next;
        next += line.len();
        let line = line.trim_end();
        let comment = line.strip_prefix("# ");
        let Some((word, value)) = comment.and_then(|text| text.split_once(": ")) else {
            continue;
        };
        // Prose may begin with a word and a colon, too.
        let is_plain = |c: char| c.is_ascii_lowercase() || c == ' ';
        if !value.chars().all(is_plain) || value.split(' ').count() > 2 {
            continue;
        }
        let unknown = |known| {
            let end = begin + line.len();
            let at = end - value.len()..end;
            Err(Unknown {
                word,
                value,
                at,
                known,
            })
        };
        match (word, value) {
            ("direction", "ingress") => found.directions = &[Direction::Ingress],
            ("direction", "egress") => found.directions = &[Direction::Egress],
            ("direction", "both") => {
                found.directions = &[Direction::Ingress, Direction::Egress];
            }
            ("direction", _) => return unknown(&["ingress", "egress", "both"]),
            ("needs", "interp") => found.need = Some(Need::Interpreter),
            ("needs", "virtual time") => found.need = Some(Need::VirtualTime),
            ("needs", "one processor") => found.need = Some(Need::OneProcessor),
            ("needs", _) => return unknown(&["interp", "virtual time", "one processor"]),
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_before_the_first_statement_declare() {
        let of = |text| declared(text).map(|d| (d.directions.len(), d.need));
        assert_eq!(of("packet 0 00\n# direction: both"), Ok((1, None)));
        assert_eq!(of("# Shows: that\n\n# direction: both\n"), Ok((2, None)));
        assert_eq!(
            of("# needs: virtual time\n# direction: egress"),
            Ok((1, Some(Need::VirtualTime)))
        );
    }

    #[test]
    fn prose_declares_nothing() {
        let of = |text| declared(text).map(|d| (d.directions.len(), d.need));
        let nothing = Ok((1, None));
        assert_eq!(of("# needs: the tables that entries.txt fills"), nothing);
        assert_eq!(of("# direction: as the packets go, both ways"), nothing);
        assert_eq!(of("# What it needs: luck"), nothing);
        assert_eq!(of("## needs: luck"), nothing);
        assert_eq!(of("# direction: both."), nothing);
    }

    #[test]
    fn what_is_neither_is_an_error_with_its_place() {
        let of = |text| {
            let unknown = declared(text).expect_err("an error");
            assert_eq!(&text[unknown.at.clone()], unknown.value);
            (unknown.word, unknown.at, unknown.known.len())
        };
        assert_eq!(of("# x\r\n# direction: up \r\n"), ("direction", 18..20, 3));
        assert_eq!(of("# needs: luck"), ("needs", 9..13, 3));
    }
}
