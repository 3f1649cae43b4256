//! Specializes a program to the current contents of its tables. If these are few and unchanged when a table is applied,
//! comparisons select the action, and the actions are compiled in with their arguments.

use super::inline::body::{fresh_labels, returns};
use super::{Body, for_each_body};
use crate::types::is_signed;
use crate::*;
use diag::Span;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Greatest number of entries that are compared one by one; with more, a look-up is as fast.
pub const MOST_ENTRIES: usize = 16;

/// Greatest number of statements in the copies of a table's actions together.
const MOST_STATEMENTS: usize = 256;

/// Contents of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Contents {
    /// Generation of the contents: the number of changes before them.
    pub generation: u64,
    /// Its entries.
    pub entries: Vec<Entry>,
    /// Action that runs on a miss.
    pub default_action: ActionCall,
}

/// Reason for which a table is not specialized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeftAlone {
    /// It has too many entries.
    TooManyEntries,
    /// The copies of its actions would be too long.
    LongActions,
    /// Entries of one priority overlap, so that the table's layout decides which one wins.
    Ambiguous,
    /// The table keeps state for each entry, or chooses among actions by a hash.
    StatePerEntry,
    /// A key field that is not a number is matched under a mask or by a range.
    NoNumber,
    /// The entries cannot change, so they are compiled in anyway.
    Fixed,
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            LeftAlone::TooManyEntries => "it has too many entries",
            LeftAlone::LongActions => "its actions are too long to be copied for each entry",
            LeftAlone::Ambiguous => "entries of one priority overlap",
            LeftAlone::StatePerEntry => "it keeps state for each entry",
            LeftAlone::NoNumber => "a key that is no number is matched under a mask",
            LeftAlone::Fixed => "its entries are compiled in anyway",
        })
    }
}

/// Specializes a program to the contents of some of its tables. Returns for each whether it is compiled in, or why it
/// is not.
pub fn run(
    program: &mut Program,
    contents: &[(Table, Contents)],
) -> Vec<(Table, Result<(), LeftAlone>)> {
    let mut plans = HashMap::new();
    let mut outcome = Vec::new();
    for (table, contents) in contents {
        let plan = TableComparisons::new(program, *table, contents);
        outcome.push((*table, plan.as_ref().map(|_| ()).map_err(|why| *why)));
        plans.extend(plan.ok().map(|plan| (*table, plan)));
    }
    for_each_body(program, |program, block, body| {
        if let Body::Routine(_) = body {
            let taken = std::mem::take(block);
            *block = replace(program, taken, &plans);
        }
    });
    program.number_stmts();
    outcome
}

/// Comparisons that replace a table's look-up, in the order in which entries win.
struct TableComparisons {
    generation: u64,
    /// Consecutive entries with the same action: their matches, and the action.
    runs: Vec<(Vec<Vec<KeyMatch>>, ActionCall)>,
    default_action: ActionCall,
}

impl TableComparisons {
    fn new(
        program: &Program,
        table: Table,
        contents: &Contents,
    ) -> Result<TableComparisons, LeftAlone> {
        let data = &program.tables[table];
        let fixed = data.keys.is_empty()
            || data.const_entries && data.entries.iter().all(|entry| entry.is_const);
        if fixed {
            return Err(LeftAlone::Fixed);
        }
        if keeps_state(program, data) {
            return Err(LeftAlone::StatePerEntry);
        }
        if contents.entries.len() > MOST_ENTRIES {
            return Err(LeftAlone::TooManyEntries);
        }
        if contents
            .entries
            .iter()
            .any(|entry| !compares(program, data, entry))
        {
            return Err(LeftAlone::NoNumber);
        }
        let ordered = data.keys.iter().any(|key| key.kind.needs_priority());
        let mut entries: Vec<&Entry> = contents.entries.iter().collect();
        entries.sort_by_key(|entry| Reverse((ordered.then_some(entry.priority), prefix(entry))));
        let key = data.keys.iter().map(|key| program.ty(key.expr));
        if ordered && is_ambiguous(&key.collect::<Vec<_>>(), &entries) {
            return Err(LeftAlone::Ambiguous);
        }
        let mut runs: Vec<(Vec<Vec<KeyMatch>>, ActionCall)> = Vec::new();
        for entry in entries {
            match runs.last_mut() {
                Some((matches, action)) if *action == entry.action => {
                    matches.push(entry.keys.clone());
                }
                _ => runs.push((vec![entry.keys.clone()], entry.action.clone())),
            }
        }
        let plan = TableComparisons {
            generation: contents.generation,
            runs,
            default_action: contents.default_action.clone(),
        };
        match plan.statements(program, data) > MOST_STATEMENTS {
            true => Err(LeftAlone::LongActions),
            false => Ok(plan),
        }
    }

    /// Returns the number of statements in the copies of actions.
    fn statements(&self, program: &Program, data: &TableData) -> usize {
        let called = self.runs.iter().map(|(_, call)| call);
        called
            .chain([&self.default_action])
            .filter_map(|call| data.actions.get(call.action as usize))
            .map(|found| {
                let mut seen = HashSet::new();
                length(program, &program.actions[found.action].body, &mut seen)
            })
            .sum()
    }

