//! Rules for atomic blocks (specification 18.4.1). A block may contain computations and conditions, and calls of one
//! [`FLOW_STATE`] with one key, or of cells of [`REGISTER`]s. Calls without an effect may precede these. They may also
//! stand among them if nothing there writes their inputs: the pass moves them before the block.
//!
//! A target holds one lock from the first statement with such a call to the block's end. It is the lock of the key's
//! flows, of the index's cell, or a lock common to all cells of the block ([`group`]). So the block may use no other
//! shared state, no jump may leave it, and nothing may change the keys. Calls must be inlined before the check.

use crate::visit::{self, Access};
use crate::*;
use diag::Span;
use smol_str::SmolStr;
use std::collections::{BTreeSet, HashSet};

/// The extern object for state by flow; its methods' first argument is the key.
pub const FLOW_STATE: &str = "flow_state";

/// The extern object for cells by index, which calls read or write.
pub const REGISTER: &str = "register";

/// The part of an atomic block in which the lock is held.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// Its cells in the order of their first calls, each once: flows of one state with one key, or cells of registers.
    pub cells: Vec<Cell>,
    /// Index of its first statement in the block. It ends with the block.
    pub first: usize,
}

/// State that calls share: the state of an object at a key.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// The object.
    pub object: ExternInst,
    /// The key or index, evaluated before the region begins.
    pub key: Vec<Expr>,
}

impl Cell {
    /// Returns true if calls with this key use this cell for every packet.
    pub fn is(&self, program: &Program, object: ExternInst, key: &[Expr]) -> bool {
        self.object == object && are_equal(program, &self.key, key)
    }
}

/// Returns true if two keys consist of equal expressions.
pub(crate) fn are_equal(program: &Program, a: &[Expr], b: &[Expr]) -> bool {
    let mut pairs = a.iter().zip(b);
    pairs.all(|(&a, &b)| build::equal(program, a, b))
}

/// Registers that atomic blocks use together, so that all their cells share a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The registers, in order.
    pub members: Vec<ExternInst>,
    /// True if each block uses them at one index, so that there may be a lock for each index.
    pub is_by_index: bool,
}

/// Returns the group of a register; `None` if each of its cells may have its own lock.
pub fn group(program: &Program, register: ExternInst) -> Option<Group> {
    let mut joined: Vec<Vec<Cell>> = Vec::new();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Atomic(block) = &stmt.kind
                && let Ok(Some(found)) = region(program, block)
                && found.cells.len() > 1
            {
                joined.push(found.cells);
            }
        });
    }
    let mut members = BTreeSet::from([register]);
    loop {
        let touches = |cells: &&Vec<Cell>| cells.iter().any(|c| members.contains(&c.object));
        let more: BTreeSet<ExternInst> = joined
            .iter()
            .filter(touches)
            .flatten()
            .map(|cell| cell.object)
            .collect();
        if more.is_subset(&members) {
            break;
        }
        members.extend(more);
    }
    let mut own = joined
        .iter()
        .filter(|cells| members.contains(&cells[0].object))
        .peekable();
    own.peek()?;
    let is_by_index = own.all(|cells| {
        let first = &cells[0].key;
        cells
            .iter()
            .all(|cell| are_equal(program, first, &cell.key))
    });
    Some(Group {
        members: members.into_iter().collect(),
        is_by_index,
    })
}

/// Reason for which a block cannot be atomic.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// The rule that is violated.
    pub problem: Problem,
    /// Location of the statement.
    pub at: Span,
    /// Location of the first call of shared state, if it matters.
    pub first: Span,
}

/// Violation of a rule for atomic blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// A statement of this kind.
    Statement(&'static str),
    /// A call of this extern.
    Extern(SmolStr),
    /// A call of this extern, which has no effect but reads storage that the block writes while it holds the lock.
    OfChanging(SmolStr),
    /// Use of the state with the first name after that with the second name, where at least one is not a register.
    OtherState(SmolStr, SmolStr),
    /// A call of a flow state with another key than the first call's.
    OtherKey,
    /// An assignment to storage that the key reads, while the lock is held.
    KeyChanges,
}

/// Returns the flow state whose method a statement calls, and the key.
pub fn flow_call<'a>(program: &Program, kind: &'a StmtKind) -> Option<(ExternInst, &'a [Expr])> {
    let StmtKind::Extern(call) = kind else {
        return None;
    };
    let object = call.object?;
    match call.args.first() {
        Some(ExternArg::In(key)) if program.externs[object].ty == FLOW_STATE => Some((object, key)),
        _ => None,
    }
}

