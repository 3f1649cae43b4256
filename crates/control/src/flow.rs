//! Flows by name: `STATE FIELD:VALUE ...`, the fields of the key by name or in order.

use crate::Flow;
use crate::entry::find;
use crate::errors;
use crate::json::json_value;
use crate::names::resolve;
use crate::piece::Piece;
use crate::values::{has_form, parse_match, parse_value, show_value};
use diag::Diagnostic;
use schema::{
    Bits, Field, KeyMatch, KeySchema, MatchKind, Object, ObjectKind, ObjectSchema, Schema, Type,
};
use serde_json::{Value, json};

/// A part of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowPart {
    /// The key.
    Key,
    /// The value.
    Value,
}

/// Returns the flow states of a program, with their names.
pub fn states(schema: &Schema) -> impl Iterator<Item = (Object, &str)> {
    let all = schema.flow_states();
    all.map(|(id, object)| (id, object.name.as_str()))
}

/// Finds a flow state by name.
pub fn find_state(schema: &Schema, name: Piece) -> Result<Object, Box<Diagnostic>> {
    find(states(schema), name, "flow_state")
}

/// Returns the scalars of a part of a state's flows, or of the key of an object's groups; none if the object has
/// neither.
pub fn fields(state: &ObjectSchema, part: FlowPart) -> &[Field] {
    match (&state.kind, part) {
        (ObjectKind::FlowState { key, .. } | ObjectKind::Metrics { key, .. }, FlowPart::Key) => key,
        (ObjectKind::FlowState { value, .. }, FlowPart::Value) => value,
        _ => &[],
    }
}

/// Parses `STATE FIELD:VALUE ...`. Returns the state and a key. Values without a name are for the fields in order.
pub fn parse_flow(schema: &Schema, text: Piece) -> Result<(Object, Vec<Bits>), Box<Diagnostic>> {
    let (name, rest) = text.first_word();
    let state = find_state(schema, name)?;
    Ok((state, parse_key(schema, &schema.objects[state], rest)?))
}

/// Parses `FIELD:VALUE ...`: a key of a state, or of an object with metrics. Values without a name are for the fields
/// in order.
pub(crate) fn parse_key(
    schema: &Schema,
    data: &ObjectSchema,
    text: Piece,
) -> Result<Vec<Bits>, Box<Diagnostic>> {
    let fields = fields(data, FlowPart::Key);
    let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
    let words = text.words();
    let mut found: Vec<Option<Bits>> = vec![None; names.len()];
    let mut by_position = 0;
    for &word in &words {
        // The text before a colon may be the first part of an address instead of a name.
        let named = word.split_named().and_then(|(name, value)| {
            let index = resolve(names.iter().copied(), name.trim().text).ok()?;
            Some((index, value.trim()))
        });
        let (index, value) = named.unwrap_or_else(|| {
            by_position += 1;
            (by_position - 1, word)
        });
        let count = || errors::key_count(word.span(), &data.name, &names, words.len());
        let slot = found.get_mut(index).ok_or_else(count)?;
        if slot.is_some() {
            return Err(errors::given_twice(word.span(), names[index]));
        }
        let parsed = parse_value(schema, fields[index].ty, value.text);
        *slot = Some(parsed.map_err(|e| errors::bad_value(value.span(), names[index], e))?);
    }
    let key = found.into_iter().zip(&names).map(|(found, name)| {
        found.ok_or_else(|| errors::key_missing(text.span(), &data.name, name))
    });
    key.collect()
}

/// Filter for flows: matches for some fields of their key.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Filter {
    wanted: Vec<(usize, KeyMatch)>,
    signed: Vec<bool>,
}

impl Filter {
    /// Parses `FIELD:MATCH ...`: fields of the key, each with a value, a prefix, a mask or a range.
    pub fn parse(schema: &Schema, state: Object, text: Piece) -> Result<Filter, Box<Diagnostic>> {
        let data = &schema.objects[state];
        let fields = fields(data, FlowPart::Key);
        let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
        let is_signed = |f: &Field| matches!(f.ty, Type::Bits { signed: true, .. });
        let mut filter = Filter {
            wanted: Vec::new(),
            signed: fields.iter().map(is_signed).collect(),
        };
        for word in text.words() {
            let Some((name, value)) = word.split_named() else {
                return Err(errors::malformed(
                    word.span(),
                    "a filter needs the name of a field of the key",
                    "FIELD:VALUE, FIELD:VALUE/PREFIX or FIELD:LOW..HIGH",
                ));
            };
            let (name, value) = (name.trim(), value.trim());
            let index = resolve(names.iter().copied(), name.text)
                .map_err(|e| errors::bad_name(name.span(), "field", name.text, &names, e))?;
            let is_range = value.text.contains("..") || value.text.contains("->");
            let key = KeySchema {
                field: fields[index].clone(),
                kind: if is_range {
                    MatchKind::Range
                } else {
                    MatchKind::Ternary
                },
            };
            let wanted = parse_match(schema, &key, value.text)
                .map_err(|e| errors::bad_value(value.span(), names[index], e))?;
            filter.wanted.push((index, wanted));
        }
        Ok(filter)
    }

