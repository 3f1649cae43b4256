//! Random entries and default actions, the same for the interpreter and the target.

use control::{Change, EntryKey, Store, StoreError};
use ir::{ActionCall, Bits, Entry, KeyMatch, MatchKind, Program, Table, Type};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Greatest number of entries that are tried for a table.
const MOST: u32 = 10;

/// Entries and default actions of a program's tables.
#[derive(Clone, Debug, Default)]
pub struct Filled {
    /// Entries, each with its table.
    pub entries: Vec<(Table, Entry)>,
    /// New default actions, each with its table.
    pub defaults: Vec<(Table, ActionCall)>,
}

impl Filled {
    /// Returns the values in the entries' keys.
    pub fn key_values(&self) -> Vec<Bits> {
        let keys = self.entries.iter().flat_map(|(_, e)| &e.keys);
        keys.filter_map(|key| match key {
            KeyMatch::Exact(v)
            | KeyMatch::Lpm(v, _)
            | KeyMatch::Ternary(v, _)
            | KeyMatch::Range(v, _) => Some(v.clone()),
            KeyMatch::Any => None,
        })
        .collect()
    }
}

/// Chooses entries for all tables that take some. All priorities differ.
pub fn choose(program: &Program, random: &mut ChaCha8Rng) -> Filled {
    let mut filled = Filled::default();
    for (table, data) in program.tables.iter() {
        let keys: Vec<(MatchKind, Type)> = data
            .keys
            .iter()
            .filter(|k| k.kind != MatchKind::Selector)
            .map(|k| (k.kind, program.exprs[k.expr].ty))
            .collect();
        if !data.const_entries && !keys.is_empty() {
            for n in 0..random.random_range(0..=MOST) {
                let Some(action) = call(program, table, random, |a| !a.default_only) else {
                    break;
                };
                let keys = keys
                    .iter()
                    .map(|&(kind, ty)| key(kind, ty, random))
                    .collect();
                let overlapping = data.keys.iter().any(|k| {
                    matches!(
                        k.kind,
                        MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
                    )
                });
                // Above the priorities of the program's own entries, which are numbered up from 1 or down from their
                // number.
                let priority = if overlapping { 1000 + n } else { 0 };
                filled.entries.push((
                    table,
                    Entry {
                        keys,
                        priority,
                        action,
                        is_const: false,
                    },
                ));
            }
        }
        if !data.const_default
            && random.random_range(0..3) == 0
            && let Some(action) = call(program, table, random, |a| !a.table_only)
        {
            filled.defaults.push((table, action));
        }
    }
    filled
}

/// Chooses one of the actions of a table that satisfy `may`, with random arguments. Returns `None` if no action does.
pub fn call(
    program: &Program,
    table: Table,
    random: &mut ChaCha8Rng,
    may: impl Fn(&ir::TableAction) -> bool,
) -> Option<ActionCall> {
    let actions = &program.tables[table].actions;
    let usable: Vec<usize> = (0..actions.len()).filter(|&i| may(&actions[i])).collect();
    if usable.is_empty() {
        return None;
    }
    let index = usable[random.random_range(0..usable.len())];
    let params = &program.actions[actions[index].action].params;
    let args = params
        .iter()
        .map(|&p| value(program.vars[p].ty, program, random))
        .collect();
    Some(ActionCall {
        action: index as u32,
        args,
    })
}

/// Returns a value of a type. Values of enums and errors are existing members.
fn value(ty: Type, program: &Program, random: &mut ChaCha8Rng) -> Bits {
    let members = match ty {
        Type::Enum(e) => Some(program.enums[e].members.len()),
        Type::Error => Some(program.errors.len()),
        _ => None,
    };
    match members {
        Some(count) => Bits::new(32, random.random_range(0..count.max(1)) as u64),
        None => bits(ty.width(), random),
    }
}

fn bits(width: u32, random: &mut ChaCha8Rng) -> Bits {
    if random.random() {
        return Bits::new(width, random.random_range(0..8u32));
    }
    let bytes: Vec<u8> = (0..width.div_ceil(8)).map(|_| random.random()).collect();
    Bits::from_bytes(width, &bytes)
}

fn key(kind: MatchKind, ty: Type, random: &mut ChaCha8Rng) -> KeyMatch {
    let width = ty.width();
    let value = bits(width, random);
    match kind {
        MatchKind::Exact | MatchKind::Selector => KeyMatch::Exact(value),
        MatchKind::Optional if random.random() => KeyMatch::Any,
        MatchKind::Optional => KeyMatch::Exact(value),
        MatchKind::Lpm => match random.random_range(0..=width) {
            0 => KeyMatch::Any,
            length => {
                let cut = width - length;
                KeyMatch::Lpm(Bits::new(width, (value.value() >> cut) << cut), length)
            }
        },
        MatchKind::Ternary => match random.random_range(0..4) {
            0 => KeyMatch::Any,
            1 => KeyMatch::Ternary(value, Bits::ones(width)),
            _ => {
                let mask = bits(width, random);
                KeyMatch::Ternary(Bits::new(width, value.value() & mask.value()), mask)
            }
        },
        MatchKind::Range => {
            let other = bits(width, random);
            let signed = matches!(ty, Type::Bits { signed: true, .. });
            if value.to_int(signed) <= other.to_int(signed) {
                KeyMatch::Range(value, other)
            } else {
                KeyMatch::Range(other, value)
            }
        }
    }
}

/// Puts all entries and default actions into both stores. An entry for which one store has no room is removed from the
/// other. Any other difference is an error.
pub fn fill(
    filled: &Filled,
    reference: &mut dyn Store,
    target: &mut dyn Store,
) -> Result<(), String> {
    for (table, entry) in &filled.entries {
        let (a, b) = (
            reference.change(Change::Insert(*table, entry.clone())),
            target.change(Change::Insert(*table, entry.clone())),
        );
        match (&a, &b) {
            (Ok(()), Ok(())) => {}
            (Ok(()), Err(e)) if is_limit(e) => {
                reference
                    .change(Change::Remove(*table, EntryKey::of(entry)))
                    .map_err(|e| format!("an entry could not be taken back: {e}"))?;
            }
            (Err(e), Ok(())) if is_limit(e) => {
                target
                    .change(Change::Remove(*table, EntryKey::of(entry)))
                    .map_err(|e| format!("an entry could not be taken back: {e}"))?;
            }
            (Err(a), Err(b)) if a == b || is_limit(a) || is_limit(b) => {}
            _ => {
                return Err(format!(
                    "inserting {entry:?}: interpreter {a:?}, kernel {b:?}"
                ));
            }
        }
    }
    for (table, action) in &filled.defaults {
        let (a, b) = (
            reference.change(Change::SetDefault(*table, action.clone())),
            target.change(Change::SetDefault(*table, action.clone())),
        );
        match (&a, &b) {
            (Ok(()), Err(StoreError::Unsupported { .. })) => {}
            _ if a == b => {}
            _ => {
                return Err(format!(
                    "default {action:?}: interpreter {a:?}, kernel {b:?}"
                ));
            }
        }
    }
    Ok(())
}

fn is_limit(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Full { .. } | StoreError::OutOfRange { .. } | StoreError::Unsupported { .. }
    )
}