/// Returns the object whose state a statement accesses under a lock, and the index of the argument with the key.
pub fn keyed_call(program: &Program, kind: &StmtKind) -> Option<(ExternInst, usize)> {
    let StmtKind::Extern(call) = kind else {
        return None;
    };
    let object = call.object?;
    let at = match (program.externs[object].ty.as_str(), call.name.as_str()) {
        (FLOW_STATE, _) => 0,
        (REGISTER, "read") => 1,
        (REGISTER, "write") => 0,
        _ => return None,
    };
    matches!(call.args.get(at), Some(ExternArg::In(_))).then_some((object, at))
}

/// Returns the key of a keyed call.
fn key_of(kind: &StmtKind, at: usize) -> &[Expr] {
    match kind {
        StmtKind::Extern(call) => match call.args.get(at) {
            Some(ExternArg::In(key)) => key,
            _ => &[],
        },
        _ => &[],
    }
}

/// Returns the region of an atomic block in which a lock is held; `None` if it needs none.
pub fn region(program: &Program, block: &Block) -> Result<Option<Region>, Refusal> {
    let mut region: Option<Region> = None;
    let mut first_call = Span::NONE;
    for (at, stmt) in block.iter().enumerate() {
        let mut refused = None;
        // Refused only while the lock is held.
        let mut held = None;
        let mut labels = HashSet::new();
        visit::walk_block(std::slice::from_ref(stmt), &mut |inner| {
            let refusal = |problem| Refusal {
                problem,
                at: inner.span,
                first: first_call,
            };
            if let StmtKind::Labeled(label, _) = inner.kind {
                labels.insert(label);
            }
            if let Some(problem) = problem_of(program, &inner.kind, &labels) {
                let found = if matches!(problem, Problem::OfChanging(_)) {
                    &mut held
                } else {
                    &mut refused
                };
                found.get_or_insert_with(|| refusal(problem));
                return;
            }
            if compares_varbits(program, &inner.kind) {
                let problem = Problem::Statement("a comparison of varbit values");
                held.get_or_insert_with(|| refusal(problem));
            }
            let Some((object, at_arg)) = keyed_call(program, &inner.kind) else {
                return;
            };
            let key = key_of(&inner.kind, at_arg);
            let cell = Cell {
                object,
                key: key.to_vec(),
            };
            let Some(known) = &mut region else {
                first_call = inner.span;
                region = Some(Region {
                    cells: vec![cell],
                    first: at,
                });
                return;
            };
            if known.cells.iter().any(|c| c.is(program, object, key)) {
                return;
            }
            let first = known.cells[0].object;
            let is_register = |o: ExternInst| program.externs[o].ty == REGISTER;
            if is_register(first) && is_register(object) {
                known.cells.push(cell);
            } else if first == object {
                refused.get_or_insert_with(|| refusal(Problem::OtherKey));
            } else {
                let name = |o: ExternInst| program.externs[o].name.clone();
                let problem = Problem::OtherState(name(object), name(first));
                refused.get_or_insert_with(|| refusal(problem));
            }
        });
        if let Some(refusal) = refused.or(held.filter(|_| region.is_some())) {
            return Err(refusal);
        }
    }
    if let Some(region) = &region {
        let keys: Vec<Expr> = region.cells.iter().flat_map(|c| &c.key).copied().collect();
        let read = Read::of(program, &keys);
        let mut changed = None;
        visit::walk_block(&block[region.first..], &mut |stmt| {
            if read.is_written_by(program, &stmt.kind) {
                changed.get_or_insert(stmt.span);
            }
        });
        if let Some(at) = changed {
            return Err(Refusal {
                problem: Problem::KeyChanges,
                at,
                first: first_call,
            });
        }
    }
    Ok(region)
}

/// Returns true if a statement compares varbit values, whose bytes a target has to fetch.
fn compares_varbits(program: &Program, kind: &StmtKind) -> bool {
    let mut found = false;
    visit::accesses(program, kind, |access| {
        let Access::Eval(e) = access else { return };
        visit::walk_expr(program, e, &mut |data| {
            found |= matches!(data.kind, ExprKind::Binary(_, a, _)
                if matches!(program.ty(a), Type::Varbit(_)));
        });
    });
    found
}

