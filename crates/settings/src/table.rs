//! Tables and values, as the reader of a kind of file takes them.

use crate::kind::{ValueKind, misfits};
use crate::{Key, Keys};
use diag::Span;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

pub(crate) type Raw<'v> = Spanned<DeValue<'v>>;

/// A value and its location in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its location.
    pub span: Span,
}

impl<T> At<T> {
    /// Wraps a value that is in no file: its span is synthetic.
    pub fn nowhere(value: T) -> At<T> {
        At {
            value,
            span: Span::NONE,
        }
    }
}

impl At<String> {
    /// Returns the location of a part of a string, at least one byte of it. The range counts from after the opening
    /// quote. Escapes before the part shift the location by their length.
    pub fn inside(&self, range: Range<usize>) -> Span {
        let start = self.span.lo + 1;
        Span {
            lo: (start + range.start as u32).min(self.span.hi),
            hi: (start + range.end.max(range.start + 1) as u32).min(self.span.hi),
        }
    }
}

/// Returns the span of a range in the file that begins at `start`.
pub(crate) fn at(start: Span, range: Range<usize>) -> Span {
    Span {
        lo: start.lo + range.start as u32,
        hi: start.lo + range.end as u32,
    }
}

pub(crate) fn number(value: &Raw) -> Option<i64> {
    match value.get_ref() {
        DeValue::Integer(number) => {
            i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
        }
        _ => None,
    }
}

/// A table whose keys have been checked. Its methods return only values of the keys' kinds. A flag that is `false`
/// counts as absent.
#[derive(Clone, Copy)]
pub struct Table<'v> {
    /// Its location.
    pub span: Span,
    pub(crate) raw: &'v DeTable<'v>,
    /// The location of the file's first byte.
    pub(crate) start: Span,
    pub(crate) keys: &'static Keys,
}