    /// Returns the code that replaces an `apply` if the contents are current.
    fn decide(
        &self,
        program: &mut Program,
        table: Table,
        (hit, action): (Option<Var>, Option<Var>),
        span: Span,
    ) -> Block {
        let site = Site {
            table,
            hit,
            action,
            span,
        };
        let mut block = site.run(program, &self.default_action, false);
        let mut runs = self.runs.as_slice();
        // Without a read of `hit`, entries with the default action need no comparison at the end.
        while let Some(((_, call), rest)) = runs.split_last()
            && hit.is_none()
            && *call == self.default_action
        {
            runs = rest;
        }
        for (matches, call) in runs.iter().rev() {
            let then = site.run(program, call, true);
            block = match site.any(program, matches) {
                None => then,
                Some(cond) => vec![Stmt::new(
                    StmtKind::If {
                        cond,
                        then,
                        otherwise: block,
                    },
                    span,
                )],
            };
        }
        block
    }
}

/// An application of a table.
struct Site {
    table: Table,
    hit: Option<Var>,
    action: Option<Var>,
    span: Span,
}

impl Site {
    /// Returns the code of an action with its arguments.
    fn run(&self, program: &mut Program, call: &ActionCall, found: bool) -> Block {
        let span = self.span;
        let mut block = Vec::new();
        let assign = |program: &mut Program, var: Var, value: &Value, block: &mut Block| {
            let ty = program.vars[var].ty;
            if let Some(value) = build::value(program, value, ty, span) {
                let dst = Place::Var(var);
                block.push(Stmt::new(StmtKind::Assign { dst, value }, span));
            }
        };
        if let Some(hit) = self.hit {
            assign(program, hit, &Value::Bool(found), &mut block);
        }
        if let Some(action) = self.action {
            let number = Value::Bits(Bits::new(32, call.action));
            assign(program, action, &number, &mut block);
        }
        let Some(chosen) = program.tables[self.table].actions.get(call.action as usize) else {
            return block;
        };
        let data = &program.actions[chosen.action];
        let (params, mut body) = (data.params.clone(), data.body.clone());
        for (param, bits) in params.into_iter().zip(&call.args) {
            let value = Value::from_bits(bits, program.vars[param].ty);
            assign(program, param, &value, &mut block);
        }
        fresh_labels(program, &mut body);
        block.append(&mut returns(program, body, span));
        block
    }

    /// Returns the condition that one of these entries matches; `None` if it is always true.
    fn any(&self, program: &mut Program, all: &[Vec<KeyMatch>]) -> Option<Expr> {
        let mut any = None;
        for matches in all {
            let one = self.all(program, matches)?;
            any = Some(match any {
                Some(other) => boolean(program, BinaryOp::Or, other, one, self.span),
                None => one,
            });
        }
        any
    }

    /// Returns the condition that each field of the key matches; `None` if it is always true.
    fn all(&self, program: &mut Program, matches: &[KeyMatch]) -> Option<Expr> {
        let mut all = None;
        for (number, wanted) in matches.iter().enumerate() {
            let key = program.tables[self.table].keys.get(number)?.expr;
            if let Some(one) = self.one(program, key, wanted) {
                all = Some(match all {
                    Some(other) => boolean(program, BinaryOp::And, other, one, self.span),
                    None => one,
                });
            }
        }
        all
    }

    /// Returns the condition that a field of the key matches; `None` if it is always true.
    fn one(&self, program: &mut Program, key: Expr, wanted: &KeyMatch) -> Option<Expr> {
        let (ty, span) = (program.ty(key), self.span);
        let width = ty.width();
        if width == 0 {
            return None;
        }
        let constant = |program: &mut Program, bits: &Bits| {
            build::value(program, &Value::from_bits(bits, ty), ty, span)
        };
        let masked = |program: &mut Program, value: &Bits, mask: &Bits| {
            if mask.is_zero() {
                return None;
            }
            let (value, mask) = (constant(program, value)?, constant(program, mask)?);
            let kind = ExprKind::Binary(BinaryOp::And, key, mask);
            let masked = build::make(program, kind, ty, span);
            Some(boolean(program, BinaryOp::Eq, masked, value, span))
        };
        match wanted {
            KeyMatch::Any => None,
            KeyMatch::Exact(value) => {
                let value = constant(program, value)?;
                Some(boolean(program, BinaryOp::Eq, key, value, span))
            }
            KeyMatch::Lpm(value, length) => {
                masked(program, value, &Bits::prefix_mask(width, *length))
            }
            KeyMatch::Ternary(value, mask) => masked(program, value, mask),
            KeyMatch::Range(low, high) => {
                let (low, high) = (constant(program, low)?, constant(program, high)?);
                let above = boolean(program, BinaryOp::Ge, key, low, span);
                let below = boolean(program, BinaryOp::Le, key, high, span);
                Some(boolean(program, BinaryOp::And, above, below, span))
            }
        }
    }
}

