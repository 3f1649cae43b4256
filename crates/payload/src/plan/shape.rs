//! Position of an attribute in its message, and the technique that finds it.

use super::Question;
use crate::{
    Attribute, CaseKey, Contents, Extent, LayoutId, Limits, MessageField, Order, Repeat, Schema,
    Which,
};
use asic::{PUBLISHED_VALUE_BYTES, Payload, Technique};

/// Work on each byte of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scan {
    /// A search for a constant.
    Search,
    /// An automaton that follows the message's syntax.
    Automaton,
}

/// Position of an attribute: what precedes it, and the technique that finds it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttributePosition {
    /// The cheapest technique that finds it.
    pub technique: Technique,
    /// Reason why no cheaper technique will do.
    pub why: String,
    /// Offset in bytes, if it is the same in every message.
    pub offset: Option<u32>,
    /// Number of fields of varying size up to and including this one, if they are in a fixed order; otherwise their
    /// number is not known.
    pub ordered: Option<u32>,
    /// Number of bytes that are compared at it.
    pub value_bytes: u32,
    /// Work on each byte.
    pub scan: Scan,
}

impl AttributePosition {
    /// Returns the payload that a parser must cope with.
    pub(super) fn payload(&self, limits: &Limits, question: Question) -> Payload {
        let bytes = question.bytes.unwrap_or(limits.bytes);
        let attributes = question.attributes.unwrap_or(limits.attributes);
        match (self.technique, self.offset) {
            (Technique::DirectJump, Some(offset)) => {
                Payload::of_bytes(offset + self.value_bytes, self.value_bytes)
            }
            (Technique::SkipAhead, _) => {
                let attributes = self.ordered.unwrap_or(attributes);
                Payload {
                    bytes,
                    attributes,
                    order: match self.ordered {
                        Some(_) => asic::Order::Fixed,
                        None => asic::Order::Any,
                    },
                    attribute_bytes: bytes.div_ceil(attributes),
                }
            }
            _ => Payload::of_bytes(bytes, self.value_bytes),
        }
    }
}

/// Derives the shape of an attribute; `one` replaces its `*`. `None` if no layout leads to it.
pub(super) fn of(
    schema: &Schema,
    attribute: &Attribute,
    one: Option<&str>,
) -> Option<AttributePosition> {
    let search = Search { schema, attribute };
    let start = Position {
        technique: Technique::DirectJump,
        why: String::new(),
        offset: Some(0),
        bits: 0,
        passed: 0,
        is_free: false,
    };
    let found = search.layout(schema.root, start, &mut Vec::new())?;
    let field = &schema.layouts[attribute.layout].fields[attribute.field];
    let key = match (&attribute.which, one) {
        (Which::Key(CaseKey::Bytes(key)), _) => Some(key.len()),
        (Which::AnyKey, Some(key)) => Some(key.len()),
        _ => None,
    };
    let value_bytes = match (&field.extent, key) {
        (Extent::Size(size), None) => (*size).max(1) as u32,
        (Extent::Bits(bits), None) => bits.div_ceil(8),
        (_, Some(key)) => key.max(1) as u32,
        _ => PUBLISHED_VALUE_BYTES,
    };
    let is_syntax = matches!(field.contents, Contents::Json | Contents::Xml);
    let why = match found.technique {
        Technique::DirectJump => "everything in front of it has a constant size".to_string(),
        _ => found.why,
    };
    Some(AttributePosition {
        technique: found.technique,
        why,
        offset: found.offset,
        ordered: (!found.is_free).then_some(found.passed + 1),
        value_bytes,
        scan: if is_syntax || key.is_none() {
            Scan::Automaton
        } else {
            Scan::Search
        },
    })
}

/// Knowledge about an offset: the technique that finds it, and the reason for that technique.
#[derive(Clone)]
struct Position {
    technique: Technique,
    why: String,
    offset: Option<u32>,
    /// Bits already passed of the byte at the offset.
    bits: u32,
    /// Number of fields of varying size that have been passed.
    passed: u32,
    /// True if any number of fields may have been passed, or fields in any order.
    is_free: bool,
}

impl Position {
    /// Requires at least this technique. The first reason is kept.
    fn at_least(&mut self, technique: Technique, why: impl FnOnce() -> String) {
        if technique > self.technique {
            self.technique = technique;
            self.why = why();
        }
        self.offset = None;
        self.passed += 1;
    }

