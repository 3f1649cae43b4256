//! Diagnostics of schemas, one function each.

use crate::NoSet;
use diag::{Diagnostic, Span, instead_of, quoted};
use std::ops::RangeInclusive;

/// A name that is not defined.
pub(super) fn unknown_name(span: Span, what: &str, name: &str, known: &[&str]) -> Diagnostic {
    let help = match known {
        [] => "there is none".to_string(),
        known => instead_of(name, known, "there is"),
    };
    Diagnostic::refusal("E1005", span, format!("no {what} is named `{name}`"), help)
}

/// A reference to a field that does not come before the referring one.
pub(super) fn later_field(span: Span, name: &str, earlier: &[&str]) -> Diagnostic {
    let message = format!("the field `{name}` does not stand in front of this one");
    let help = match earlier {
        [] => {
            "a parser knows only what it has passed: put the field in front of this one".to_string()
        }
        earlier => format!(
            "a parser knows only what it has passed: put the field in front of this one, or name one that stands there: {}",
            quoted(earlier)
        ),
    };
    Diagnostic::refusal("E1005", span, message, help)
}

/// Two things of one kind with the same name.
pub(super) fn name_twice(span: Span, what: &str, name: &str, first: Span) -> Diagnostic {
    let message = format!("two {what}s are named `{name}`");
    Diagnostic::refusal("E1006", span, message, "give one of them another name")
        .also(first, "the first")
}

/// Two keys of which a table may have one.
pub(super) fn exclusive(span: Span, first: (&str, Span), second: &str, about: &str) -> Diagnostic {
    let message = format!("`{}` and `{second}` both give {about}", first.0);
    Diagnostic::refusal("E1007", span, message, "remove one of them").also(first.1, "the other")
}

/// A key without the one that it requires.
pub(super) fn only_with(span: Span, key: &str, with: &str) -> Diagnostic {
    let message = format!("`{key}` has no meaning without {with}");
    Diagnostic::refusal(
        "E1008",
        span,
        message,
        format!("add {with}, or remove `{key}`"),
    )
}

/// A field without an end.
pub(super) fn no_extent(span: Span, name: &str) -> Diagnostic {
    let message = format!("nothing gives the end of the field `{name}`");
    let help = "add `size`, `bits`, `length`, `until`, `rest`, `join`, `form`, `layout`, `select` or `starts`; a field that is only a constant has a `tag`";
    Diagnostic::refusal("E1009", span, message, help)
}

/// Help: syntax of sums.
pub(super) const SUMS: &str = "sums have numbers, fields of this layout that stand earlier, and products of both, such as `4 * words - 2`";

/// Help: syntax of conditions.
pub(super) const CONDITIONS: &str = "a condition compares a sum of earlier fields with a number, such as `type == 7` or `flags + options != 0`";

/// A sum or a condition that cannot be parsed. `form` describes its syntax.
pub(super) fn expression(span: Span, expected: &str, form: &str) -> Diagnostic {
    Diagnostic::refusal("E1010", span, format!("expected {expected}"), form)
}

/// A field that is used as a number but is not one.
pub(super) fn not_a_number(span: Span, name: &str) -> Diagnostic {
    let message = format!("the field `{name}` is no number");
    let help = "numbers have `bits`, a `size` of at most 8, the form `varint` or the type `decimal`, and stand once";
    Diagnostic::refusal("E1011", span, message, help)
}

/// Bits that end within a byte.
pub(super) fn broken_byte(span: Span, bits: u32) -> Diagnostic {
    let message = format!("{bits} bits in a row make no whole bytes");
    let help = format!(
        "add a field of {} bits, named `spare` if it means nothing",
        8 - bits % 8
    );
    Diagnostic::refusal("E1012", span, message, help)
}

/// A number's key on a field that cannot be a number.
pub(super) fn too_wide(span: Span, key: &str) -> Diagnostic {
    let message = format!("`{key}` is for numbers of at most 8 bytes with a constant `size`");
    Diagnostic::refusal(
        "E1013",
        span,
        message,
        format!("remove `{key}`, or give the field such a `size`"),
    )
}

/// A field without a tag in a layout of any order, where only tags identify fields.
pub(super) fn no_tag(span: Span, name: &str) -> Diagnostic {
    let message = format!("the field `{name}` has no tag, and its layout has no order");
    let help = "give it a `tag`, or its layout `order = \"fixed\"`";
    Diagnostic::refusal("E1014", span, message, help)
}