    /// Returns true if a flow matches the filter.
    pub fn matches(&self, flow: &Flow) -> bool {
        self.wanted.iter().all(|(index, wanted)| {
            let Some(value) = flow.key.get(*index) else {
                return false;
            };
            wanted.matches(value, self.signed[*index])
        })
    }
}

/// Formats a part of a flow for people: `name:value` for each scalar.
pub fn show_fields(
    schema: &Schema,
    state: &ObjectSchema,
    part: FlowPart,
    values: &[Bits],
) -> String {
    let shown = fields(state, part)
        .iter()
        .zip(values)
        .map(|(field, value)| {
            let value = show_field(schema, field, part, value);
            format!("{}:{value}", field.name)
        });
    shown.collect::<Vec<_>>().join(" ")
}

/// Formats a field of a flow for people. Numbers of a value are decimal, since most are counts, unless their
/// declaration gives a format.
fn show_field(schema: &Schema, field: &Field, part: FlowPart, value: &Bits) -> String {
    let number = match field.ty {
        Type::Bits {
            width,
            signed: false,
        } if width != 48 && part == FlowPart::Value && !has_form(field) => value.to_u64(),
        _ => None,
    };
    number.map_or_else(|| show_value(schema, field, value), |n| n.to_string())
}

/// Returns a flow's field as JSON: a number if [`show_fields`] shows a number.
pub fn json_field(schema: &Schema, field: &Field, part: FlowPart, value: &Bits) -> Value {
    match field.ty {
        Type::Bits { signed: false, .. } => {
            let text = show_field(schema, field, part, value);
            text.parse::<u64>().map_or(json!(text), |n| json!(n))
        }
        _ => json_value(schema, field, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "program xdp reject stop
errors NoError
labels 0
extern c.flows: flow_state {
    type (bit<32> src, bit<128> dst, bit<8> inner.kind);
    type (bit<64> packets, bool seen, bit<48> last);
    arg size = 8;
}
extern c.counts: flow_state {
    type (bit<16>);
    type (bit<32>);
}
extern c.other: CounterArray {
}
";

    fn schema() -> Schema {
        Schema::of(&ir::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e}")))
    }

    fn parse(text: &str) -> Result<Vec<Bits>, String> {
        let parsed = parse_flow(&schema(), Piece::new(text, 0));
        parsed.map(|(_, key)| key).map_err(|d| d.message)
    }

    #[test]
    fn fields_go_by_name_or_in_order() {
        let key = [
            Bits::new(32, 0x0a00_0001u32),
            Bits::new(128, 0x2001_0db8_u128 << 96 | 1),
            Bits::new(8, 6u32),
        ];
        let all = [
            "flows 10.0.0.1 2001:db8::1 6",
            "c.flows kind:6 dst:2001:db8::1 src:10.0.0.1",
            "flows inner.kind=6 10.0.0.1 2001:db8::1",
        ];
        for text in all {
            assert_eq!(parse(text).as_deref(), Ok(&key[..]), "{text}");
        }
        assert_eq!(parse("counts key:7"), Ok(vec![Bits::new(16, 7u32)]));
    }

    #[test]
    fn errors_are_reported() {
        for (text, expected) in [
            ("flow 1 2 3", "flow_state"),
            ("other 1", "flow_state"),
            ("flows 1 2", "inner.kind"),
            ("flows 1 2 3 4", "4 values"),
            ("flows src:1 src:2 3", "twice"),
            ("flows 1 2 300", "inner.kind"),
        ] {
            let message = parse(text).expect_err(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn values_count_and_keys_are_addresses() {
        let schema = schema();
        let (_, data) = schema.flow_states().next().expect("a state");
        let key = parse("flows 10.0.0.1 2001:db8::1 6").expect("a key");
        assert_eq!(
            show_fields(&schema, data, FlowPart::Key, &key),
            "src:10.0.0.1 dst:2001:db8::1 inner.kind:6"
        );
        let value = [
            Bits::new(64, 1u64 << 20),
            Bits::from_bool(true),
            Bits::new(48, 1u32),
        ];
        assert_eq!(
            show_fields(&schema, data, FlowPart::Value, &value),
            "packets:1048576 seen:true last:00:00:00:00:00:01"
        );
    }

    #[test]
    fn what_a_declaration_says_goes_before_counting() {
        let text = "program xdp reject stop
errors NoError
extern c.nat: flow_state {
    type (bit<32> inside);
    type (bit<32> outside type ip_t @format(\"IPV4_ADDRESS\"), bit<32> ip_id, int<8> delta);
}
";
        let schema = Schema::of(&ir::text::parse(text).unwrap_or_else(|e| panic!("{e}")));
        let (_, data) = schema.flow_states().next().expect("a state");
        let value = [1u32, 2].map(|n| Bits::new(32, n));
        let value: Vec<Bits> = value.into_iter().chain([Bits::new(8, 255u32)]).collect();
        let shown = show_fields(&schema, data, FlowPart::Value, &value);
        assert_eq!(shown, "outside:0.0.0.1 ip_id:2 delta:-1");
        let fields = fields(data, FlowPart::Value).iter().zip(&value);
        let json: Vec<Value> = fields
            .map(|(field, value)| json_field(&schema, field, FlowPart::Value, value))
            .collect();
        assert_eq!(json, [json!("0.0.0.1"), json!(2), json!(-1)]);
    }
}
