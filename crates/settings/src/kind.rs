//! Kinds of values: the values that each allows, and its name in messages.

use crate::Keys;
use crate::table::{Raw, number};
use toml::de::DeValue;

/// A kind of value.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// A string.
    Text,
    /// A string of ASCII letters, digits, `_` and `-` that begins with a letter.
    Name,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// A string, or a list of strings.
    Texts,
    /// A string, or a list of numbers from 0 to 255.
    Bytes,
    /// [`ValueKind::Bytes`], or a list of them.
    ByteStrings,
    /// A whole number in a range, both ends included.
    Number(i64, i64),
    /// A string or a whole number.
    TextOrNumber,
    /// `true` or `false`.
    Flag,
    /// A list of values of this kind.
    List(&'static ValueKind),
    /// A table under any keys, with at least this number of values of this kind.
    Map(usize, &'static ValueKind),
    /// A table with these keys.
    Table(&'static Keys),
    /// A list of tables with these keys, one at least.
    Tables(&'static Keys),
}

const BYTE: ValueKind = ValueKind::Number(0, 255);

/// A value of another kind than its key requires.
pub(crate) struct Misfit<'v> {
    pub(crate) value: &'v Raw<'v>,
    /// Required kind.
    pub(crate) kind: ValueKind,
    /// True if even its TOML type is another.
    pub(crate) is_other_type: bool,
    /// True for a part of the key's value.
    pub(crate) is_part: bool,
}

/// Returns the parts of a value that are not of its kind, or the whole value.
pub(crate) fn misfits<'v>(value: &'v Raw<'v>, kind: ValueKind) -> Vec<Misfit<'v>> {
    let mut found = Vec::new();
    find(value, kind, false, &mut found);
    found
}

fn find<'v>(value: &'v Raw<'v>, kind: ValueKind, is_part: bool, found: &mut Vec<Misfit<'v>>) {
    let mut each = |kind, parts: &mut dyn Iterator<Item = &'v Raw<'v>>| {
        parts.for_each(|part| find(part, kind, true, found));
    };
    // `None` if the type is another one.
    let fits = match (kind, value.get_ref()) {
        (ValueKind::Text | ValueKind::Texts | ValueKind::Bytes, DeValue::String(_))
        | (ValueKind::ByteStrings | ValueKind::TextOrNumber, DeValue::String(_))
        | (ValueKind::Flag, DeValue::Boolean(_))
        | (ValueKind::Table(_), DeValue::Table(_)) => Some(true),
        (ValueKind::Name, DeValue::String(text)) => Some(is_name(text)),
        (ValueKind::Word(words), DeValue::String(word)) => Some(words.contains(&&**word)),
        (ValueKind::Number(low, high), DeValue::Integer(_)) => {
            Some(number(value).is_some_and(|number| (low..=high).contains(&number)))
        }
        (ValueKind::TextOrNumber, DeValue::Integer(_)) => Some(number(value).is_some()),
        (ValueKind::Texts, DeValue::Array(list)) => {
            each(ValueKind::Text, &mut list.iter());
            Some(true)
        }
        (ValueKind::Bytes, DeValue::Array(list)) => {
            each(BYTE, &mut list.iter());
            Some(true)
        }
        (ValueKind::ByteStrings, DeValue::Array(list)) => {
            let first = list.first().map(|first| first.get_ref());
            let is_one = matches!(first, Some(DeValue::Integer(_)));
            each(
                if is_one { BYTE } else { ValueKind::Bytes },
                &mut list.iter(),
            );
            Some(first.is_some())
        }
        (ValueKind::List(of), DeValue::Array(list)) => {
            each(*of, &mut list.iter());
            Some(true)
        }
        (ValueKind::Tables(keys), DeValue::Array(list)) => {
            each(ValueKind::Table(keys), &mut list.iter());
            Some(!list.is_empty())
        }
        (ValueKind::Map(least, of), DeValue::Table(table)) => {
            each(*of, &mut table.values());
            Some(table.len() >= least)
        }
        _ => None,
    };
    if fits != Some(true) {
        found.push(Misfit {
            value,
            kind,
            is_other_type: fits.is_none(),
            is_part,
        });
    }
}

/// Returns true for a string by which expressions, paths and queries can name something.
fn is_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(inside)
}

impl ValueKind {
    /// Describes one value of the kind with its article, or several.
    pub(crate) fn described(self, several: bool) -> String {
        let (one, more) = match self {
            ValueKind::Text => ("a string", "strings"),
            ValueKind::Name => (
                "a name of ASCII letters, digits, `_` and `-` that begins with a letter",
                "names of ASCII letters, digits, `_` and `-` that begin with a letter",
            ),
            ValueKind::Word(words) => return format!("one of {}", diag::quoted(words)),
            ValueKind::Texts => (
                "a string or a list of strings",
                "strings or lists of strings",
            ),
            ValueKind::Bytes => (
                "a string, or a list of numbers from 0 to 255",
                "strings, or lists of numbers from 0 to 255",
            ),
            ValueKind::ByteStrings => (
                "a string, a list of numbers from 0 to 255, or a list of at least one of those",
                "strings, lists of numbers from 0 to 255, or lists of those",
            ),
            ValueKind::Number(low, high) => {
                let number = if several {
                    "whole numbers"
                } else {
                    "a whole number"
                };
                return format!("{number} from {low} to {high}");
            }
            ValueKind::TextOrNumber => ("a string or a whole number", "strings or whole numbers"),
            ValueKind::Flag => ("true or false", "true or false"),
            ValueKind::List(of) => {
                let lists = if several { "lists" } else { "a list" };
                return format!("{lists} of {}", of.described(true));
            }
            ValueKind::Map(least, of) => {
                let tables = if several { "tables" } else { "a table" };
                let least = if least > 0 { ", one at least" } else { "" };
                return format!("{tables} of {}{least}", of.described(true));
            }
            ValueKind::Table(_) => ("a table", "tables"),
            ValueKind::Tables(_) => (
                "a list of at least one table",
                "lists of at least one table",
            ),
        };
        if several { more } else { one }.to_string()
    }
}
