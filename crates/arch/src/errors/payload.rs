//! Errors about a program's accesses to the payload. Codes E0604 to E0609 and E0611 to E0613.

use diag::{Diagnostic, Span};
use payload::PATTERN_LIMIT;
use std::ops::Range;

/// A schema that does not exist.
pub fn unknown_schema(name: &str, known: &[&str], near: Option<&str>, at: Span) -> Diagnostic {
    let unknown = format!("no message schema is called {name:?}");
    let refused = Diagnostic::error("E0604", at, unknown);
    match near {
        Some(near) => refused.help(format!("write {near:?}")),
        None => refused.help(format!("those that are built in: {}", known.join(", "))),
    }
}

/// A limit that no message can have.
pub fn limit(name: &str, limit: &str, most: u32, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0605",
        at,
        format!("`{name}` reads {limit} bytes of a message; it can be 1 to {most}"),
    )
    .help("name no limit: the schema has one")
}

/// A size that no name set can have.
pub fn name_set_size(name: &str, most: u32, at: Span) -> Diagnostic {
    let refused = format!("`{name}` has room for 1 to {most} rules");
    Diagnostic::error("E0611", at, refused).help("declare how many rules it will have at most")
}

/// A size that no pattern set can have.
pub fn pattern_set_size(name: &str, most: u32, at: Span) -> Diagnostic {
    let refused = format!("`{name}` has room for 1 to {most} states");
    Diagnostic::error("E0611", at, refused)
        .help("declare how many states its automata will have at most: about one for each byte of a pattern")
}

/// A number of streams that no object can hold.
pub fn streams(name: &str, most: u32, at: Span) -> Diagnostic {
    let refused = format!("`{name}` has room for 1 to {most} streams");
    Diagnostic::error("E0611", at, refused)
        .help("declare of how many streams it will hold bytes at once")
}

/// A number of connections that no object can hold.
pub fn connections(name: &str, most: u32, at: Span) -> Diagnostic {
    let refused = format!("`{name}` has room for 1 to {most} connections");
    Diagnostic::error("E0611", at, refused).help("declare how many begin at the same time at most")
}

/// An object whose messages continue in two ways.
pub fn held_twice(name: &str, at: Span) -> Diagnostic {
    let refused = format!("`{name}` reads messages after bytes that two objects have");
    Diagnostic::error("E0612", at, refused)
        .help("call `read_held` or `read_initials` with one object, and neither `keep` nor `read_behind`; or declare a `message` for each")
}

/// A change of the payload in another model.
pub fn unchanged(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0613",
        at,
        format!("`{name}` needs a program of `xdp_model`"),
    )
    .label("this changes the payload")
    .help("let `main` be an instance of `xdp`, and run it at XDP")
}

/// A change of the payload in a deparser.
pub fn changed_late(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0613", at, format!("`{name}` is called in a deparser"))
        .label("the packet is put together already")
        .help("call it in the control before")
}

/// An attribute that messages do not have.
pub fn unknown_attribute(
    schema: &str,
    name: &str,
    known: &[&str],
    near: Option<&str>,
    at: Span,
) -> Diagnostic {
    let unknown = format!("messages of `{schema}` have no attribute {name:?}");
    let refused = Diagnostic::error("E0606", at, unknown);
    match near {
        Some(near) => refused.help(format!("write {near:?}")),
        None => refused.help(format!("they have: {}", known.join(", "))),
    }
}

/// The key in place of the `*` of an attribute is invalid; `keys` describes valid ones.
pub fn wrong_key(
    schema: &str,
    name: &str,
    (attribute, keys): (&str, &str),
    at: Span,
) -> Diagnostic {
    let unknown = format!("messages of `{schema}` have no attribute {name:?}");
    Diagnostic::error("E0606", at, unknown).help(format!(
        "in the place of the `*` of `{attribute}` stands {keys}"
    ))
}

/// An attribute that stands for many: its `*` is left open.
pub fn many_attributes(schema: &str, name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0606",
        at,
        format!("{name:?} of `{schema}` stands for many attributes"),
    )
    .help("name the one that you want in the place of `*`")
}

/// Attributes of different kinds have the name.
pub fn mixed_attributes(schema: &str, name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0606",
        at,
        format!("{name:?} of `{schema}` may be a number, and may be bytes"),
    )
    .help("name an attribute that is one of them")
}

/// A value that does not fit its destination, or cannot be there. `what` describes it.
pub fn destination(what: &str, instead: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0607", at, what.to_string()).help(instead.to_string())
}

/// A call in a parser, where the start of the payload is not known yet.
pub fn in_parser(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0608", at, format!("`{name}` is called in a parser"))
        .label("the payload begins where the parser ends")
        .help("call it in a control; a parser reads ahead by `lookahead`")
}

/// Advice on a smaller automaton.
const SMALLER: &str = "repeat less often (`{n}`), or look for parts of it by calls of their own";

/// A regular expression for which no automaton can be made. `place` is the range of the fault in the expression, if
/// known.
pub fn no_pattern(text: &str, what: &str, place: Range<usize>, at: Span) -> Diagnostic {
    let refused = Diagnostic::error(
        "E0609",
        at,
        format!(
            "no automaton looks for the regular expression {}: {what}",
            shortened(text)
        ),
    );
    match text.get(place.clone()).unwrap_or_default() {
        "" => refused,
        wrong => refused.help(format!(
            "this is about {} at its byte {}; `onpath explain payload_matches` shows what an expression may be",
            shortened(wrong),
            place.start + 1
        )),
    }
}

/// Returns an expression for messages: of a long one the start, and its length.
fn shortened(text: &str) -> String {
    const MOST: usize = 64;
    match text.char_indices().nth(MOST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}... of {} bytes", &text[..end], text.len()),
    }
}

/// A regular expression whose automaton takes too much memory to be made.
pub fn large_pattern(text: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0609",
        at,
        format!(
            "the automaton of the regular expression {} takes more than {} KB",
            shortened(text),
            PATTERN_LIMIT >> 10
        ),
    )
    .help(SMALLER)
}

/// A regular expression whose automaton has too many transitions for a program.
pub fn large_table(text: &str, states: usize, classes: usize, at: Span) -> Diagnostic {
    Diagnostic::error("E0609",
        at,
        format!(
            "the automaton of the regular expression {} has {states} states for {classes} classes of bytes, more than 65536 transitions",
            shortened(text)
        ),
    )
    .help(SMALLER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_expression_messages_have_the_beginning_and_the_place() {
        let text = "x".repeat(20_000) + "[z-a]";
        let refused = no_pattern(&text, "a range", 20_001..20_004, Span::NONE);
        let begin = "x".repeat(64);
        let message = format!(
            "no automaton looks for the regular expression \"{begin}\"... of 20005 bytes: a range"
        );
        assert_eq!(refused.message, message);
        let help = refused.help.expect("a help");
        assert!(
            help.starts_with("this is about \"z-a\" at its byte 20002; "),
            "{help}"
        );
        let refused = large_pattern(&text, Span::NONE);
        assert!(refused.message.len() < 200, "{}", refused.message);
        let refused = large_table(&text, 300, 256, Span::NONE);
        assert!(refused.message.len() < 250, "{}", refused.message);
        assert_eq!(shortened("a\\.b"), r#""a\\.b""#);
    }
}
