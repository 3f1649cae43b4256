//! TOML tables that have only the keys they may have, with values of the right kind.

use super::{At, errors, similar};
use crate::keys::{KeySpec, Kind, Spec};
use diag::{Diagnostics, FileId, SourceMap, Span};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where values come from, and what was wrong so far.
pub(super) struct Source<'a> {
    pub(super) map: &'a SourceMap,
    pub(super) file: FileId,
    pub(super) errors: Diagnostics,
}

type Value<'t> = Spanned<DeValue<'t>>;

/// A table whose keys have been checked. A flag that is `false` is absent.
pub(super) struct Table<'v> {
    /// Where it begins.
    pub(super) span: Span,
    /// Whether it has keys that are not known: what seems to be missing may be one of them, misspelt.
    pub(super) has_unknown_keys: bool,
    /// Each key that is there: its value, and where that stands. `None` is a value of another kind, which has been reported.
    values: Vec<(&'static str, Option<&'v Value<'v>>, Span)>,
}

impl Source<'_> {
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        self.map.span(self.file, range)
    }

    /// The span of a part of a string value, counted without its quotes. Escapes in front of it move it by their length.
    pub(super) fn inside(&self, string: Span, range: Range<usize>) -> Span {
        let start = string.lo + 1;
        Span {
            lo: (start + range.start as u32).min(string.hi),
            hi: (start + range.end.max(range.start + 1) as u32).min(string.hi),
        }
    }

    /// A table of a kind; unknown and missing keys and values of a wrong kind are reported.
    pub(super) fn check<'v>(
        &mut self,
        table: &'v DeTable<'v>,
        span: Span,
        spec: &'static Spec,
    ) -> Table<'v> {
        let mut values = Vec::new();
        let mut has_unknown_keys = false;
        let mut pairs: Vec<_> = table.iter().collect();
        pairs.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in pairs {
            let name: &str = key.get_ref();
            let at = self.span(key.span());
            match spec.keys.iter().find(|known| known.name == name) {
                None => {
                    has_unknown_keys = true;
                    let known: Vec<&str> = spec.keys.iter().map(|key| key.name).collect();
                    let near = similar(known.iter().copied(), name);
                    self.errors
                        .push(errors::unknown_key(at, name, spec.name, &known, near));
                }
                Some(known) => match self.wrong(value, known.kind) {
                    None if matches!(value.get_ref(), DeValue::Boolean(false)) => {}
                    None => values.push((known.name, Some(value), self.span(value.span()))),
                    Some(span) => {
                        values.push((known.name, None, self.span(value.span())));
                        self.errors.push(errors::wrong_kind(span, known));
                    }
                },
            }
        }
        let required = spec.keys.iter().filter(|key| key.required);
        for key in required.filter(|_| !has_unknown_keys) {
            if table.get(key.name).is_none() {
                self.errors.push(errors::missing_key(span, spec.name, key));
            }
        }
        Table {
            span,
            has_unknown_keys,
            values,
        }
    }

    /// Where a value is not of this kind; `None` if it is.
    fn wrong(&self, value: &Value, kind: Kind) -> Option<Span> {
        let here = || Some(self.span(value.span()));
        let all = |list: &[Value], kind| list.iter().find_map(|item| self.wrong(item, kind));
        match (kind, value.get_ref()) {
            (Kind::Name, DeValue::String(text)) if is_name(text) => None,
            (Kind::Text | Kind::Bytes | Kind::ByteStrings, DeValue::String(_))
            | (Kind::Sum | Kind::TextOrNumber, DeValue::String(_))
            | (Kind::Flag, DeValue::Boolean(_))
            | (Kind::Table(_), DeValue::Table(_)) => None,
            (Kind::Word(words), DeValue::String(word)) if words.contains(&&**word) => None,
            (Kind::Number(low, high), DeValue::Integer(_)) => {
                let number = number(value).filter(|n| (low..=high).contains(n));
                number.map_or_else(here, |_| None)
            }
            (Kind::Sum | Kind::TextOrNumber, DeValue::Integer(_)) => {
                number(value).map_or_else(here, |_| None)
            }
            (Kind::Numbers(low, high), DeValue::Array(list)) => all(list, Kind::Number(low, high)),
            (Kind::Bytes, DeValue::Array(list)) => all(list, Kind::Number(0, 255)),
            (Kind::ByteStrings, DeValue::Array(list)) => match list.first().map(|v| v.get_ref()) {
                None => here(),
                Some(DeValue::Integer(_)) => all(list, Kind::Number(0, 255)),
                Some(_) => all(list, Kind::Bytes),
            },
            (Kind::Tables(_), DeValue::Array(list)) if !list.is_empty() => list
                .iter()
                .find(|item| !matches!(item.get_ref(), DeValue::Table(_)))
                .map(|item| self.span(item.span())),
            (Kind::Cases, DeValue::Table(table)) if !table.is_empty() => table
                .values()
                .find_map(|value| self.wrong(value, Kind::Text)),
            _ => here(),
        }
    }
}

/// Whether sums, paths and queries can name something so.
fn is_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(inside)
}

fn number(value: &Value) -> Option<i64> {
    match value.get_ref() {
        DeValue::Integer(number) => {
            i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
        }
        _ => None,
    }
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.as_bytes().to_vec()),
        DeValue::Array(list) => list
            .iter()
            .map(|item| number(item).map(|n| n as u8))
            .collect(),
        _ => None,
    }
}

