//! What one turn of a loop does, in terms of what variables hold where it begins.

use super::limit::{self, Exit};
use crate::analysis::parser_loops::Step;
use crate::rewrite::{Leaves, Rewriter};
use crate::*;
use diag::Span;
use num_bigint::BigUint;
use std::collections::{BTreeSet, HashMap};

/// What a loop with one turn looks for, and how it counts.
pub(super) struct Turn {
    /// What is looked for, behind the cursor where the turn begins.
    pub(super) pattern: Pattern,
    /// The step that compares, with the target where it leads if the value is there.
    pub(super) found: Step,
    /// No later step of the turn leaves the loop.
    pub(super) is_last_test: bool,
    /// After how many turns the loop is left, each for a counter of its own; `bit<32>`.
    pub(super) limits: Vec<Expr>,
    /// The variables that each turn adds something to, and what.
    pub(super) counters: Vec<(Var, Bits)>,
    /// Other variables that the turn writes.
    pub(super) vars: BTreeSet<Var>,
    /// The headers that it extracts.
    pub(super) headers: BTreeSet<Header>,
    /// The source text of the comparison.
    pub(super) span: Span,
}

/// Bits of the packet, from where the turn begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    skip: u32,
    width: u32,
}

/// A value that bits of the packet are compared with, under a mask.
pub(super) type Wanted = (Window, Bits, Bits);

/// A turn as far as it was followed.
pub(super) struct Walk<'a> {
    pub(super) program: &'a mut Program,
    /// Bits that the cursor has moved on by.
    at: u32,
    /// Where the last bit is that was asked for.
    reach: u32,
    /// What was assigned, in terms of the values at the turn's beginning.
    values: HashMap<Var, Expr>,
    /// What was looked ahead at.
    windows: HashMap<Var, Window>,
    /// The answers of [`StmtKind::Fits`].
    pub(super) fits: BTreeSet<Var>,
    /// Where headers that were extracted begin.
    headers: HashMap<Header, u32>,
}

/// Reads variables as they were assigned in the turn.
struct Assigned<'a>(&'a HashMap<Var, Expr>);

impl Leaves for Assigned<'_> {
    fn var(&mut self, _: &mut Program, var: Var) -> Option<Expr> {
        self.0.get(&var).copied()
    }
}

/// Follows the only turn of a loop; nothing if it is no search.
pub(super) fn of(program: &mut Program, parser: Parser, steps: &[Step]) -> Option<Turn> {
    let mut walk = Walk {
        program,
        at: 0,
        reach: 0,
        values: HashMap::new(),
        windows: HashMap::new(),
        fits: BTreeSet::new(),
        headers: HashMap::new(),
    };
    let mut selects = Vec::new();
    for step in steps {
        let state = walk.program.parsers[parser].states[step.state].clone();
        for stmt in &state.body {
            walk.stmt(&stmt.kind)?;
        }
        if let Transition::Select { keys, cases } = state.transition {
            let keys: Vec<Expr> = keys.iter().map(|&key| walk.expr(key)).collect();
            selects.push((*step, keys, cases));
        }
    }
    if walk.at != 8 {
        return None;
    }
    // What stays the same is known when all of the turn is.
    let mut exits: Vec<(State, Exit)> = Vec::new();
    for (step, keys, cases) in &selects {
        let of_step = limit::exits(&mut walk, keys, cases, step.target)?;
        exits.extend(of_step.into_iter().map(|exit| (step.state, exit)));
    }
    walk.turn(parser, exits)
}

