//! Effects of states on one byte.

use crate::*;
use std::collections::{BTreeMap, BTreeSet};

/// Effects of states between one byte and the next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ByteEffects {
    /// True if the cursor is after the byte.
    taken: bool,
    /// Headers into which the byte was extracted.
    pub(super) headers: BTreeSet<Header>,
    /// Variables that hold the byte.
    bytes: BTreeSet<Var>,
    /// Variables with a known value: a constant, or the answer that the byte is present.
    known: BTreeSet<Var>,
    /// Counters: variables to which a constant was added, and the constant.
    pub(super) counters: BTreeMap<Var, Bits>,
}

impl ByteEffects {
    /// Returns the effects of statements before the next byte; `None` if they have effects that cannot be described.
    pub(super) fn of(program: &Program, body: &[Stmt]) -> Option<ByteEffects> {
        let mut effects = ByteEffects::default();
        effects.go_on(program, body)?;
        Some(effects)
    }

    /// Adds the effects of further statements.
    pub(super) fn go_on(&mut self, program: &Program, body: &[Stmt]) -> Option<()> {
        body.iter()
            .try_for_each(|stmt| self.stmt(program, &stmt.kind))
    }

    /// Returns true if the byte is known to be present.
    pub(super) fn has_read(&self) -> bool {
        self.taken || !self.bytes.is_empty()
    }

    /// Returns true if the cursor is after the byte.
    pub(super) fn has_taken(&self) -> bool {
        self.taken
    }

    pub(super) fn is_byte(&self, var: Var) -> bool {
        self.bytes.contains(&var)
    }

    /// Notes that a variable holds the answer that the byte is present.
    pub(super) fn answered(&mut self, fits: Var) {
        self.known.insert(fits);
    }

    /// Returns the variables that are written, without counters.
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
                // Only after the byte, so that the count is right in a packet that is too short.
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

/// Returns the constant that an assignment adds to its variable, an unsigned number of up to 32 bits.
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
