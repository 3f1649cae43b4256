//! What can be wrong with a schema. One function a diagnostic.

use super::table::described;
use crate::NoSet;
use crate::keys::KeySpec;
use diag::{Code, Diagnostic, Span};
use std::ops::RangeInclusive;

fn refuse(
    code: &'static str,
    span: Span,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    Diagnostic::error(Code(code), span, message).help(help)
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The text is no TOML. `marked` is the text at `span`.
pub(super) fn syntax(span: Span, what: &str, marked: &str) -> Diagnostic {
    if what == "duplicate key" {
        let message = format!("`{marked}` is given twice");
        return refuse("E1001", span, message, "remove one of them");
    }
    let help = "a schema has lines such as `name = \"dns\"`, and `[[layout]]` in front of each layout; see https://toml.io";
    refuse("E1001", span, format!("this is not TOML: {what}"), help)
}

/// A key that means nothing here.
pub(super) fn unknown_key(
    span: Span,
    key: &str,
    owner: &str,
    known: &[&str],
    near: Option<&str>,
) -> Diagnostic {
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it may have {}", listed(known)),
    };
    refuse(
        "E1002",
        span,
        format!("unknown key `{key}` in {owner}"),
        help,
    )
}

/// A value of another kind than the key's, or out of its range.
pub(super) fn wrong_kind(span: Span, key: &KeySpec) -> Diagnostic {
    let message = format!("`{}` is {}", key.name, described(key));
    refuse(
        "E1003",
        span,
        message,
        format!("write it like `{}`", key.example),
    )
}

/// A key that must be there is not.
pub(super) fn missing_key(span: Span, owner: &str, key: &KeySpec) -> Diagnostic {
    let message = format!("{owner} needs the key `{}`", key.name);
    refuse("E1004", span, message, format!("add `{}`", key.example))
}

/// A name of nothing.
pub(super) fn unknown_name(
    span: Span,
    what: &str,
    name: &str,
    known: &[&str],
    near: Option<&str>,
) -> Diagnostic {
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there is none".to_string(),
        None => format!("there is {}", listed(known)),
    };
    refuse("E1005", span, format!("no {what} is named `{name}`"), help)
}

/// A field that stands behind the one that refers to it, or is that one.
pub(super) fn later_field(span: Span, name: &str, earlier: &[&str]) -> Diagnostic {
    let message = format!("the field `{name}` does not stand in front of this one");
    let help = match earlier {
        [] => {
            "a parser knows only what it has passed: put the field in front of this one".to_string()
        }
        earlier => format!(
            "a parser knows only what it has passed: put the field in front of this one, or name one that stands there: {}",
            listed(earlier)
        ),
    };
    refuse("E1005", span, message, help)
}

/// Two of a kind with one name.
pub(super) fn name_twice(span: Span, what: &str, name: &str, first: Span) -> Diagnostic {
    let message = format!("two {what}s are named `{name}`");
    refuse("E1006", span, message, "give one of them another name").also(first, "the first")
}

/// Two keys of which a table may have one.
pub(super) fn exclusive(span: Span, first: (&str, Span), second: &str, about: &str) -> Diagnostic {
    let message = format!("`{}` and `{second}` both give {about}", first.0);
    refuse("E1007", span, message, "remove one of them").also(first.1, "the other")
}

/// A key without the one that it belongs to.
pub(super) fn only_with(span: Span, key: &str, with: &str) -> Diagnostic {
    let message = format!("`{key}` has no meaning without {with}");
    refuse(
        "E1008",
        span,
        message,
        format!("add {with}, or remove `{key}`"),
    )
}

/// A field of which nothing says where it ends.
pub(super) fn no_extent(span: Span, name: &str) -> Diagnostic {
    let message = format!("nothing gives the end of the field `{name}`");
    let help = "add `size`, `bits`, `length`, `until`, `rest`, `join`, `form`, `layout`, `select` or `starts`; a field that is only a constant has a `tag`";
    refuse("E1009", span, message, help)
}

/// How a sum is written.
pub(super) const SUMS: &str = "sums have numbers, fields of this layout that stand earlier, and products of both, such as `4 * words - 2`";

/// How a condition is written.
pub(super) const CONDITIONS: &str = "a condition compares a sum of earlier fields with a number, such as `type == 7` or `flags + options != 0`";

/// A sum or a condition that cannot be read. `form` tells how one is written.
pub(super) fn expression(span: Span, expected: &str, form: &str) -> Diagnostic {
    refuse("E1010", span, format!("expected {expected}"), form)
}

/// A field that is used as a number, and is none.
pub(super) fn not_a_number(span: Span, name: &str) -> Diagnostic {
    let message = format!("the field `{name}` is no number");
    let help = "numbers have `bits`, a `size` of at most 8, the form `varint` or the type `decimal`, and stand once";
    refuse("E1011", span, message, help)
}

/// Bits that end within a byte.
pub(super) fn broken_byte(span: Span, bits: u32) -> Diagnostic {
    let message = format!("{bits} bits in a row make no whole bytes");
    let help = format!(
        "add a field of {} bits, named `spare` if it means nothing",
        8 - bits % 8
    );
    refuse("E1012", span, message, help)
}

/// A field that cannot be a number.
pub(super) fn too_wide(span: Span, key: &str) -> Diagnostic {
    let message = format!("`{key}` is for numbers of at most 8 bytes with a constant `size`");
    refuse(
        "E1013",
        span,
        message,
        format!("remove `{key}`, or give the field such a `size`"),
    )
}

