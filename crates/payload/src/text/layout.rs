//! Layouts, and the names that fields and attributes refer to.

use super::{contents, errors, field};
use crate::{Contents, Extent, FieldId, Key, LayoutId, MessageField, MessageLayout, Order};
use diag::{Diagnostics, Span};
use settings::{At, Table};

/// Checked tables of a layout.
pub(super) struct Parts<'v> {
    table: Table<'v>,
    fields: Vec<Table<'v>>,
}

/// Collects the tables of all layouts.
pub(super) fn parts<'v>(message: &Table<'v>) -> Vec<Parts<'v>> {
    let tables = message.tables("layout");
    let with_fields = |table: Table<'v>| Parts {
        fields: table.tables("field"),
        table,
    };
    tables.into_iter().map(with_fields).collect()
}

/// Properties of a field that are known before it is read.
pub(super) struct NamedField {
    pub(super) name: At<String>,
    /// True if expressions may use it as a number.
    pub(super) is_number: bool,
}

/// Properties of a layout that are known before its fields are read.
pub(super) struct NamedLayout {
    pub(super) name: At<String>,
    pub(super) fields: Vec<NamedField>,
    /// Chains that the layout is an instance of. Their fields have a value before the instance is read.
    chains: Vec<String>,
}

/// All names of a schema.
pub(super) struct Names {
    pub(super) layouts: Vec<NamedLayout>,
}

impl Names {
    pub(super) fn collect(report: &mut Diagnostics, parts: &[Parts]) -> Names {
        let named = |table: &Table| {
            table.text("name").unwrap_or(At {
                value: String::new(),
                span: table.span,
            })
        };
        let mut layouts: Vec<NamedLayout> = parts
            .iter()
            .map(|part| NamedLayout {
                name: named(&part.table),
                fields: part
                    .fields
                    .iter()
                    .map(|field| NamedField {
                        name: named(field),
                        is_number: field::is_number(field),
                    })
                    .collect(),
                chains: Vec::new(),
            })
            .collect();
        for field in parts.iter().flat_map(|part| &part.fields) {
            if let (Some(chain), Some(item)) = (field.text("chain"), field.text("layout")) {
                let item = layouts.iter_mut().find(|l| l.name.value == item.value);
                if let Some(item) = item {
                    item.chains.push(chain.value);
                }
            }
        }
        twice(report, "layout", layouts.iter().map(|layout| &layout.name));
        for layout in &layouts {
            twice(
                report,
                "field",
                layout.fields.iter().map(|field| &field.name),
            );
        }
        Names { layouts }
    }

    /// Resolves a layout's name; reports an unknown one.
    pub(super) fn layout(&self, report: &mut Diagnostics, name: &At<String>) -> Option<LayoutId> {
        let known = self.layouts.iter().map(|layout| &layout.name);
        position(report, "layout", known, &name.value, name.span)
    }

    /// Resolves a field's name in a layout; reports an unknown one.
    pub(super) fn field(
        &self,
        report: &mut Diagnostics,
        layout: LayoutId,
        name: &str,
        span: Span,
    ) -> Option<FieldId> {
        let layout = &self.layouts[layout];
        let what = format!("field of `{}`", layout.name.value);
        let known = layout.fields.iter().map(|field| &field.name);
        position(report, &what, known, name, span)
    }

    /// Resolves a reference in the field of this index: to an earlier field, or to one that a chain has set.
    pub(super) fn earlier(&self, layout: LayoutId, field: FieldId, name: &str) -> Option<FieldId> {
        let layout = &self.layouts[layout];
        let found = layout.fields.iter().position(|f| f.name.value == name)?;
        (found < field || layout.chains.iter().any(|chain| chain == name)).then_some(found)
    }

    /// Reports that no earlier field has this name.
    pub(super) fn no_earlier(
        &self,
        report: &mut Diagnostics,
        layout: LayoutId,
        field: FieldId,
        name: &str,
        span: Span,
    ) {
        let all = || self.layouts[layout].fields.iter();
        let fields = all().take(field);
        let known: Vec<&str> = fields.map(|f| f.name.value.as_str()).collect();
        let refused = if all().any(|f| f.name.value == name) {
            errors::later_field(span, name, &known)
        } else {
            errors::unknown_name(span, "earlier field", name, &known)
        };
        report.push(refused);
    }
}