impl Walk<'_> {
    fn stmt(&mut self, kind: &StmtKind) -> Option<()> {
        match *kind {
            StmtKind::Assign {
                dst: Place::Var(var),
                value,
            } => {
                let value = self.expr(value);
                if self.windows.contains_key(&var) || self.fits.contains(&var) {
                    return None;
                }
                self.values.insert(var, value);
            }
            StmtKind::Lookahead {
                place: Place::Var(var),
                skip,
            } => {
                let width = self.program.vars[var].ty.width();
                self.is_new(var)?;
                let window = Window {
                    skip: self.at.checked_add(skip)?,
                    width,
                };
                self.reads_to(window.skip.checked_add(width)?);
                self.windows.insert(var, window);
            }
            StmtKind::Fits { bits, fits } => {
                self.is_new(fits)?;
                let bits = self.constant(bits)?;
                self.reads_to(self.at.checked_add(bits)?);
                self.fits.insert(fits);
            }
            StmtKind::Advance(bits) => {
                let bits = self.constant(bits)?;
                self.moves(bits)?;
            }
            StmtKind::Extract {
                header: HeaderRef::Header(header),
                varbit: None,
            } => {
                let width = self.program.header_layout(HeaderRef::Header(header))?;
                let width = width.fixed_width();
                if self.headers.insert(header, self.at).is_some() {
                    return None;
                }
                self.moves(width)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Nothing if a variable was written in this turn before.
    fn is_new(&self, var: Var) -> Option<()> {
        let written = self.windows.contains_key(&var)
            || self.fits.contains(&var)
            || self.values.contains_key(&var);
        (!written).then_some(())
    }

    fn reads_to(&mut self, end: u32) {
        self.reach = self.reach.max(end);
    }

    fn moves(&mut self, bits: u32) -> Option<()> {
        self.at = self.at.checked_add(bits)?;
        self.reads_to(self.at);
        bits.is_multiple_of(8).then_some(())
    }

    fn constant(&self, expr: Expr) -> Option<u32> {
        let value = eval::constant(self.program, expr)?.to_bits().to_u64()?;
        u32::try_from(value).ok()
    }

    /// An expression in terms of what variables hold where the turn begins. Variables of look-aheads stay.
    pub(super) fn expr(&mut self, expr: Expr) -> Expr {
        Rewriter::new(self.program, Assigned(&self.values)).expr(expr)
    }

    /// The bits of the packet that an expression is.
    pub(super) fn window(&self, expr: Expr) -> Option<Window> {
        match self.program.exprs[expr].kind {
            ExprKind::Var(var) => self.windows.get(&var).copied(),
            ExprKind::Field(HeaderRef::Header(header), field) => {
                let at = *self.headers.get(&header)?;
                let layout = self.program.header_layout(HeaderRef::Header(header))?;
                let before = layout.fields[..field as usize].iter();
                Some(Window {
                    skip: at + before.map(|field| field.ty.width()).sum::<u32>(),
                    width: layout.fields[field as usize].ty.width(),
                })
            }
            ExprKind::Slice { base, hi, lo } => {
                let base = self.window(base)?;
                Some(Window {
                    skip: base.skip + base.width - 1 - hi,
                    width: hi - lo + 1,
                })
            }
            _ => None,
        }
    }

    /// The bits of the packet that an expression is, with those that a mask in it leaves.
    pub(super) fn masked_window(&self, expr: Expr) -> Option<(Window, Bits)> {
        if let ExprKind::Binary(BinaryOp::And, a, b) = self.program.exprs[expr].kind {
            let (of, mask) = match eval::constant(self.program, b) {
                Some(mask) => (a, mask),
                None => (b, eval::constant(self.program, a)?),
            };
            return Some((self.window(of)?, mask.to_bits()));
        }
        let window = self.window(expr)?;
        Some((window, Bits::ones(window.width)))
    }

    /// Whether an expression, in terms of the turn's beginning, is the same in every turn.
    pub(super) fn stays(&self, expr: Expr) -> bool {
        let mut stays = true;
        visit::walk_expr(self.program, expr, &mut |data| {
            stays &= match data.kind {
                ExprKind::Var(var) => self.is_new(var).is_some(),
                ExprKind::Field(HeaderRef::Header(header), _)
                | ExprKind::IsValid(HeaderRef::Header(header)) => {
                    !self.headers.contains_key(&header)
                }
                ExprKind::Field(..) | ExprKind::IsValid(_) => false,
                _ => true,
            };
        });
        stays
    }

    /// What each turn adds to a variable, if that is a constant.
    pub(super) fn step(&self, var: Var) -> Option<Bits> {
        let after = *self.values.get(&var)?;
        let ExprKind::Binary(op, base, by) = self.program.exprs[after].kind else {
            return None;
        };
        if self.program.exprs[base].kind != ExprKind::Var(var) {
            return None;
        }
        let by = eval::constant(self.program, by)?.to_bits();
        match op {
            BinaryOp::Add => Some(by),
            BinaryOp::Sub => Some(Bits::from_int(by.width(), &-by.to_signed())),
            _ => None,
        }
    }

    fn turn(self, parser: Parser, exits: Vec<(State, Exit)>) -> Option<Turn> {
        let mut found = None;
        let mut limits = Vec::new();
        let last = exits.last().map(|&(state, _)| state);
        let of_state = |state| exits.iter().filter(|(of, _)| *of == state).count();
        let alone = last.is_some_and(|state| of_state(state) == 1);
        for (state, exit) in exits {
            match exit {
                Exit::Short => {}
                Exit::After(turns) => limits.push(turns),
                Exit::Found { wanted, target } => {
                    if found.replace((state, wanted, target)).is_some() {
                        return None;
                    }
                }
            }
        }
        let (state, wanted, target) = found?;
        let pattern = pattern(&wanted, self.reach)?;
        let span = match &self.program.parsers[parser].states[state].transition {
            Transition::Select { cases, .. } => cases[target].span,
            Transition::To(_) => return None,
        };
        let mut vars: BTreeSet<Var> = self.windows.keys().chain(&self.fits).copied().collect();
        let mut counters = Vec::new();
        let assigned: BTreeSet<Var> = self.values.keys().copied().collect();
        for var in assigned {
            match self.step(var) {
                Some(step) => counters.push((var, step)),
                None => {
                    vars.insert(var);
                }
            }
        }
        Some(Turn {
            pattern,
            found: Step { state, target },
            is_last_test: alone && last == Some(state),
            limits,
            counters,
            vars,
            headers: self.headers.keys().copied().collect(),
            span,
        })
    }
}

/// Several values that must be there together as one, of which the last bit is at `end`: in every turn before the one in which
/// a path leaves, all is there that the turn asks for. Nothing if none of the bits matters, or two values contradict each other.
fn pattern(wanted: &[Wanted], end: u32) -> Option<Pattern> {
    let cared = || wanted.iter().filter(|(_, _, mask)| !mask.is_zero());
    let skip = cared().map(|(window, ..)| window.skip).min()?;
    let width = end.checked_sub(skip)?;
    let (mut value, mut mask) = (BigUint::ZERO, BigUint::ZERO);
    for (window, own_value, own_mask) in cared() {
        let behind = end.checked_sub(window.skip + window.width)?;
        let (own_value, own_mask) = (own_value.value() & own_mask.value(), own_mask.value());
        let (own_value, own_mask) = (own_value << behind, own_mask << behind);
        let both = &mask & &own_mask;
        if &value & &both != &own_value & &both {
            return None;
        }
        value |= own_value;
        mask |= own_mask;
    }
    Some(Pattern {
        value: Bits::new(width, value),
        mask: Bits::new(width, mask),
        skip,
    })
}