/// A field in a layout of any order by which it cannot be recognised.
pub(super) fn no_tag(span: Span, name: &str) -> Diagnostic {
    let message = format!("the field `{name}` has no tag, and its layout has no order");
    let help = "give it a `tag`, or its layout `order = \"fixed\"`";
    refuse("E1014", span, message, help)
}

/// An attribute's key, in a layout that has none.
pub(super) fn no_key(span: Span, layout: &str) -> Diagnostic {
    let message = format!("the layout `{layout}` has no key");
    refuse(
        "E1015",
        span,
        message,
        "name the field that distinguishes its instances by `key = \"FIELD\"` in the layout",
    )
}

/// The key stands behind what it is to select.
pub(super) fn key_is_later(span: Span, key: &str, field: &str) -> Diagnostic {
    let message = format!("the key `{key}` does not stand in front of the field `{field}`");
    refuse(
        "E1016",
        span,
        message,
        "a parser knows only what it has passed: choose a field behind the key",
    )
}

/// A member of something that has none.
pub(super) fn no_members(span: Span, field: &str) -> Diagnostic {
    let message = format!("the field `{field}` has no members");
    refuse(
        "E1017",
        span,
        message,
        "members are in fields of the form `json` or `xml`",
    )
}

/// `*` in one place and not in the other.
pub(super) fn wildcard(span: Span, name: &str) -> Diagnostic {
    let message =
        format!("the name `{name}` and what it stands for must both end in `*`, or neither");
    refuse(
        "E1018",
        span,
        message,
        "an attribute of many names is written like `name = \"header.*\"` with `key = \"*\"`",
    )
}

/// A reference that is not `LAYOUT.FIELD`.
pub(super) fn not_a_path(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{text}` names no field");
    refuse(
        "E1019",
        span,
        message,
        "write it as LAYOUT.FIELD, such as `header.value`",
    )
}

/// A chain whose layout does not go on with it.
pub(super) fn broken_chain(span: Span, name: &str) -> Diagnostic {
    let message =
        format!("the layout of this chain has no number `{name}`, so nothing says what comes next");
    refuse(
        "E1020",
        span,
        message,
        format!("add the field `{name}` to that layout"),
    )
}

/// Characters that make no set.
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
    refuse("E1021", span, message, help)
}

/// A case that the field cannot have.
pub(super) fn bad_case(span: Span, case: &str) -> Diagnostic {
    let message = format!("`{case}` is no number, but the field is one");
    refuse("E1022", span, message, "write it like `16` or `0x10`")
}

/// The next message is found by an attribute that is no text.
pub(super) fn not_bytes(span: Span, name: &str, is_decimal: bool) -> Diagnostic {
    let message = format!("`{name}` is a number, and here stands an attribute of bytes or text");
    let help = if is_decimal {
        "remove `type = \"decimal\"` from its field: the digits are read as a length all the same"
    } else {
        "a length is read from decimal digits: name an attribute of a field that holds such"
    };
    refuse("E1023", span, message, help)
}

/// The next message is found by an attribute that is none.
pub(super) fn no_bytes(span: Span, name: &str) -> Diagnostic {
    let message = format!("no attribute of bytes or text is named `{name}`");
    let help = "name one that `[[attribute]]` lists, with a key in the place of `*`";
    refuse("E1023", span, message, help)
}

/// What the next message follows is not at the end.
pub(super) fn not_the_rest(span: Span, name: &str) -> Diagnostic {
    let message = format!("`{name}` does not extend to the end of the message");
    let help = "name the attribute of a field of the root layout that has `rest = true`";
    refuse("E1024", span, message, help)
}

/// Messages that go on in the next datagram.
pub(super) fn no_stream(span: Span) -> Diagnostic {
    let message = "a message over udp is a datagram: none goes on in the next one";
    refuse("E1030", span, message, "omit `follow`")
}

/// An exchange names an attribute that does not exist.
pub(super) fn no_attribute(span: Span, name: &str) -> Diagnostic {
    let message = format!("no attribute is named `{name}`");
    let help = "name one that `[[attribute]]` lists, with a key in the place of `*`";
    refuse("E1025", span, message, help)
}

/// Numbers are asked of an attribute that is none.
pub(super) fn no_number(span: Span, name: &str) -> Diagnostic {
    let message = format!("no attribute of numbers from 0 on is named `{name}`");
    let help = "name one that `[[attribute]]` lists, of a field with `size` or `bits`";
    refuse("E1026", span, message, help)
}

/// An exchange with only one side.
pub(super) fn half_exchange(span: Span) -> Diagnostic {
    let message = "an exchange has both `request` and `response`, or neither";
    let help =
        "without both, what goes to one of `ports` is a request, what comes from one a response";
    refuse("E1027", span, message, help)
}

/// An exchange whose sides nothing shows.
pub(super) fn no_sides(span: Span) -> Diagnostic {
    let message = "nothing shows which messages are requests: the schema has no `ports`";
    let help = "add `ports`, or `request` and `response` with the attributes that show it";
    refuse("E1028", span, message, help)
}

/// A key that the field has no room for.
pub(super) fn large_key(
    span: Span,
    key: &str,
    field: &str,
    numbers: &RangeInclusive<i128>,
) -> Diagnostic {
    let message = format!("`{key}` is no number that the field `{field}` can have");
    let help = format!("its numbers are {} to {}", numbers.start(), numbers.end());
    refuse("E1029", span, message, help)
}
