//! A file's text, and its check against a form.

use crate::kind::{ValueKind, misfits};
use crate::table::{Raw, Table, at};
use crate::{FileFormat, Keys, errors};
use diag::{Diagnostics, FileId, SourceMap, Span, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// Most errors that are reported. Each is shown with its lines, which takes time.
const MOST_ERRORS: usize = 200;

/// A file's text as TOML.
pub struct Document<'m> {
    map: &'m SourceMap,
    /// Location of the file's first byte.
    start: Span,
    root: Spanned<DeTable<'m>>,
    /// First syntax error of the text. Later ones mostly follow from it.
    no_toml: Option<Error>,
}

impl<'m> Document<'m> {
    /// Parses the text, as far as it can be parsed.
    pub fn parse(map: &'m SourceMap, file: FileId) -> Document<'m> {
        let (root, wrong) = DeTable::parse_recoverable(&map.file(file).text);
        let first = |error: &Error| error.span().map(|at| at.start);
        Document {
            map,
            start: map.span(file, 0..0),
            root,
            no_toml: wrong.into_iter().min_by_key(first),
        }
    }

    /// Returns the location of a key at the top.
    pub fn key(&self, name: &str) -> Option<Span> {
        let (key, _) = self.root.get_ref().get_key_value(name)?;
        Some(at(self.start, key.span()))
    }

    /// Checks the text against a form, and makes a value of it with `read`. `read` returns `None` if too little of the
    /// file is right.
    ///
    /// # Errors
    ///
    /// Everything that violates the form, and the errors that `read` adds, in the file's order.
    pub fn read<T>(
        &self,
        form: &FileFormat,
        read: impl FnOnce(&Table<'_>, &mut Diagnostics) -> Option<T>,
    ) -> Result<T, Diagnostics> {
        let mut wrong = Diagnostics::new();
        if let Some(error) = &self.no_toml {
            let span = at(self.start, error.span().unwrap_or(0..0));
            let marked = self.map.text(span);
            wrong.push(errors::syntax(form, span, error.message(), marked));
            return Err(wrong);
        }
        let table = Table::new(self.root.get_ref(), self.start, self.start, form.keys);
        check(form, &table, &mut wrong);
        match read(&table, &mut wrong) {
            Some(made) if !wrong.has_errors() => Ok(made),
            _ => Err(in_order(&wrong)),
        }
    }
}

/// Reports unknown keys, values of another kind and missing keys, in this table and in its inner tables.
fn check(form: &FileFormat, table: &Table<'_>, wrong: &mut Diagnostics) {
    let Keys { of, all } = table.keys;
    let mut misspelt = Vec::new();
    for (name, value) in table.raw {
        let Some(key) = table.keys.named(name.get_ref()) else {
            let span = at(table.start, name.span());
            wrong.push(errors::unknown_key(form, span, name.get_ref(), table.keys));
            misspelt.extend(nearest(name.get_ref(), table.keys.names().into_iter()));
            continue;
        };
        for misfit in misfits(value, key.kind) {
            let span = at(table.start, misfit.value.span());
            wrong.push(errors::wrong_kind(form, span, key, &misfit));
        }
        let inner: &[Raw] = match (key.kind, value.get_ref()) {
            (ValueKind::Table(_), _) => std::slice::from_ref(value),
            (ValueKind::Tables(_), DeValue::Array(list)) => list,
            _ => &[],
        };
        let inner = inner
            .iter()
            .filter_map(|value| table.inner(key.kind, value));
        inner.for_each(|table| check(form, &table, wrong));
    }
    let missing = all
        .iter()
        .filter(|key| key.is_required && !table.raw.contains_key(key.name));
    for key in missing.filter(|key| !misspelt.contains(&key.name)) {
        wrong.push(errors::missing_key(form, table.span, of, key));
    }
}

/// Sorts errors by location. Keeps [`MOST_ERRORS`] of them, and notes that there are more.
fn in_order(all: &Diagnostics) -> Diagnostics {
    let mut all: Vec<_> = all.iter().collect();
    all.sort_by_key(|error| error.primary.span.lo);
    let mut first = Diagnostics::new();
    for error in all.iter().take(MOST_ERRORS) {
        first.push((*error).clone());
    }
    if let Some(next) = all.get(MOST_ERRORS) {
        first.push(errors::too_many(next.primary.span, MOST_ERRORS));
    }
    first
}