    /// Records that any number of fields may have been passed, or fields in any order. Of the reasons for skipping
    /// ahead, this one counts.
    fn free(&mut self, why: impl FnOnce() -> String) {
        if self.technique == Technique::SkipAhead && !self.is_free {
            self.technique = Technique::DirectJump;
        }
        self.at_least(Technique::SkipAhead, why);
        self.is_free = true;
    }

    fn moved(&mut self, bytes: usize) {
        self.offset = self
            .offset
            .map(|offset| offset.saturating_add(bytes as u32));
    }

    fn moved_bits(&mut self, width: u32) {
        self.bits += width;
        self.moved((self.bits / 8) as usize);
        self.bits %= 8;
    }
}

/// Search for the path from the root to an attribute's field.
struct Search<'s> {
    schema: &'s Schema,
    attribute: &'s Attribute,
}

impl Search<'_> {
    /// Returns the position of the attribute if the layout or one nested in it holds it; `open` are the enclosing
    /// layouts.
    fn layout(&self, id: LayoutId, mut at: Position, open: &mut Vec<LayoutId>) -> Option<Position> {
        if open.contains(&id) {
            return None;
        }
        let layout = &self.schema.layouts[id];
        if layout.order == Order::Any {
            let free = || format!("the fields of `{}` stand in any order", layout.name);
            at.free(free);
            for field in &layout.fields {
                self.pass(field, &mut at, open);
            }
        }
        for (index, field) in layout.fields.iter().enumerate() {
            if (id, index) == (self.attribute.layout, self.attribute.field) {
                if matches!(field.contents, Contents::Json | Contents::Xml) {
                    let syntax = || format!("members of `{}` are found by its syntax", field.name);
                    at.at_least(Technique::ByteByByte, syntax);
                }
                at.moved(field.tag.len());
                self.repeats(field, &mut at, open);
                return Some(at);
            }
            open.push(id);
            let mut inside = at.clone();
            inside.moved(field.tag.len());
            self.repeats(field, &mut inside, open);
            if matches!(field.extent, Extent::Joined { .. }) {
                let joined = || format!("`{}` may be in several parts", field.name);
                inside.at_least(Technique::SkipAhead, joined);
            }
            let found = field
                .contents
                .layouts()
                .into_iter()
                .find_map(|layout| self.layout(layout, inside.clone(), open));
            open.pop();
            if found.is_some() {
                return found;
            }
            if layout.order == Order::Fixed {
                self.pass(field, &mut at, open);
            }
        }
        None
    }

    /// Returns true if the attribute is in the layout, or nested in it without a repetition between.
    fn leads_once(&self, layout: LayoutId, open: &[LayoutId]) -> bool {
        let once = |field: &&MessageField| matches!(field.repeat, Repeat::Once | Repeat::Optional);
        layout == self.attribute.layout
            || !open.contains(&layout) && {
                let open = [open, &[layout]].concat();
                let fields = self.schema.layouts[layout].fields.iter().filter(once);
                fields
                    .flat_map(|field| field.contents.layouts())
                    .any(|layout| self.leads_once(layout, &open))
            }
    }

    /// Accounts for other instances of a repeated field, which may precede the one that is looked for.
    fn repeats(&self, field: &MessageField, at: &mut Position, open: &mut Vec<LayoutId>) {
        let is_first = matches!(self.attribute.which, Which::Index(0))
            && field
                .contents
                .layouts()
                .into_iter()
                .any(|layout| self.leads_once(layout, open));
        if matches!(field.repeat, Repeat::Once | Repeat::Optional) || is_first {
            return;
        }
        let many = || format!("others of `{}` may stand in front of it", field.name);
        at.free(many);
        self.instance(field, at, open);
    }

    /// Passes over a field.
    fn pass(&self, field: &MessageField, at: &mut Position, open: &mut Vec<LayoutId>) {
        let name = &field.name;
        if field.when.is_some() || field.repeat == Repeat::Optional {
            let absent = || format!("`{name}` is not in every message");
            at.at_least(Technique::SkipAhead, absent);
        }
        if !matches!(field.repeat, Repeat::Once | Repeat::Optional) {
            at.free(|| format!("`{name}` stands any number of times"));
        }
        self.instance(field, at, open);
    }

    fn instance(&self, field: &MessageField, at: &mut Position, open: &mut Vec<LayoutId>) {
        at.moved(field.tag.len());
        let name = &field.name;
        match &field.extent {
            Extent::Bits(width) => at.moved_bits(*width),
            Extent::Size(size) => at.moved(*size),
            Extent::Length(_) => at.at_least(Technique::SkipAhead, || {
                format!("`{name}` has a length of its own")
            }),
            Extent::Varint | Extent::DnsName => at.at_least(Technique::SkipAhead, || {
                format!("`{name}` is as long as its own bytes say")
            }),
            Extent::Joined { .. } => at.at_least(Technique::SkipAhead, || {
                format!("`{name}` may be in several parts")
            }),
            Extent::Until { .. } | Extent::Rest => at.at_least(Technique::ByteByByte, || {
                format!("only its terminator gives the end of `{name}`")
            }),
            Extent::Contents => {
                let layouts = field.contents.layouts();
                if layouts.len() > 1 {
                    let varies = || format!("`{name}` has several forms");
                    at.at_least(Technique::SkipAhead, varies);
                }
                for layout in layouts
                    .into_iter()
                    .filter(|layout| !open.contains(layout))
                    .collect::<Vec<_>>()
                {
                    open.push(layout);
                    for field in &self.schema.layouts[layout].fields {
                        self.pass(field, at, open);
                    }
                    open.pop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::Builtin;
    use crate::plan::find;

    fn shape(message: &str, name: &str) -> AttributePosition {
        let schema = Builtin::named(message).unwrap().schema().unwrap();
        let (attribute, one) = find(&schema, name).unwrap();
        of(&schema, attribute, one.as_deref()).unwrap()
    }

    #[test]
    fn constant_sizes_in_front_make_a_direct_jump() {
        let offsets = [
            ("http", "method", 0),
            ("http", "status", 9),
            ("dns", "id", 0),
            ("dns", "rcode", 3),
            ("dns", "qname", 12),
            ("gtpu", "teid", 4),
            ("gtpu", "sequence", 8),
            ("pfcp", "seid", 4),
            ("mqtt", "type", 0),
            ("memcached-binary", "opcode", 1),
        ];
        for (message, name, offset) in offsets {
            let shape = shape(message, name);
            assert_eq!(shape.technique, Technique::DirectJump, "{message} {name}");
            assert_eq!(shape.offset, Some(offset), "{message} {name}");
        }
    }

    #[test]
    fn lengths_and_repetitions_make_skip_ahead() {
        for (message, name) in [
            ("tls", "sni"),
            ("pfcp", "node_id"),
            ("dns", "qtype"),
            ("mqtt", "client_id"),
        ] {
            let shape = shape(message, name);
            assert_eq!(
                (shape.technique, shape.offset),
                (Technique::SkipAhead, None),
                "{name}"
            );
        }
        assert_eq!(
            shape("dns", "qtype").why,
            "`name` is as long as its own bytes say"
        );
        assert_eq!(shape("tls", "sni").ordered, None);
        assert_eq!(
            shape("tls", "sni").why,
            "others of `extension` may stand in front of it"
        );
        assert_eq!(shape("memcached-binary", "key").ordered, Some(2));
        assert_eq!(shape("mqtt", "client_id").ordered, Some(6));
        assert_eq!(
            shape("memcached-binary", "key").why,
            "`extras` has a length of its own"
        );
    }

    #[test]
    fn terminators_and_syntax_make_byte_by_byte() {
        let host = shape("http", "host");
        assert_eq!(
            (host.technique, host.scan, host.value_bytes),
            (Technique::ByteByByte, Scan::Search, 4)
        );
        assert_eq!(host.why, "only its terminator gives the end of `method`");
        let member = shape("json", "user.id");
        assert_eq!(
            (member.technique, member.scan),
            (Technique::ByteByByte, Scan::Automaton)
        );
        assert_eq!(member.why, "members of `value` are found by its syntax");
        assert_eq!(shape("redis", "key").technique, Technique::ByteByByte);
    }

    #[test]
    fn an_attribute_of_many_is_asked_for_by_its_own_name() {
        assert_eq!(shape("http", "header.accept").value_bytes, 6);
    }
}
