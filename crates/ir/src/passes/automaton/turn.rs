//! What is done with one byte.

use crate::*;
use std::collections::{BTreeMap, BTreeSet};

/// What states do from one byte to the next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Turn {
    /// The cursor is behind the byte.
    taken: bool,
    /// The headers that took the byte.
    pub(super) headers: BTreeSet<Header>,
    /// The variables that have the byte.
    bytes: BTreeSet<Var>,
    /// Variables that have something that is known: a constant, or that the byte is there.
    known: BTreeSet<Var>,
    /// Variables that something was added to, and what.
    pub(super) counters: BTreeMap<Var, Bits>,
}

impl Turn {
    /// What statements do where a byte is next; `None` if it is more than this.
    pub(super) fn of(program: &Program, body: &[Stmt]) -> Option<Turn> {
        let mut turn = Turn::default();
        turn.go_on(program, body)?;
        Some(turn)
    }

    /// What further statements do.
    pub(super) fn go_on(&mut self, program: &Program, body: &[Stmt]) -> Option<()> {
        body.iter()
            .try_for_each(|stmt| self.stmt(program, &stmt.kind))
    }

    /// Whether the byte is known to be there.
    pub(super) fn has_read(&self) -> bool {
        self.taken || !self.bytes.is_empty()
    }

    /// Whether the cursor is behind it.
    pub(super) fn has_taken(&self) -> bool {
        self.taken
    }

    pub(super) fn is_byte(&self, var: Var) -> bool {
        self.bytes.contains(&var)
    }

    /// The variable has the answer that the byte is there.
    pub(super) fn answered(&mut self, fits: Var) {
        self.known.insert(fits);
    }

    /// The variables that are written, counters aside.
    pub(super) fn vars(&self) -> impl Iterator<Item = Var> {
        self.bytes.iter().chain(&self.known).copied()
    }

    fn stmt(&mut self, program: &Program, kind: &StmtKind) -> Option<()> {
        match *kind {
            StmtKind::Extract {
                header: header @ HeaderRef::Header(own),
                varbit: None,
            } if !self.taken => {
                self.taken = true;
                self.headers.insert(own);
                (program.header_layout(header)?.fixed_width() == 8).then_some(())
            }
            StmtKind::Lookahead {
                place: Place::Var(var),
                skip: 0,
            } if !self.taken && program.vars[var].ty == Type::bit(8) => {
                (!self.writes(var) && self.bytes.insert(var)).then_some(())
            }
            StmtKind::Advance(by) if !self.taken => {
                self.taken = true;
                (eval::constant(program, by)?.to_bits().to_u64() == Some(8)).then_some(())
            }
            StmtKind::Assign {
                dst: Place::Var(var),
                value,
            } => {
                let is_number = self.bytes.contains(&var) || self.counters.contains_key(&var);
                if !is_number && eval::constant(program, value).is_some() {
                    self.known.insert(var);
                    return Some(());
                }
                if self.writes(var) {
                    return None;
                }
                let step = step(program, var, value)?;
                // Behind the byte, so that a packet that is too short counts as far as it did.
                self.counters.insert(var, step);
                self.taken.then_some(())
            }
            _ => None,
        }
    }

    fn writes(&self, var: Var) -> bool {
        self.vars().any(|own| own == var) || self.counters.contains_key(&var)
    }
}

/// What an assignment adds to its variable, a number of up to 32 bits.
fn step(program: &Program, var: Var, value: Expr) -> Option<Bits> {
    let Type::Bits {
        width: 2..=32,
        signed: false,
    } = program.vars[var].ty
    else {
        return None;
    };
    let ExprKind::Binary(op, base, by) = program.exprs[value].kind else {
        return None;
    };
    let is_own = program.exprs[base].kind == ExprKind::Var(var);
    let by = eval::constant(program, by).filter(|_| is_own)?.to_bits();
    match op {
        BinaryOp::Add => Some(by),
        BinaryOp::Sub => Some(Bits::from_int(by.width(), &-by.to_signed())),
        _ => None,
    }
}
