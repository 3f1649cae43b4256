//! Kinds of values: the values that each allows, and its name in messages.

use crate::Keys;
use crate::table::{Raw, number};
use toml::de::DeValue;

/// A kind of value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
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
    /// [`Kind::Bytes`], or a list of them.
    ByteStrings,
    /// A whole number in a range, both ends included.
    Number(i64, i64),
    /// A string or a whole number.
    TextOrNumber,
    /// `true` or `false`.
    Flag,
    /// A list of values of this kind.
    List(&'static Kind),
    /// A table under any keys, with at least this number of values of this kind.
    Map(usize, &'static Kind),
    /// A table with these keys.
    Table(&'static Keys),
    /// A list of tables with these keys, one at least.
    Tables(&'static Keys),
}

const BYTE: Kind = Kind::Number(0, 255);

/// A value of another kind than its key requires.
pub(crate) struct Misfit<'v> {
    pub(crate) value: &'v Raw<'v>,
    /// Required kind.
    pub(crate) kind: Kind,
    /// True if even its TOML type is another.
    pub(crate) is_other_type: bool,
    /// True for a part of the key's value.
    pub(crate) is_part: bool,
}

/// Returns the parts of a value that are not of its kind, or the whole value.
pub(crate) fn misfits<'v>(value: &'v Raw<'v>, kind: Kind) -> Vec<Misfit<'v>> {
    let mut found = Vec::new();
    find(value, kind, false, &mut found);
    found
}

fn find<'v>(value: &'v Raw<'v>, kind: Kind, is_part: bool, found: &mut Vec<Misfit<'v>>) {
    let mut each = |kind, parts: &mut dyn Iterator<Item = &'v Raw<'v>>| {
        parts.for_each(|part| find(part, kind, true, found));
    };
    // `None` if the type is another one.
    let fits = match (kind, value.get_ref()) {
        (Kind::Text | Kind::Texts | Kind::Bytes, DeValue::String(_))
        | (Kind::ByteStrings | Kind::TextOrNumber, DeValue::String(_))
        | (Kind::Flag, DeValue::Boolean(_))
        | (Kind::Table(_), DeValue::Table(_)) => Some(true),
        (Kind::Name, DeValue::String(text)) => Some(is_name(text)),
        (Kind::Word(words), DeValue::String(word)) => Some(words.contains(&&**word)),
        (Kind::Number(low, high), DeValue::Integer(_)) => {
            Some(number(value).is_some_and(|number| (low..=high).contains(&number)))
        }
        (Kind::TextOrNumber, DeValue::Integer(_)) => Some(number(value).is_some()),
        (Kind::Texts, DeValue::Array(list)) => {
            each(Kind::Text, &mut list.iter());
            Some(true)
        }
        (Kind::Bytes, DeValue::Array(list)) => {
            each(BYTE, &mut list.iter());
            Some(true)
        }
        (Kind::ByteStrings, DeValue::Array(list)) => {
            let first = list.first().map(|first| first.get_ref());
            let is_one = matches!(first, Some(DeValue::Integer(_)));
            each(if is_one { BYTE } else { Kind::Bytes }, &mut list.iter());
            Some(first.is_some())
        }
        (Kind::List(of), DeValue::Array(list)) => {
            each(*of, &mut list.iter());
            Some(true)
        }
        (Kind::Tables(keys), DeValue::Array(list)) => {
            each(Kind::Table(keys), &mut list.iter());
            Some(!list.is_empty())
        }
        (Kind::Map(least, of), DeValue::Table(table)) => {
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

impl Kind {
    /// Describes one value of the kind with its article, or several.
    pub(crate) fn described(self, several: bool) -> String {
        let (one, more) = match self {
            Kind::Text => ("a string", "strings"),
            Kind::Name => (
                "a name of ASCII letters, digits, `_` and `-` that begins with a letter",
                "names of ASCII letters, digits, `_` and `-` that begin with a letter",
            ),
            Kind::Word(words) => return format!("one of {}", diag::quoted(words)),
            Kind::Texts => (
                "a string or a list of strings",
                "strings or lists of strings",
            ),
            Kind::Bytes => (
                "a string, or a list of numbers from 0 to 255",
                "strings, or lists of numbers from 0 to 255",
            ),
            Kind::ByteStrings => (
                "a string, a list of numbers from 0 to 255, or a list of at least one of those",
                "strings, lists of numbers from 0 to 255, or lists of those",
            ),
            Kind::Number(low, high) => {
                let number = if several {
                    "whole numbers"
                } else {
                    "a whole number"
                };
                return format!("{number} from {low} to {high}");
            }
            Kind::TextOrNumber => ("a string or a whole number", "strings or whole numbers"),
            Kind::Flag => ("true or false", "true or false"),
            Kind::List(of) => {
                let lists = if several { "lists" } else { "a list" };
                return format!("{lists} of {}", of.described(true));
            }
            Kind::Map(least, of) => {
                let tables = if several { "tables" } else { "a table" };
                let least = if least > 0 { ", one at least" } else { "" };
                return format!("{tables} of {}{least}", of.described(true));
            }
            Kind::Table(_) => ("a table", "tables"),
            Kind::Tables(_) => (
                "a list of at least one table",
                "lists of at least one table",
            ),
        };
        if several { more } else { one }.to_string()
    }
}
