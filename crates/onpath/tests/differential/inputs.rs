//! Packets and table entries that reach into a program's corners.

use control::entries::{self, Change};
use control::entry::{key_type, match_keys};
use control::stf::{StatementKind, parse};
use control::values::{canonical, needs_priority, parse_value};
use diag::SourceMap;
use interp::trace::TraceKind;
use interp::{Interpreter, Options};
use ir::{ActionCall, Bits, Entry, KeyMatch, MatchKind, Program, Table, Type};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Random bytes of random lengths, from an Ethernet header up.
pub fn random_packets(count: usize, longest: usize, random: &mut ChaCha8Rng) -> Vec<Vec<u8>> {
    (0..count)
        .map(|_| {
            let len = random.random_range(14..=longest);
            let sparse = random.random_range(0..3) == 0;
            (0..len)
                .map(|_| {
                    if sparse && random.random_range(0..4) > 0 { 0 } else { random.random() }
                })
                .collect()
        })
        .collect()
}

/// The packets of STF scripts, most of them changed: bits flipped, bytes replaced, cut, lengthened.
pub fn packets_from_scripts(
    scripts: &[PathBuf],
    count: usize,
    random: &mut ChaCha8Rng,
) -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for script in scripts {
        let mut map = SourceMap::new();
        let text = std::fs::read_to_string(script).expect("a script");
        let file = map.add("script", text).expect("room");
        let (script, _) = parse(&map, file);
        for statement in script.statements {
            if let StatementKind::Packet { bytes, .. } = statement.kind {
                seeds.extend((bytes.len() >= 14).then_some(bytes));
            }
        }
    }
    assert!(!seeds.is_empty(), "the program has no packets to begin with");
    (0..count)
        .map(|_| {
            let mut packet = seeds.choose(random).expect("seeds").clone();
            for _ in 0..random.random_range(0..5) {
                let at = random.random_range(0..packet.len());
                match random.random_range(0..8) {
                    0 => packet.truncate(at.max(14)),
                    1 => packet[at] = random.random(),
                    2 => packet[at] = *[0, 1, 5, 6, 17, 0x45, 0x46, 0x4f, 0xff].choose(random).expect("some"),
                    3 => packet.extend((0..random.random_range(1..40)).map(|_| random.random::<u8>())),
                    4 => {
                        let other = seeds.choose(random).expect("seeds");
                        let to = packet.len().min(other.len());
                        let from = at.min(to);
                        packet[from..to].copy_from_slice(&other[from..to]);
                    }
                    _ => packet[at] ^= 1 << random.random_range(0..8),
                }
            }
            packet
        })
        .collect()
}

/// The entries of an entry file.
pub fn entries_from_file(program: &Program, path: &Path) -> Vec<Change> {
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let mut map = SourceMap::new();
    let file = map.add(path.display().to_string(), text).expect("room");
    let changes = entries::parse(program, &map, file)
        .unwrap_or_else(|d| panic!("{}", diag::render_text(&d, &map, false)));
    changes.into_iter().map(|(change, _)| change).collect()
}

/// Random entries and default actions for every table that takes them. Many of their keys are such
/// as the packets really look up.
pub fn entries_for(
    program: &Arc<Program>,
    packets: &[Vec<u8>],
    count: usize,
    random: &mut ChaCha8Rng,
) -> Vec<Change> {
    let seen = looked_up(program, packets);
    let mut changes = Vec::new();
    for (table, data) in program.tables.iter() {
        let usable: Vec<u32> = (0..data.actions.len() as u32)
            .filter(|&a| !data.actions[a as usize].default_only)
            .collect();
        if !data.const_default && random.random_range(0..2) == 0 {
            let as_default: Vec<u32> = (0..data.actions.len() as u32)
                .filter(|&a| !data.actions[a as usize].table_only)
                .collect();
            if let Some(&action) = as_default.choose(random) {
                let call = action_call(program, table, action, random);
                changes.push(Change::SetDefault(table, call));
            }
        }
        if data.const_entries || usable.is_empty() || match_keys(data).next().is_none() {
            continue;
        }
        let known = seen.get(&table).map_or(&[][..], Vec::as_slice);
        for number in 0..count {
            let values = known.choose(random);
            let keys = match_keys(data)
                .enumerate()
                .map(|(k, key)| {
                    let ty = key_type(program, key);
                    let value = values
                        .and_then(|v: &Vec<Bits>| v.get(k).cloned())
                        .unwrap_or_else(|| random_bits(ty, random));
                    key_match(key.kind, ty, value, random)
                })
                .collect();
            let action = *usable.choose(random).expect("some");
            let entry = Entry {
                keys,
                priority: if match_keys(data).any(|k| needs_priority(k.kind)) {
                    // Distinct, so that which of two entries wins is defined.
                    1 + (number as u32) * 7 + random.random_range(0..7)
                } else {
                    0
                },
                action: action_call(program, table, action, random),
                is_const: false,
            };
            changes.push(Change::Add(table, entry));
        }
    }
    changes
}

