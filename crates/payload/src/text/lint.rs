//! Warnings about valid schemas that most likely do not mean what was intended.

use super::errors;
use crate::{Attribute, FieldId, LayoutId, Schema};
use diag::Diagnostics;
use settings::Table;

/// Warns of attributes that a message has under the same name in a layout from which they are not read.
pub(super) fn warnings(schema: &Schema, table: &Table) -> Diagnostics {
    let mut report = Diagnostics::new();
    for table in table.tables("attribute") {
        let Some(name) = table.text("name") else {
            continue;
        };
        let own = schema.attributes.iter().filter(|a| a.name == name.value);
        let mut paths: Vec<String> = own.flat_map(|a| uncovered(schema, a)).collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            report.push(errors::uncovered(name.span, &name.value, &path));
        }
    }
    report
}

/// Returns the paths of fields with the attribute's name that no attribute reads, in layouts that may replace the
/// attribute's own.
fn uncovered(schema: &Schema, attribute: &Attribute) -> Vec<String> {
    let last = attribute.name.rsplit('.').next().unwrap_or_default();
    let is_covered = |layout: LayoutId, field: FieldId| {
        let mut all = schema.attributes.iter();
        all.any(|a| (a.layout, a.field) == (layout, field))
    };
    let mut found = Vec::new();
    for sibling in siblings(schema, attribute.layout) {
        let layout = &schema.layouts[sibling];
        for (index, other) in layout.fields.iter().enumerate() {
            if other.name == last && !is_covered(sibling, index) {
                found.push(format!("{}.{}", layout.name, other.name));
            }
        }
    }
    found
}

/// Returns the layouts that a field may hold in place of this one.
fn siblings(schema: &Schema, of: LayoutId) -> impl Iterator<Item = LayoutId> {
    let fields = schema.layouts.iter().flat_map(|layout| &layout.fields);
    let choices = fields.map(|field| field.contents.layouts());
    let choices = choices.filter(move |layouts| layouts.contains(&of));
    choices.flatten().filter(move |layout| *layout != of)
}