/// An attribute's key, in a layout that has none.
pub(super) fn no_key(span: Span, layout: &str) -> Diagnostic {
    let message = format!("the layout `{layout}` has no key");
    Diagnostic::refusal(
        "E1015",
        span,
        message,
        "name the field that distinguishes its instances by `key = \"FIELD\"` in the layout",
    )
}

/// A key that comes after the field it is to select.
pub(super) fn key_is_later(span: Span, key: &str, field: &str) -> Diagnostic {
    let message = format!("the key `{key}` does not stand in front of the field `{field}`");
    Diagnostic::refusal(
        "E1016",
        span,
        message,
        "a parser knows only what it has passed: choose a field behind the key",
    )
}

/// A member of something that has none.
pub(super) fn no_members(span: Span, field: &str) -> Diagnostic {
    let message = format!("the field `{field}` has no members");
    Diagnostic::refusal(
        "E1017",
        span,
        message,
        "members are in fields of the form `json` or `xml`",
    )
}

/// `*` in an attribute's name or in its selection, but not in both.
pub(super) fn wildcard(span: Span, name: &str) -> Diagnostic {
    let message =
        format!("the name `{name}` and what it stands for must both end in `*`, or neither");
    Diagnostic::refusal(
        "E1018",
        span,
        message,
        "an attribute of many names is written like `name = \"header.*\"` with `key = \"*\"`",
    )
}

/// A reference that is not `LAYOUT.FIELD`.
pub(super) fn not_a_path(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{text}` names no field");
    Diagnostic::refusal(
        "E1019",
        span,
        message,
        "write it as LAYOUT.FIELD, such as `header.value`",
    )
}

/// A chain whose layout lacks the field that continues it.
pub(super) fn broken_chain(span: Span, name: &str) -> Diagnostic {
    let message =
        format!("the layout of this chain has no number `{name}`, so nothing says what comes next");
    Diagnostic::refusal(
        "E1020",
        span,
        message,
        format!("add the field `{name}` to that layout"),
    )
}

/// Characters that do not form a set.
pub(super) fn bad_set(span: Span, key: &str, wrong: NoSet) -> Diagnostic {
    let (message, help) = match wrong {
        NoSet::Backwards(first, last) => (
            format!(
                "the range `{}-{}` of `{key}` runs backwards",
                first.escape_debug(),
                last.escape_debug()
            ),
            "write ranges like `a-z`, and `-` itself at the start or end",
        ),
        NoSet::Beyond(character) => (
            format!("`{key}` has `{character}`, which is no byte"),
            "characters up to U+00FF stand for the byte of that number",
        ),
    };
    Diagnostic::refusal("E1021", span, message, help)
}

/// A case that is not a number although the field is one.
pub(super) fn bad_case(span: Span, case: &str) -> Diagnostic {
    let message = format!("`{case}` is no number, but the field is one");
    Diagnostic::refusal("E1022", span, message, "write it like `16` or `0x10`")
}

/// The next message is located by an attribute that is a number.
pub(super) fn not_bytes(span: Span, name: &str, is_decimal: bool) -> Diagnostic {
    let message = format!("`{name}` is a number, and here stands an attribute of bytes or text");
    let help = if is_decimal {
        "remove `type = \"decimal\"` from its field: the digits are read as a length all the same"
    } else {
        "a length is read from decimal digits: name an attribute of a field that holds such"
    };
    Diagnostic::refusal("E1023", span, message, help)
}

/// The next message is located by an attribute that does not exist.
pub(super) fn no_bytes(span: Span, name: &str) -> Diagnostic {
    let message = format!("no attribute of bytes or text is named `{name}`");
    let help = "name one that `[[attribute]]` lists, with a key in the place of `*`";
    Diagnostic::refusal("E1023", span, message, help)
}

/// A body that does not extend to the end of the message.
pub(super) fn not_the_rest(span: Span, name: &str) -> Diagnostic {
    let message = format!("`{name}` does not extend to the end of the message");
    let help = "name the attribute of a field of the root layout that has `rest = true`";
    Diagnostic::refusal("E1024", span, message, help)
}

/// Datagrams that would continue in the next one.
pub(super) fn no_stream(span: Span) -> Diagnostic {
    let message = "a message over udp is a datagram: none goes on in the next one";
    Diagnostic::refusal("E1030", span, message, "omit `follow`")
}