/// Returns the expressions that a call reads, if it has no effect and reads nothing else.
fn inputs(call: &ExternCall) -> Option<Vec<Expr>> {
    // The index of an l-value that it writes would be evaluated before the call, so there must be none.
    let is_known = |place: &Place| !matches!(place, Place::Field(HeaderRef::Element(..), _));
    if call.effect != Effect::None || !call.result.iter().all(is_known) {
        return None;
    }
    let mut read = Vec::new();
    for arg in &call.args {
        match arg {
            ExternArg::In(values) => read.extend(values),
            ExternArg::Out(places) if !places.iter().all(is_known) => return None,
            ExternArg::Out(_)
            | ExternArg::String(_)
            | ExternArg::Member(..)
            | ExternArg::Object(_)
            | ExternArg::Absent => {}
            ExternArg::InOut(_) | ExternArg::HeaderIn(_) | ExternArg::HeaderOut(_) => return None,
        }
    }
    Some(read)
}

/// Returns true if a call gives the same results at any point of `region`: it has no effect, and no statement there
/// writes its inputs.
pub fn is_the_same_anywhere(program: &Program, call: &ExternCall, region: &[Stmt]) -> bool {
    let Some(inputs) = inputs(call) else {
        return false;
    };
    let read = Read::of(program, &inputs);
    let mut changes = false;
    visit::walk_block(region, &mut |stmt| {
        changes |= read.is_written_by(program, &stmt.kind)
    });
    !changes
}

/// Returns the rule that a statement by itself violates.
fn problem_of(program: &Program, kind: &StmtKind, inside: &HashSet<Label>) -> Option<Problem> {
    Some(Problem::Statement(match kind {
        StmtKind::Assign { .. }
        | StmtKind::CopyHeader { .. }
        | StmtKind::SetValid(_)
        | StmtKind::SetInvalid(_)
        | StmtKind::PushFront(..)
        | StmtKind::PopFront(..)
        | StmtKind::If { .. }
        | StmtKind::Switch { .. }
        | StmtKind::Labeled(..) => return None,
        kind if visit::in_place(kind).is_some() => return None,
        StmtKind::Break(label) if inside.contains(label) => return None,
        StmtKind::Extern(call) => {
            let name = match call.object.map(|o| &program.externs[o].ty) {
                Some(ty) if ty == FLOW_STATE || ty == REGISTER => return None,
                Some(ty) => format!("{ty}.{}", call.name).into(),
                None => call.name.clone(),
            };
            return Some(if inputs(call).is_some() {
                Problem::OfChanging(name)
            } else {
                Problem::Extern(name)
            });
        }
        StmtKind::Break(_) | StmtKind::Continue(_) => "a jump out of it",
        StmtKind::Return => "`return`",
        StmtKind::Exit => "`exit`",
        StmtKind::Loop(..) => "a loop",
        StmtKind::Apply { .. } => "a table's `apply`",
        StmtKind::Call(..) => "a call",
        StmtKind::Emit(_) => "`emit`",
        // Other statements occur in parsers, or passes create them later.
        _ => "parsing",
    }))
}

/// Storage that expressions read.
struct Read {
    vars: HashSet<Var>,
    fields: HashSet<(Header, u32)>,
    valid: HashSet<Header>,
}

impl Read {
    fn of(program: &Program, exprs: &[Expr]) -> Read {
        let mut read = Read {
            vars: HashSet::new(),
            fields: HashSet::new(),
            valid: HashSet::new(),
        };
        for &expr in exprs {
            visit::walk_expr(program, expr, &mut |data| match data.kind {
                ExprKind::Var(var) => {
                    read.vars.insert(var);
                }
                ExprKind::Field(header, field) => {
                    read.fields
                        .extend(headers(program, header).iter().map(|&h| (h, field)));
                }
                ExprKind::IsValid(header) => read.valid.extend(headers(program, header)),
                _ => {}
            });
        }
        read
    }

    fn is_written_by(&self, program: &Program, kind: &StmtKind) -> bool {
        let mut found = false;
        visit::accesses(program, kind, |access| {
            found |= match access {
                Access::Write(Place::Var(var)) => self.vars.contains(&var),
                Access::Write(Place::Field(header, field)) => headers(program, header)
                    .iter()
                    .any(|&h| self.fields.contains(&(h, field))),
                Access::WriteHeader(header) => headers(program, header)
                    .iter()
                    .any(|h| self.valid.contains(h) || self.fields.iter().any(|(own, _)| own == h)),
                Access::SetValidity(header, _) => headers(program, header)
                    .iter()
                    .any(|h| self.valid.contains(h)),
                Access::Eval(_) | Access::Read(_) | Access::ReadHeader(_) => false,
            };
        });
        found
    }
}

fn headers(program: &Program, header: HeaderRef) -> Vec<Header> {
    match header {
        HeaderRef::Header(header) => vec![header],
        HeaderRef::Element(stack, _) => program.stacks[stack].elems.clone(),
    }
}