/// Returns the index of a name; reports an unknown one.
fn position<'n>(
    report: &mut Diagnostics,
    what: &str,
    known: impl Iterator<Item = &'n At<String>>,
    name: &str,
    span: Span,
) -> Option<usize> {
    let known: Vec<&str> = known.map(|known| known.value.as_str()).collect();
    let found = known.iter().position(|known| *known == name);
    if found.is_none() {
        report.push(errors::unknown_name(span, what, name, &known));
    }
    found
}

/// Reports duplicate names.
pub(super) fn twice<'n>(
    report: &mut Diagnostics,
    what: &str,
    names: impl Iterator<Item = &'n At<String>>,
) {
    let mut seen: Vec<&At<String>> = Vec::new();
    for name in names {
        match seen.iter().find(|first| first.value == name.value) {
            Some(first) => {
                report.push(errors::name_twice(name.span, what, &name.value, first.span));
            }
            None => seen.push(name),
        }
    }
}

/// Layout, without the fields that have errors. Their entries are empty, so the others keep their indices.
pub(super) struct ReadLayout {
    order: Order,
    whole: bool,
    pub(super) key: Option<Key>,
    /// True if it names a key, even an invalid one.
    pub(super) names_key: bool,
    pub(super) fields: Vec<Option<MessageField>>,
}

impl ReadLayout {
    /// Returns the layout of a schema without errors.
    pub(super) fn whole(self, named: &NamedLayout) -> MessageLayout {
        MessageLayout {
            name: named.name.value.clone(),
            order: self.order,
            key: self.key,
            whole: self.whole,
            fields: self.fields.into_iter().flatten().collect(),
        }
    }
}

/// Reads all layouts.
pub(super) fn all(report: &mut Diagnostics, parts: &[Parts], names: &Names) -> Vec<ReadLayout> {
    (0..parts.len())
        .map(|id| one(report, &parts[id], names, id))
        .collect()
}

fn one(report: &mut Diagnostics, part: &Parts, names: &Names, id: LayoutId) -> ReadLayout {
    let order = match part.table.text("order") {
        Some(order) if order.value == "any" => Order::Any,
        _ => Order::Fixed,
    };
    let key = part.table.text("key").and_then(|key| {
        Some(Key {
            field: names.field(report, id, &key.value, key.span)?,
            ignore_case: part.table.flag("ignore_case"),
        })
    });
    if let (Some(span), None) = (part.table.span_of("ignore_case"), part.table.span_of("key")) {
        report.push(errors::only_with(span, "ignore_case", "`key`"));
    }
    let fields: Vec<Option<MessageField>> = part
        .fields
        .iter()
        .enumerate()
        .map(|(index, table)| field::read(report, names, (id, index), table))
        .collect();
    let named = &names.layouts[id];
    for (index, field) in fields.iter().enumerate() {
        let Some(field) = field else { continue };
        let untagged = field.tag.is_empty() && !part.fields[index].is_wrong("tag");
        if order == Order::Any && untagged {
            let span = named.fields[index].name.span;
            report.push(errors::no_tag(span, &field.name));
        }
        if let Contents::Select(by, _) = field.contents
            && named.fields[by].is_number
            && let Some(by) = &fields[by]
        {
            contents::cases_fit(report, &part.fields[index], by);
        }
    }
    whole_bytes(report, &fields, named);
    ReadLayout {
        order,
        whole: part.table.flag("whole"),
        key,
        names_key: part.table.has("key"),
        fields,
    }
}

/// Reports consecutive fields of bits that do not end at the end of a byte.
fn whole_bytes(report: &mut Diagnostics, fields: &[Option<MessageField>], named: &NamedLayout) {
    let bits_of = |field: &MessageField| match field.extent {
        Extent::Bits(bits) => bits,
        _ => 0,
    };
    // Number of bits in the row so far; `None` if a field with an error may belong to it.
    let mut row = Some(0);
    for (index, field) in fields.iter().enumerate() {
        row = match (row, field.as_ref().map(bits_of)) {
            (_, Some(0)) => Some(0),
            (Some(bits), Some(more)) => Some(bits + more),
            _ => None,
        };
        let goes_on = match fields.get(index + 1) {
            Some(Some(next)) => bits_of(next) > 0,
            Some(None) => true,
            None => false,
        };
        if let (Some(bits), false) = (row, goes_on)
            && bits % 8 != 0
        {
            report.push(errors::broken_byte(named.fields[index].name.span, bits));
        }
    }
}