/// An exchange names an attribute that does not exist.
pub(super) fn no_attribute(span: Span, name: &str) -> Diagnostic {
    let message = format!("no attribute is named `{name}`");
    let help = "name one that `[[attribute]]` lists, with a key in the place of `*`";
    Diagnostic::refusal("E1025", span, message, help)
}

/// Numbers of an attribute that is not an unsigned number.
pub(super) fn no_number(span: Span, name: &str) -> Diagnostic {
    let message = format!("no attribute of numbers from 0 on is named `{name}`");
    let help = "name one that `[[attribute]]` lists, of a field with `size` or `bits`";
    Diagnostic::refusal("E1026", span, message, help)
}

/// An exchange with only one side.
pub(super) fn half_exchange(span: Span) -> Diagnostic {
    let message = "an exchange has both `request` and `response`, or neither";
    let help =
        "without both, what goes to one of `ports` is a request, what comes from one a response";
    Diagnostic::refusal("E1027", span, message, help)
}

/// An exchange whose sides nothing identifies.
pub(super) fn no_sides(span: Span) -> Diagnostic {
    let message = "nothing shows which messages are requests: the schema has no `ports`";
    let help = "add `ports`, or `request` and `response` with the attributes that show it";
    Diagnostic::refusal("E1028", span, message, help)
}

/// A key outside the field's range.
pub(super) fn large_key(
    span: Span,
    key: &str,
    field: &str,
    numbers: &RangeInclusive<i128>,
) -> Diagnostic {
    let message = format!("`{key}` is no number that the field `{field}` can have");
    let help = format!("its numbers are {} to {}", numbers.start(), numbers.end());
    Diagnostic::refusal("E1029", span, message, help)
}

/// A signature without bytes.
pub(super) fn no_signature(span: Span) -> Diagnostic {
    let message = "nothing in this signature says with which bytes a message begins";
    let help = "add `bytes`, or a regular expression as `pattern`";
    Diagnostic::refusal("E0990", span, message, help)
}

/// A regular expression that has no automaton.
pub(super) fn no_pattern(span: Span, what: &str) -> Diagnostic {
    let message = format!("no regular expression that recognises messages: {what}");
    let help = "correct it: it has what a deterministic automaton can do, and classes of ASCII";
    Diagnostic::refusal("E0991", span, message, help)
}

/// A regular expression that may match after the start of a message.
pub(super) fn not_bound(span: Span) -> Diagnostic {
    let message = "the regular expression does not say how a message begins";
    let help = "begin it with `^`, and with bytes that not every payload has there";
    Diagnostic::refusal("E0992", span, message, help)
}

/// Responses without a body because of their request, where nothing pairs them with requests.
pub(super) fn no_requests(span: Span) -> Diagnostic {
    let message = "nothing says which request these responses answer";
    let help =
        "add an `exchange` in the order of the messages, whose requests have an attribute of bytes";
    Diagnostic::refusal("E0993", span, message, help)
}

/// Too many kinds of requests, or attributes that are too long.
pub(super) fn many_answers(span: Span) -> Diagnostic {
    let message = "there is room for three kinds of requests, each known by eight bytes";
    let help = "keep the ones whose responses are frequent";
    Diagnostic::refusal("E0994", span, message, help)
}

/// An attribute whose fields hold values of different kinds.
pub(super) fn other_kind(span: Span, path: &str, name: &str) -> Diagnostic {
    let message = format!("`{path}` holds values of another kind than the first field of `{name}`");
    let help = "the fields of an attribute are all numbers of as many bits, all bytes, or all DNS names: make two attributes";
    Diagnostic::refusal("E0969", span, message, help)
}

/// An address in a field that is not exactly as long as one.
pub(super) fn no_address(span: Span, path: &str) -> Diagnostic {
    let message = format!("`{path}` is no address");
    let help = "the field of an address is bytes, and always as many: `size = 4, type = \"bytes\"` for IPv4, `size = 16` for IPv6, or these as `min` and `max` where a length stands in front";
    Diagnostic::refusal("E0970", span, message, help)
}

/// An attribute that is not read from a field of the same name in a layout that may replace its own.
pub(super) fn uncovered(span: Span, name: &str, path: &str) -> Diagnostic {
    let message =
        format!("`{name}` is not found in `{path}`, which may stand in the place of its field");
    Diagnostic::warning("W0968", span, message).help(format!(
        "list that field too, as in `field = [\"...\", \"{path}\"]`; if it is something else, make it an attribute of its own or give it another name"
    ))
}
