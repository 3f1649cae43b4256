//! Inputs that reach corner cases of a program: mutated packets of its STF tests, and entries with keys that packets
//! look up.

use crate::entries::Filled;
use control::stf::{StatementKind, parse};
use control::values::parse_value;
use diag::SourceMap;
use interp::trace::TraceKind;
use interp::{Interpreter, Options};
use ir::{Bits, KeyMatch, MatchKind, Program, Table, Type};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use schema::Schema;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Tables by name, each with the values of the keys of one look-up, as text.
type Seen = Vec<(String, Vec<String>)>;

/// Length of the shortest packet that the kernel takes in a test run, in bytes.
const SHORTEST: usize = 14;
/// Greatest number of changes to a packet.
const MOST_CHANGES: usize = 3;
/// Greatest number of bytes that one change adds.
const MOST_ADDED: usize = 39;

/// Returns packets of STF scripts, most of them mutated: bits flipped, bytes replaced, truncated, lengthened. None is
/// longer than `longest` bytes.
pub fn packets_from_scripts(
    scripts: &[PathBuf],
    count: usize,
    longest: usize,
    random: &mut ChaCha8Rng,
) -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    let longest = longest - MOST_CHANGES * MOST_ADDED;
    for script in scripts {
        let mut map = SourceMap::new();
        let text = std::fs::read_to_string(script).expect("a script");
        let file = map.add("script", text).expect("room");
        for statement in parse(&map, file).0.statements {
            if let StatementKind::Packet { bytes, .. } = statement.kind {
                let is_taken = (SHORTEST..=longest).contains(&bytes.len());
                seeds.extend(is_taken.then_some(bytes));
            }
        }
    }
    let changed = |random: &mut ChaCha8Rng| {
        let mut packet = seeds.choose(random)?.clone();
        for _ in 0..random.random_range(0..=MOST_CHANGES) {
            let at = random.random_range(0..packet.len());
            match random.random_range(0..8) {
                0 => packet.truncate(at.max(SHORTEST)),
                1 => packet[at] = random.random(),
                2 => packet[at] = *[0, 1, 5, 6, 17, 0x45, 0x46, 0x4f, 0xff].choose(random)?,
                3 => {
                    let added = random.random_range(1..=MOST_ADDED);
                    packet.extend((0..added).map(|_| random.random::<u8>()));
                }
                _ => packet[at] ^= 1 << random.random_range(0..8),
            }
        }
        Some(packet)
    };
    (0..count).filter_map(|_| changed(random)).collect()
}

/// Gives half of the entries keys that packets look up in their table.
pub fn aim(
    filled: &mut Filled,
    program: &Arc<Program>,
    packets: &[Vec<u8>],
    random: &mut ChaCha8Rng,
) {
    let seen = looked_up(program, packets);
    for (table, entry) in &mut filled.entries {
        let Some(values) = seen.get(table).and_then(|all| all.choose(random)) else {
            continue;
        };
        if random.random() {
            continue;
        }
        let keys = program.tables[*table].keys.iter();
        let signed = keys
            .filter(|key| key.kind != MatchKind::Selector)
            .map(|key| matches!(program.exprs[key.expr].ty, Type::Bits { signed: true, .. }));
        for ((key, value), signed) in entry.keys.iter_mut().zip(values).zip(signed) {
            match key {
                KeyMatch::Exact(v) => *v = value.clone(),
                KeyMatch::Lpm(v, length) => {
                    let cut = value.width() - *length;
                    *v = Bits::new(value.width(), (value.value() >> cut) << cut);
                }
                KeyMatch::Ternary(v, mask) => {
                    *v = Bits::new(value.width(), value.value() & mask.value());
                }
                KeyMatch::Range(low, high) if low.width() == value.width() => {
                    let at = |bits: &Bits| bits.to_int(signed);
                    if at(value) <= at(high) && at(value) < at(low) {
                        *low = value.clone();
                    }
                }
                KeyMatch::Range(..) | KeyMatch::Any => {}
            }
        }
    }
}

/// Returns the values that are looked up in each table when the interpreter runs some of the packets.
fn looked_up(program: &Arc<Program>, packets: &[Vec<u8>]) -> HashMap<Table, Vec<Vec<Bits>>> {
    let seen: Rc<RefCell<Seen>> = Rc::default();
    let Ok(mut interpreter) = Interpreter::new(Arc::clone(program), Options::default()) else {
        return HashMap::new();
    };
    let sink = Rc::clone(&seen);
    interpreter.trace_to(Some(Box::new(move |event| {
        if let TraceKind::Table { table, keys, .. } = event.kind {
            sink.borrow_mut()
                .push((table, keys.into_iter().map(|k| k.value).collect()));
        }
    })));
    for packet in packets.iter().take(60) {
        interpreter.run(0, packet);
    }
    let schema = Schema::of(program);
    let mut found: HashMap<Table, Vec<Vec<Bits>>> = HashMap::new();
    for (name, values) in seen.borrow().iter() {
        let Some((table, data)) = schema.tables.iter().find(|(_, t)| t.name == *name) else {
            continue;
        };
        let parsed: Option<Vec<Bits>> = data
            .match_keys()
            .zip(values)
            .map(|(key, text)| parse_value(&schema, key.field.ty, text).ok())
            .collect();
        found.entry(table).or_default().extend(parsed);
    }
    found
}
