//! Effects of one iteration of a loop, in terms of the variables' values at its start.

use super::limit::{self, Exit};
use crate::analysis::parser_loops::PathStep;
use crate::rewrite::{Leaves, Rewriter};
use crate::*;
use diag::Span;
use num_bigint::BigUint;
use std::collections::{BTreeSet, HashMap};

/// Search and counters of a loop with a single path.
pub(super) struct SearchIteration {
    /// Pattern that is searched for, relative to the cursor at the iteration's start.
    pub(super) pattern: Pattern,
    /// Step that compares, with the target for a match.
    pub(super) found: PathStep,
    /// True if no later step of the iteration leaves the loop.
    pub(super) is_last_test: bool,
    /// Numbers of iterations after which counters leave the loop, one for each such test; `bit<32>`.
    pub(super) limits: Vec<Expr>,
    /// Counters: variables to which each iteration adds a constant, with the constants.
    pub(super) counters: Vec<(Var, Bits)>,
    /// Other variables that the iteration writes.
    pub(super) vars: BTreeSet<Var>,
    /// Headers that it extracts.
    pub(super) headers: BTreeSet<Header>,
    /// Location of the comparison in the source.
    pub(super) span: Span,
}

/// Bits of the packet, relative to the cursor at the iteration's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    skip: u32,
    width: u32,
}

/// Bits of the packet, the value they are compared with, and a mask.
pub(super) type Wanted = (Window, Bits, Bits);

/// State of the symbolic execution of an iteration.
pub(super) struct Walk<'a> {
    pub(super) program: &'a mut Program,
    /// Number of bits by which the cursor has moved.
    at: u32,
    /// End of the last bit that was read or tested for.
    reach: u32,
    /// Assigned values, in terms of the values at the iteration's start.
    values: HashMap<Var, Expr>,
    /// Bits that variables of look-aheads hold.
    windows: HashMap<Var, Window>,
    /// Variables with answers of [`StmtKind::Fits`].
    pub(super) fits: BTreeSet<Var>,
    /// Offsets of extracted headers in bits.
    headers: HashMap<Header, u32>,
}

/// Substitutes the values assigned in the iteration.
struct Assigned<'a>(&'a HashMap<Var, Expr>);

impl Leaves for Assigned<'_> {
    fn var(&mut self, _: &mut Program, var: Var) -> Option<Expr> {
        self.0.get(&var).copied()
    }
}

/// Analyses the only path of a loop; `None` if it is not a search.
pub(super) fn of(
    program: &mut Program,
    parser: Parser,
    steps: &[PathStep],
) -> Option<SearchIteration> {
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
    // Loop invariants are known only after the whole iteration.
    let mut exits: Vec<(State, Exit)> = Vec::new();
    for (step, keys, cases) in &selects {
        let of_step = limit::exits(&mut walk, keys, cases, step.target)?;
        exits.extend(of_step.into_iter().map(|exit| (step.state, exit)));
    }
    walk.iteration(parser, exits)
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

    /// Returns `None` if the iteration has written the variable before.
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

    /// Returns an expression in terms of the values at the iteration's start. Variables of look-aheads remain.
    pub(super) fn expr(&mut self, expr: Expr) -> Expr {
        Rewriter::new(self.program, Assigned(&self.values)).expr(expr)
    }

    /// Returns the bits of the packet that an expression reads.
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

    /// Returns the bits of the packet that an expression reads, and the mask that it applies to them.
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

    /// Returns true if an expression, in terms of the iteration's start, is a loop invariant.
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

    /// Returns the constant that each iteration adds to a variable, if it is one.
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

    fn iteration(self, parser: Parser, exits: Vec<(State, Exit)>) -> Option<SearchIteration> {
        let mut found = None;
        let mut limits = Vec::new();
        let last = exits.last().map(|&(state, _)| state);
        let of_state = |state| exits.iter().filter(|(of, _)| *of == state).count();
        let alone = last.is_some_and(|state| of_state(state) == 1);
        for (state, exit) in exits {
            match exit {
                Exit::Short => {}
                Exit::After(iterations) => limits.push(iterations),
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
        Some(SearchIteration {
            pattern,
            found: PathStep { state, target },
            is_last_test: alone && last == Some(state),
            limits,
            counters,
            vars,
            headers: self.headers.keys().copied().collect(),
            span,
        })
    }
}

/// Merges comparisons that must all hold into one pattern, whose last bit is at `end`. In every iteration that does not
/// leave the loop, all these bits are present. Returns `None` if all bits are masked, or if two comparisons contradict
/// each other.
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