impl<'v> Table<'v> {
    pub(crate) fn new(
        raw: &'v DeTable<'v>,
        start: Span,
        span: Span,
        keys: &'static Keys,
    ) -> Table<'v> {
        Table {
            span,
            raw,
            start,
            keys,
        }
    }

    /// Returns a table inside this one, or inside its list of tables.
    pub(crate) fn inner(&self, kind: ValueKind, value: &'v Raw<'v>) -> Option<Table<'v>> {
        match (kind, value.get_ref()) {
            (ValueKind::Table(keys) | ValueKind::Tables(keys), DeValue::Table(raw)) => {
                let span = at(self.start, value.span());
                Some(Table::new(raw, self.start, span, keys))
            }
            _ => None,
        }
    }

    fn find(&self, name: &str) -> Option<(&'static Key, &'v Raw<'v>)> {
        let value = self.raw.get(name)?;
        let is_absent = matches!(value.get_ref(), DeValue::Boolean(false));
        let key = self.keys.named(name)?;
        (!(is_absent && matches!(key.kind, ValueKind::Flag))).then_some((key, value))
    }

    /// Returns a key's value. Lists have only those parts that are of their kind.
    pub fn get(&self, name: &str) -> Option<Value<'v>> {
        let (key, raw) = self.find(name)?;
        let has_parts = match key.kind {
            ValueKind::List(_) | ValueKind::Texts | ValueKind::Tables(_) => {
                matches!(raw.get_ref(), DeValue::Array(_))
            }
            _ => false,
        };
        let start = self.start;
        (has_parts || misfits(raw, key.kind).is_empty()).then_some(Value { raw, start })
    }

    /// Returns true if a key is there, even with a wrong value.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns true if a key is there with a value of another kind.
    pub fn is_wrong(&self, name: &str) -> bool {
        self.has(name) && self.get(name).is_none()
    }

    /// Returns true if the table has unknown keys: a key that seems to be missing may be one of them, misspelt.
    pub fn has_unknown_keys(&self) -> bool {
        self.raw
            .keys()
            .any(|name| self.keys.named(name.get_ref()).is_none())
    }

    /// Returns the location of a key's value, even if that is wrong.
    pub fn span_of(&self, name: &str) -> Option<Span> {
        self.find(name)
            .map(|(_, value)| at(self.start, value.span()))
    }

    /// Returns the location of a key.
    pub fn key(&self, name: &str) -> Option<Span> {
        let (key, _) = self.raw.get_key_value(name)?;
        Some(at(self.start, key.span()))
    }

    /// Returns those of these keys that are there, with the location of their values, even of wrong ones.
    pub fn present(&self, names: &[&'static str]) -> Vec<(&'static str, Span)> {
        let present = |&name| Some((name, self.span_of(name)?));
        names.iter().filter_map(present).collect()
    }

    /// Returns a string, or a number in decimal digits.
    pub fn text(&self, name: &str) -> Option<At<String>> {
        self.get(name)?.text_or_number()
    }

    /// Returns a number; `None` if it is a string.
    pub fn number(&self, name: &str) -> Option<At<i64>> {
        let value = self.get(name)?;
        Some(At {
            value: number(value.raw)?,
            span: value.span(),
        })
    }

    /// Returns true if a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns a list of strings, or the only one.
    pub fn texts(&self, name: &str) -> Vec<At<String>> {
        let value = self.get(name);
        value.map_or_else(Vec::new, |value| value.texts())
    }

    /// Returns a list of numbers.
    pub fn numbers(&self, name: &str) -> Vec<i64> {
        let parts = self.get(name).map_or_else(Vec::new, |value| value.parts());
        parts.iter().filter_map(|part| number(part.raw)).collect()
    }

    /// Returns bytes.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.get(name)?.bytes()
    }

    /// Returns one byte string, or several.
    pub fn byte_strings(&self, name: &str) -> Option<Vec<Vec<u8>>> {
        let value = self.get(name)?;
        match value.parts().first() {
            Some(first) if number(first.raw).is_none() => {
                value.parts().iter().map(Value::bytes).collect()
            }
            _ => Some(vec![value.bytes()?]),
        }
    }

    /// Returns a table inside this one.
    pub fn table(&self, name: &str) -> Option<Table<'v>> {
        let (key, value) = self.find(name)?;
        self.inner(key.kind, value)
    }

    /// Returns the tables of a list.
    pub fn tables(&self, name: &str) -> Vec<Table<'v>> {
        let Some((key, _)) = self.find(name) else {
            return Vec::new();
        };
        let parts = self.get(name).map_or_else(Vec::new, |value| value.parts());
        let tables = parts.iter().map(|part| self.inner(key.kind, part.raw));
        tables.flatten().collect()
    }

    /// Returns the keys and values of a map, in the file's order; `None` for a value that was refused.
    pub fn map(&self, name: &str) -> Option<Vec<(At<String>, Option<Value<'v>>)>> {
        let (key, raw) = self.find(name)?;
        let (ValueKind::Map(_, of), DeValue::Table(table)) = (key.kind, raw.get_ref()) else {
            return None;
        };
        let start = self.start;
        let pair = |(name, raw): (&Spanned<DeString>, _)| {
            let name = At {
                value: name.get_ref().to_string(),
                span: at(start, name.span()),
            };
            let fits = misfits(raw, *of).is_empty();
            (name, fits.then_some(Value { raw, start }))
        };
        let mut pairs: Vec<_> = table.iter().map(pair).collect();
        pairs.sort_by_key(|(name, _)| name.span.lo);
        Some(pairs)
    }
}

/// A value, or a part of one.
#[derive(Clone, Copy)]
pub struct Value<'v> {
    raw: &'v Raw<'v>,
    start: Span,
}

impl<'v> Value<'v> {
    /// Returns its location.
    pub fn span(&self) -> Span {
        at(self.start, self.raw.span())
    }

    /// Returns a string.
    pub fn text(&self) -> Option<At<String>> {
        match self.raw.get_ref() {
            DeValue::String(text) => Some(At {
                value: text.to_string(),
                span: self.span(),
            }),
            _ => None,
        }
    }

    /// Returns a string, or a number in decimal digits.
    pub fn text_or_number(&self) -> Option<At<String>> {
        let number = || {
            Some(At {
                value: number(self.raw)?.to_string(),
                span: self.span(),
            })
        };
        self.text().or_else(number)
    }

    /// Returns a list of strings, or the only one.
    pub fn texts(&self) -> Vec<At<String>> {
        match self.text() {
            Some(only) => vec![only],
            None => self.parts().iter().filter_map(Value::text).collect(),
        }
    }

    /// Returns the parts of a list.
    pub fn parts(&self) -> Vec<Value<'v>> {
        let start = self.start;
        match self.raw.get_ref() {
            DeValue::Array(list) => list.iter().map(|raw| Value { raw, start }).collect(),
            _ => Vec::new(),
        }
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match self.text() {
            Some(text) => Some(text.value.into_bytes()),
            None => {
                let byte = |part: &Value| u8::try_from(number(part.raw)?).ok();
                self.parts().iter().map(byte).collect()
            }
        }
    }
}
