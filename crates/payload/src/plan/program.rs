//! Cost of a program that reads messages for some attributes, as queries do.

use crate::{Contents, Extent, LayoutId, MessageField, Order, Repeat, Schema};
use asic::Technique;

/// Technique and extent by which a program reads messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// Most expensive technique that it takes.
    pub technique: Technique,
    /// True if it reads to the end of each message.
    pub is_whole: bool,
}

/// Derives how a program reads messages of this schema for these attributes. Unless another message may follow, it
/// stops at the last field of the root that holds one of them.
pub fn passage(schema: &Schema, names: &[&str]) -> Passage {
    let fields = &schema.layouts[schema.root].fields;
    let asked = names.iter().filter_map(|name| schema.asked(name).ok());
    let sites: Vec<_> = asked.flat_map(|asked| asked.sites).collect();
    let has_one = |id: &usize| {
        let within = within(schema, &fields[*id]);
        let mut sites = sites.iter();
        sites.any(|s| (s.layout, s.field) == (schema.root, *id) || within.contains(&s.layout))
    };
    let last = (0..fields.len()).rev().find(has_one);
    let last = last.filter(|_| schema.next.is_none());
    let count = last.map_or(fields.len(), |last| last + 1);
    let read = fields.iter().take(count);
    let inside = read.clone().flat_map(|field| within(schema, field));
    let in_any_order = schema.layouts[schema.root].order == Order::Any;
    let techniques = read
        .map(of_field)
        .chain(inside.map(|layout| of_layout(schema, layout)))
        .chain(in_any_order.then_some(Technique::SkipAhead));
    Passage {
        technique: techniques.max().unwrap_or(Technique::DirectJump),
        is_whole: count == fields.len(),
    }
}

/// Returns the layouts in a field, transitively.
fn within(schema: &Schema, field: &MessageField) -> Vec<LayoutId> {
    let mut found = inside(field);
    let mut next = 0;
    while let Some(&layout) = found.get(next) {
        next += 1;
        for layout in schema.layouts[layout].fields.iter().flat_map(inside) {
            if !found.contains(&layout) {
                found.push(layout);
            }
        }
    }
    found
}

/// Returns the layouts that a field may hold, or that it is joined of.
fn inside(field: &MessageField) -> Vec<LayoutId> {
    let mut found = field.contents.layouts();
    if let Extent::Joined { layout, .. } = field.extent {
        found.push(layout);
    }
    found
}

/// Returns the technique that a layout takes, apart from its fields' contents.
fn of_layout(schema: &Schema, layout: LayoutId) -> Technique {
    let layout = &schema.layouts[layout];
    let fields = layout.fields.iter().map(of_field);
    let in_any_order = (layout.order == Order::Any).then_some(Technique::SkipAhead);
    let dearest = fields.chain(in_any_order).max();
    dearest.unwrap_or(Technique::DirectJump)
}

/// Returns the technique that a field takes, apart from its contents.
fn of_field(field: &MessageField) -> Technique {
    let is_syntax = matches!(field.contents, Contents::Json | Contents::Xml);
    let is_checked = field.chars.is_some() && !matches!(field.extent, Extent::Size(_));
    if is_syntax || is_checked || matches!(field.extent, Extent::Until { .. }) {
        return Technique::ByteByByte;
    }
    let is_fixed = match field.extent {
        Extent::Size(_) | Extent::Bits(_) | Extent::Rest => true,
        Extent::Contents => field.contents.layouts().len() <= 1,
        _ => false,
    };
    match is_fixed && field.when.is_none() && field.repeat == Repeat::Once {
        true => Technique::DirectJump,
        false => Technique::SkipAhead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::Builtin;

    #[test]
    fn a_program_goes_no_further_than_it_must() {
        let of = |message, names: &[&str]| {
            let schema = Builtin::named(message).and_then(|b| b.schema().ok());
            let passage = passage(&schema.expect("a built-in message"), names);
            (passage.technique, passage.is_whole)
        };
        for (message, names, expected) in [
            ("dns", &["id"][..], (Technique::DirectJump, false)),
            ("dns", &["rcode", "id"], (Technique::DirectJump, false)),
            ("dns", &["id", "qname"], (Technique::SkipAhead, false)),
            ("gtpu", &["teid"], (Technique::DirectJump, false)),
            ("gtpu", &["qfi"], (Technique::SkipAhead, true)),
            ("tls", &["sni"], (Technique::SkipAhead, true)),
            ("json", &["user.id"], (Technique::ByteByByte, true)),
            // Another message may follow.
            ("http", &["method"], (Technique::ByteByByte, true)),
            ("redis", &[], (Technique::ByteByByte, true)),
        ] {
            assert_eq!(of(message, names), expected, "{message} {names:?}");
        }
    }
}
