//! TOML values as the types that a bundle wants, with a diagnostic for each that is another.

use super::At;
use super::errors;
use control::Replica;
use diag::{Diagnostics, FileId, SourceMap, Span};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where values come from, and what was wrong so far.
pub(crate) struct Reader<'a> {
    pub map: &'a SourceMap,
    pub file: FileId,
    pub errors: Diagnostics,
}

pub(crate) type Value<'t> = Spanned<DeValue<'t>>;

impl Reader<'_> {
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        self.map.span(self.file, range)
    }

    fn wrong(&mut self, key: &str, value: &Value, wanted: &str, example: &str) {
        let span = self.span(value.span());
        let found = value.get_ref().type_str();
        self.errors
            .push(errors::wrong_type(span, key, found, wanted, example));
    }

    /// Refuses the keys of a table that are not `known`. `owner` names whose they are.
    pub(crate) fn known_keys(&mut self, table: &DeTable, owner: &str, known: &[&str]) {
        let mut keys: Vec<_> = table.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        for key in keys {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let span = self.span(key.span());
                let similar = control::names::similar(known.iter().copied(), name);
                self.errors
                    .push(errors::unknown_key(span, name, owner, known, &similar));
            }
        }
    }

    /// A string.
    pub(crate) fn text(
        &mut self,
        key: &str,
        value: &Value,
        wanted: &str,
        example: &str,
    ) -> Option<At<String>> {
        match value.get_ref() {
            DeValue::String(text) => Some(At {
                value: text.to_string(),
                span: self.span(value.span()),
            }),
            _ => {
                self.wrong(key, value, wanted, example);
                None
            }
        }
    }

    /// A list of strings.
    pub(crate) fn texts(
        &mut self,
        key: &str,
        value: &Value,
        wanted: &str,
        example: &str,
    ) -> Vec<At<String>> {
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong(key, value, wanted, example);
            return Vec::new();
        };
        list.iter()
            .filter_map(|item| self.text(key, item, wanted, example))
            .collect()
    }

    /// A string, or a list of strings.
    pub(crate) fn text_or_texts(
        &mut self,
        key: &str,
        value: &Value,
        wanted: &str,
        example: &str,
    ) -> Vec<At<String>> {
        match value.get_ref() {
            DeValue::String(_) => self.text(key, value, wanted, example).into_iter().collect(),
            _ => self.texts(key, value, wanted, example),
        }
    }

    /// A table, its keys in the file's order.
    pub(crate) fn table<'t, 'v>(
        &mut self,
        key: &str,
        value: &'v Value<'t>,
        wanted: &str,
        example: &str,
    ) -> Vec<(At<String>, &'v Value<'t>)> {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong(key, value, wanted, example);
            return Vec::new();
        };
        let mut pairs: Vec<_> = table.iter().collect();
        pairs.sort_by_key(|(key, _)| key.span().start);
        pairs
            .into_iter()
            .map(|(key, value)| {
                let key = At {
                    value: key.get_ref().to_string(),
                    span: self.span(key.span()),
                };
                (key, value)
            })
            .collect()
    }

    /// A list of ports, with replication ids or without.
    pub(crate) fn replicas(
        &mut self,
        key: &str,
        value: &Value,
        wanted: &str,
        example: &str,
    ) -> Vec<At<Replica>> {
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong(key, value, wanted, example);
            return Vec::new();
        };
        let mut replicas = Vec::new();
        for item in list.iter() {
            let span = self.span(item.span());
            let at = |value| At { value, span };
            match item.get_ref() {
                DeValue::Integer(number) => {
                    let digits = number.as_str().replace('_', "");
                    match u32::from_str_radix(&digits, number.radix()) {
                        Ok(port) => replicas.push(at(Replica { port, rid: 0 })),
                        Err(_) => {
                            let text = number.as_str();
                            self.errors
                                .push(errors::bad_number(span, text, "port", "from 0 on"));
                        }
                    }
                }
                DeValue::String(text) => match text.parse() {
                    Ok(replica) => replicas.push(at(replica)),
                    Err(_) => {
                        let form = "from 0 on, or `\"PORT:RID\"` with a replication id";
                        self.errors
                            .push(errors::bad_number(span, text, "port", form));
                    }
                },
                _ => self.wrong(key, item, wanted, example),
            }
        }
        replicas
    }
}