fn boolean(program: &mut Program, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
    build::make(program, ExprKind::Binary(op, a, b), Type::Bool, span)
}

/// Returns true if expressions can decide whether the key matches an entry.
fn compares(program: &Program, data: &TableData, entry: &Entry) -> bool {
    data.keys.iter().zip(&entry.keys).all(|(key, wanted)| {
        let ty = program.ty(key.expr);
        match wanted {
            KeyMatch::Any | KeyMatch::Exact(_) => !matches!(ty, Type::Varbit(_)),
            KeyMatch::Ternary(..) => matches!(ty, Type::Bits { .. } | Type::Bool),
            KeyMatch::Lpm(..) | KeyMatch::Range(..) => matches!(ty, Type::Bits { .. }),
        }
    })
}

/// Returns the total length of an entry's prefixes, in bits.
fn prefix(entry: &Entry) -> u32 {
    let of = |key: &KeyMatch| match key {
        KeyMatch::Lpm(_, length) => *length,
        _ => 0,
    };
    entry.keys.iter().map(of).sum()
}

/// Returns true if a key with fields of these types may match two entries of one priority with different actions.
fn is_ambiguous(key: &[Type], entries: &[&Entry]) -> bool {
    let overlap = |one: &Entry, other: &Entry| {
        let mut fields = key.iter().zip(one.keys.iter().zip(&other.keys));
        fields.all(|(ty, (a, b))| overlap(*ty, a, b))
    };
    entries.iter().enumerate().any(|(number, one)| {
        entries[number + 1..].iter().any(|other| {
            one.priority == other.priority && one.action != other.action && overlap(one, other)
        })
    })
}

/// Returns true if a value of this type may satisfy both matches.
fn overlap(ty: Type, a: &KeyMatch, b: &KeyMatch) -> bool {
    let masked = |key: &KeyMatch| match key {
        KeyMatch::Exact(value) => Some((value.clone(), Bits::ones(value.width()))),
        KeyMatch::Lpm(value, length) => {
            Some((value.clone(), Bits::prefix_mask(value.width(), *length)))
        }
        KeyMatch::Ternary(value, mask) => Some((value.clone(), mask.clone())),
        KeyMatch::Range(..) | KeyMatch::Any => None,
    };
    let number = |bits: &Bits| bits.to_int(is_signed(ty));
    match (a, b) {
        (KeyMatch::Range(a, to_a), KeyMatch::Range(b, to_b)) => {
            number(a) <= number(to_b) && number(b) <= number(to_a)
        }
        _ => match (masked(a), masked(b)) {
            (Some((value, mask)), Some((other, with))) => {
                let both = mask.value() & with.value();
                value.value() & &both == other.value() & &both
            }
            _ => true,
        },
    }
}

/// Returns true if a table keeps state for each entry, or chooses among actions by itself.
fn keeps_state(program: &Program, data: &TableData) -> bool {
    let is_plain = |value: &CtorValue| match value {
        CtorValue::Extern(object) => {
            matches!(
                program.externs[*object].ty.as_str(),
                "hash_table" | "array_table"
            )
        }
        CtorValue::Absent => true,
        _ => false,
    };
    let selects = data.keys.iter().any(|key| key.kind == MatchKind::Selector);
    selects || !data.properties.iter().all(|(_, value)| is_plain(value))
}

/// Returns the number of statements of a block and of the routines that it calls, each routine once.
fn length(program: &Program, block: &Block, seen: &mut HashSet<Routine>) -> usize {
    let mut count = 0;
    let mut called = Vec::new();
    visit::walk_block(block, &mut |stmt| {
        count += 1;
        if let StmtKind::Call(routine, _) = stmt.kind {
            called.push(routine);
        }
    });
    for routine in called {
        if seen.insert(routine) {
            count += length(program, &program.routines[routine].body, seen);
        }
    }
    count
}

/// Inserts the comparisons before the applications of tables that have a plan.
fn replace(program: &mut Program, block: Block, plans: &HashMap<Table, TableComparisons>) -> Block {
    let mut out = Vec::with_capacity(block.len());
    for mut stmt in block {
        for inner in visit::blocks_mut(&mut stmt.kind) {
            *inner = replace(program, std::mem::take(inner), plans);
        }
        let StmtKind::Apply { table, hit, action } = stmt.kind else {
            out.push(stmt);
            continue;
        };
        let Some(plan) = plans.get(&table) else {
            out.push(stmt);
            continue;
        };
        let span = stmt.span;
        let current = program.vars.push(VarData {
            name: "current".into(),
            ty: Type::Bool,
            span,
        });
        let kind = StmtKind::IsCurrent {
            table,
            generation: plan.generation,
            current,
        };
        out.push(Stmt::new(kind, span));
        let kind = StmtKind::If {
            cond: build::var(program, current, span),
            then: plan.decide(program, table, (hit, action), span),
            otherwise: vec![stmt],
        };
        out.push(Stmt::new(kind, span));
    }
    out
}