/// The values with which each table is looked up when the interpreter runs some of the packets.
fn looked_up(program: &Arc<Program>, packets: &[Vec<u8>]) -> HashMap<Table, Vec<Vec<Bits>>> {
    let seen: Rc<RefCell<Vec<(String, Vec<String>)>>> = Rc::default();
    let mut interpreter =
        Interpreter::new(Arc::clone(program), Options::default()).expect("the interpreter runs it");
    let sink = Rc::clone(&seen);
    interpreter.trace_to(Some(Box::new(move |event| {
        if let TraceKind::Table { table, keys, .. } = event.kind {
            sink.borrow_mut().push((table, keys.into_iter().map(|k| k.value).collect()));
        }
    })));
    for packet in packets.iter().take(40) {
        interpreter.run(0, packet);
    }
    let mut found: HashMap<Table, Vec<Vec<Bits>>> = HashMap::new();
    for (name, values) in seen.borrow().iter() {
        let Some((table, data)) = program.tables.iter().find(|(_, t)| t.name == *name) else {
            continue;
        };
        let parsed: Option<Vec<Bits>> = match_keys(data)
            .zip(values)
            .map(|(key, text)| parse_value(program, key_type(program, key), text).ok())
            .collect();
        found.entry(table).or_default().extend(parsed);
    }
    found
}

fn action_call(program: &Program, table: Table, action: u32, random: &mut ChaCha8Rng) -> ActionCall {
    let listed = program.tables[table].actions[action as usize].action;
    let args = program.actions[listed]
        .params
        .iter()
        .map(|&param| {
            let ty = program.vars[param].ty;
            match ty {
                Type::Enum(id) => {
                    let members = program.enums[id].members.len() as u32;
                    Bits::new(32, random.random_range(0..members.max(1)))
                }
                // Ports and indexes: small values are what programs expect.
                _ if random.random_range(0..2) == 0 => Bits::new(ty.width(), random.random_range(0..4u32)),
                _ => random_bits(ty, random),
            }
        })
        .collect();
    ActionCall { action, args }
}

fn random_bits(ty: Type, random: &mut ChaCha8Rng) -> Bits {
    match ty {
        Type::Bool => Bits::from_bool(random.random()),
        Type::Error | Type::Enum(_) => Bits::new(32, random.random_range(0..3u32)),
        _ => {
            let bytes: Vec<u8> =
                (0..ty.width().div_ceil(8)).map(|_| random.random::<u8>()).collect();
            Bits::from_bytes(ty.width(), &bytes)
        }
    }
}

/// A match that the value fits, in canonical form.
fn key_match(kind: MatchKind, ty: Type, value: Bits, random: &mut ChaCha8Rng) -> KeyMatch {
    let width = ty.width();
    let found = match kind {
        MatchKind::Lpm => KeyMatch::Lpm(value, random.random_range(0..=width)),
        MatchKind::Ternary if random.random_range(0..4) == 0 => {
            KeyMatch::Ternary(value, Bits::ones(width))
        }
        MatchKind::Ternary => {
            let mask = random_bits(Type::bit(width), random);
            KeyMatch::Ternary(value, mask)
        }
        MatchKind::Range => {
            let other = random_bits(ty, random);
            let signed = matches!(ty, Type::Bits { signed: true, .. });
            if value.to_int(signed) <= other.to_int(signed) {
                KeyMatch::Range(value, other)
            } else {
                KeyMatch::Range(other, value)
            }
        }
        MatchKind::Optional if random.random_range(0..3) == 0 => KeyMatch::Any,
        _ => KeyMatch::Exact(value),
    };
    canonical(found, kind, ty)
}
