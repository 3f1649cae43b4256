//! Flows by name: `STATE FIELD:VALUE ...`, the fields of the key by name or in order.

use crate::entry::find;
use crate::errors;
use crate::names::resolve;
use crate::piece::Piece;
use crate::values::{parse_value, show_value};
use diag::Diagnostic;
use ir::{Bits, ExternData, ExternInst, Program, Type};

/// A part of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// What it is known by.
    Key,
    /// What is kept for it.
    Value,
}

/// The flow states of a program, with their names.
pub fn states(program: &Program) -> impl Iterator<Item = (ExternInst, &str)> {
    let all = program.externs.iter();
    all.filter(|(_, data)| data.ty == ir::atomic::FLOW_STATE)
        .map(|(id, data)| (id, data.name.as_str()))
}

/// Finds a flow state by name.
pub fn find_state(program: &Program, name: Piece) -> Result<ExternInst, Box<Diagnostic>> {
    find(states(program), name, "flow_state")
}

/// The names and types of a part's scalars; a part that is no struct is called `key` or `value`.
pub fn fields(state: &ExternData, part: Part) -> impl Iterator<Item = (&str, Type)> {
    let (number, own_name) = match part {
        Part::Key => (0, "key"),
        Part::Value => (1, "value"),
    };
    let types = state.type_args.get(number).map_or(&[][..], Vec::as_slice);
    let names = state.type_arg_names.get(number);
    types.iter().enumerate().map(move |(i, &ty)| {
        let name = names.and_then(|names| names.get(i));
        (name.map_or(own_name, |name| name.as_str()), ty)
    })
}

/// Parses `STATE FIELD:VALUE ...`: the state and a key. Fields that are not named go in order.
pub fn parse_flow(
    program: &Program,
    text: Piece,
) -> Result<(ExternInst, Vec<Bits>), Box<Diagnostic>> {
    let (name, rest) = text.first_word();
    let state = find_state(program, name)?;
    let data = &program.externs[state];
    let (names, types): (Vec<&str>, Vec<Type>) = fields(data, Part::Key).unzip();
    let words = rest.words();
    let mut found: Vec<Option<Bits>> = vec![None; names.len()];
    let mut by_position = 0;
    for &word in &words {
        // What stands before a colon may be the first part of an address instead.
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
        let parsed = parse_value(program, types[index], value.text);
        *slot = Some(parsed.map_err(|e| errors::bad_value(value.span(), names[index], e))?);
    }
    let key = found.into_iter().zip(&names).map(|(found, name)| {
        found.ok_or_else(|| errors::key_missing(rest.span(), &data.name, name))
    });
    Ok((state, key.collect::<Result<_, _>>()?))
}

/// A part of a flow as people read it: `name:value` each. Numbers of a value are decimal, since they count.
pub fn show_fields(program: &Program, state: &ExternData, part: Part, values: &[Bits]) -> String {
    let shown = fields(state, part).zip(values).map(|((name, ty), value)| {
        let counts = part == Part::Value && is_number(ty) && value.width() <= 64;
        match value.to_u64() {
            Some(number) if counts && value.width() != 48 => format!("{name}:{number}"),
            _ => format!("{name}:{}", show_value(program, ty, name, value)),
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Whether a type is that of unsigned numbers.
pub fn is_number(ty: Type) -> bool {
    matches!(ty, Type::Bits { signed: false, .. })
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

    fn program() -> Program {
        ir::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e}"))
    }

    fn parse(text: &str) -> Result<Vec<Bits>, String> {
        let parsed = parse_flow(&program(), Piece::new(text, 0));
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
    fn what_is_wrong_is_told() {
        for (text, told) in [
            ("flow 1 2 3", "flow_state"),
            ("other 1", "flow_state"),
            ("flows 1 2", "inner.kind"),
            ("flows 1 2 3 4", "4 values"),
            ("flows src:1 src:2 3", "twice"),
            ("flows 1 2 300", "inner.kind"),
        ] {
            let message = parse(text).expect_err(text);
            assert!(message.contains(told), "{text}: {message}");
        }
    }

    #[test]
    fn values_count_and_keys_are_addresses() {
        let program = program();
        let (_, data) = program.externs.iter().next().expect("a state");
        let key = parse("flows 10.0.0.1 2001:db8::1 6").expect("a key");
        assert_eq!(
            show_fields(&program, data, Part::Key, &key),
            "src:10.0.0.1 dst:2001:db8::1 inner.kind:6"
        );
        let value = [
            Bits::new(64, 1u64 << 20),
            Bits::from_bool(true),
            Bits::new(48, 1u32),
        ];
        assert_eq!(
            show_fields(&program, data, Part::Value, &value),
            "packets:1048576 seen:true last:00:00:00:00:00:01"
        );
    }
}