impl<'v> Table<'v> {
    fn get(&self, key: &str) -> Option<(&'v Value<'v>, Span)> {
        let found = self.values.iter().find(|(name, _, _)| *name == key);
        found.and_then(|&(_, value, span)| Some((value?, span)))
    }

    /// Whether the key is there, be its value right or wrong.
    pub(super) fn has(&self, key: &str) -> bool {
        self.span_of(key).is_some()
    }

    /// Whether the key is there with a value of another kind.
    pub(super) fn is_wrong(&self, key: &str) -> bool {
        self.has(key) && self.get(key).is_none()
    }

    /// Where a key's value stands, be it right or wrong.
    pub(super) fn span_of(&self, key: &str) -> Option<Span> {
        let found = self.values.iter().find(|(name, _, _)| *name == key);
        found.map(|&(_, _, span)| span)
    }

    /// The text of a string, or of a number.
    pub(super) fn text(&self, key: &str) -> Option<At<String>> {
        let (value, span) = self.get(key)?;
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            _ => number(value)?.to_string(),
        };
        Some(At { value: text, span })
    }

    /// A number; `None` if it is a string.
    pub(super) fn number(&self, key: &str) -> Option<At<i64>> {
        let (value, span) = self.get(key)?;
        number(value).map(|value| At { value, span })
    }

    pub(super) fn numbers(&self, key: &str) -> Vec<i64> {
        match self.get(key).map(|(value, _)| value.get_ref()) {
            Some(DeValue::Array(list)) => list.iter().filter_map(number).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a flag is set; one that is absent is not.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.get(key)
            .is_some_and(|(value, _)| matches!(value.get_ref(), DeValue::Boolean(true)))
    }

    pub(super) fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        bytes(self.get(key)?.0)
    }

    /// One byte string, or several.
    pub(super) fn byte_strings(&self, key: &str) -> Option<Vec<Vec<u8>>> {
        let (value, _) = self.get(key)?;
        match value.get_ref() {
            DeValue::Array(list) if number(list.first()?).is_none() => {
                list.iter().map(bytes).collect()
            }
            _ => bytes(value).map(|one| vec![one]),
        }
    }

    pub(super) fn table(
        &self,
        source: &mut Source,
        key: &str,
        spec: &'static Spec,
    ) -> Option<Table<'v>> {
        let (value, span) = self.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(source.check(table, span, spec)),
            _ => None,
        }
    }

    pub(super) fn tables(
        &self,
        source: &mut Source,
        key: &str,
        spec: &'static Spec,
    ) -> Vec<Table<'v>> {
        let Some(DeValue::Array(list)) = self.get(key).map(|(value, _)| value.get_ref()) else {
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in list.iter() {
            if let DeValue::Table(table) = item.get_ref() {
                let span = source.span(item.span());
                tables.push(source.check(table, span, spec));
            }
        }
        tables
    }

    /// The cases in the file's order: each key, and the name that it leads to.
    pub(super) fn cases(
        &self,
        source: &Source,
        key: &str,
    ) -> Option<Vec<(At<String>, At<String>)>> {
        let DeValue::Table(table) = self.get(key)?.0.get_ref() else {
            return None;
        };
        let mut pairs: Vec<_> = table.iter().collect();
        pairs.sort_by_key(|(key, _)| key.span().start);
        let case = |(key, value): (&Spanned<_>, &Value)| match value.get_ref() {
            DeValue::String(name) => Some((
                At {
                    value: AsRef::<str>::as_ref(key.get_ref()).to_string(),
                    span: source.span(key.span()),
                },
                At {
                    value: name.to_string(),
                    span: source.span(value.span()),
                },
            )),
            _ => None,
        };
        let cases = pairs.into_iter().filter_map(|(k, v)| case((k, v)));
        Some(cases.collect())
    }

    /// Those of these keys that are there, be their values right or wrong, with their location.
    pub(super) fn present(&self, keys: &[&'static str]) -> Vec<(&'static str, Span)> {
        let known = keys.iter();
        known
            .filter_map(|&key| Some((key, self.span_of(key)?)))
            .collect()
    }
}

/// What a kind of value is called, with its article.
pub(super) fn described(key: &KeySpec) -> String {
    match key.kind {
        Kind::Text => "a string".to_string(),
        Kind::Name => {
            "a name of ASCII letters, digits, `_` and `-` that begins with a letter".to_string()
        }
        Kind::Word(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            format!("one of {}", words.join(", "))
        }
        Kind::Bytes => "a string, or a list of numbers from 0 to 255".to_string(),
        Kind::ByteStrings => {
            "a string, a list of numbers from 0 to 255, or a list of at least one of those"
                .to_string()
        }
        Kind::Number(low, high) => format!("a whole number from {low} to {high}"),
        Kind::Numbers(low, high) => format!("a list of whole numbers from {low} to {high}"),
        Kind::Flag => "true or false".to_string(),
        Kind::Table(_) => "a table".to_string(),
        Kind::Tables(_) => "a list of at least one table".to_string(),
        Kind::Cases => "a table from values, at least one, to names of layouts".to_string(),
        Kind::Sum => "a sum of earlier fields and numbers".to_string(),
        Kind::TextOrNumber => "a string or a whole number".to_string(),
    }
}
