//! How a program goes through whole messages, as those of queries do: they read all of a message, since it may be malformed anywhere.

use crate::{Contents, Extent, Field, LayoutId, Order, Repeat, Schema};
use asic::Technique;

/// The dearest technique that reading a message of this schema to its end takes.
pub fn whole(schema: &Schema) -> Technique {
    let mut found = vec![schema.root];
    let mut technique = Technique::DirectJump;
    let mut next = 0;
    while let Some(&id) = found.get(next) {
        next += 1;
        let layout = &schema.layouts[id];
        if layout.order == Order::Any {
            technique = technique.max(Technique::SkipAhead);
        }
        for field in &layout.fields {
            technique = technique.max(of_field(field));
            let mut inside: Vec<LayoutId> = field.contents.layouts();
            if let Extent::Joined { layout, .. } = field.extent {
                inside.push(layout);
            }
            inside.retain(|layout| !found.contains(layout));
            found.extend(inside);
        }
    }
    technique
}

/// What a field takes, without what is in it.
fn of_field(field: &Field) -> Technique {
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
    fn terminators_and_syntax_are_looked_for_and_lengths_are_skipped() {
        let of = |name| {
            let schema = Builtin::named(name).and_then(|b| b.schema().ok());
            whole(&schema.expect("a built-in message"))
        };
        for name in ["http", "json", "xml", "memcached", "redis", "postgresql"] {
            assert_eq!(of(name), Technique::ByteByByte, "{name}");
        }
        for name in ["dns", "tls", "gtpu", "pfcp", "memcached-binary", "mqtt"] {
            assert_eq!(of(name), Technique::SkipAhead, "{name}");
        }
    }
}
