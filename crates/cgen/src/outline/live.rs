//! Liveness of a function's variables, through its jumps.

use crate::tree::{Expr, Stmt};
use smol_str::SmolStr;
use std::collections::HashMap;

/// A set of variables, as a bit vector.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, variable: usize) {
        let word = variable / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (variable % 64);
    }

    fn remove(&mut self, variable: usize) {
        if let Some(word) = self.0.get_mut(variable / 64) {
            *word &= !(1 << (variable % 64));
        }
    }

    /// Adds the members of another set; returns true if there were new ones.
    pub(super) fn add(&mut self, other: &Set) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut new = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        new
    }

    /// Returns true if the set has no members.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Returns true if the sets have a member in common.
    pub(super) fn meets(&self, other: &Set) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
}

/// Variables that are live at the targets of `break` and `continue`.
#[derive(Clone, Default)]
pub(super) struct Around {
    breaks: Set,
    continues: Set,
}

/// Numbers of a variable in sets: one for each limb of an array whose limbs are distinguished, else a single one.
#[derive(Clone, Copy, Debug)]
struct Bits {
    first: usize,
    limbs: usize,
}

impl Bits {
    /// Returns the numbers of all limbs.
    fn all(self) -> std::ops::Range<usize> {
        self.first..self.first + self.limbs
    }
}

/// The variables that are live at labels.
#[derive(Default)]
pub(super) struct Liveness {
    variables: HashMap<SmolStr, Bits>,
    labels: HashMap<SmolStr, Set>,
    changed: bool,
}

impl Liveness {
    /// Analyses the liveness of these variables in a function's body.
    pub(super) fn new(body: &[Stmt], variables: impl Iterator<Item = SmolStr>) -> Liveness {
        Liveness::of_limbs(body, variables.map(|name| (name, 1)))
    }

    /// Analyses the liveness of these variables, each with its number of limbs. The limbs of an array are distinguished
    /// where their indices are constants.
    pub(super) fn of_limbs(
        body: &[Stmt],
        variables: impl Iterator<Item = (SmolStr, usize)>,
    ) -> Liveness {
        let mut live = Liveness::default();
        let mut first = 0;
        for (name, limbs) in variables {
            live.variables.insert(name, Bits { first, limbs });
            first += limbs;
        }
        loop {
            live.changed = false;
            live.block(body, Set::default(), &Around::default());
            if !live.changed {
                return live;
            }
        }
    }

    /// Returns the set of those names that are variables.
    pub(super) fn variables<'n>(&self, names: impl Iterator<Item = &'n SmolStr>) -> Set {
        let mut set = Set::default();
        for variable in names.filter_map(|name| self.variables.get(name)) {
            variable.all().for_each(|bit| set.insert(bit));
        }
        set
    }

    /// Variables that are live at a label.
    pub(super) fn at_label(&self, label: &SmolStr) -> Set {
        self.labels.get(label).cloned().unwrap_or_default()
    }

    /// Variables that are live before each statement of a block, and after the last.
    pub(super) fn points(&mut self, block: &[Stmt], after: Set, around: &Around) -> Vec<Set> {
        let mut points = vec![after];
        for stmt in block.iter().rev() {
            let after = points[points.len() - 1].clone();
            points.push(self.stmt(stmt, after, around));
        }
        points.reverse();
        points
    }

    /// Variables that are live at the end of a statement's blocks, and at the targets of their `break` and
    /// `continue`.
    pub(super) fn inside(&mut self, stmt: &Stmt, after: Set, around: &Around) -> (Set, Around) {
        match stmt {
            Stmt::Loop(body) => {
                let head = self.head(body, &after);
                let around = Around {
                    breaks: after,
                    continues: head.clone(),
                };
                (head, around)
            }
            Stmt::Switch { .. } => {
                let around = Around {
                    breaks: after.clone(),
                    continues: around.continues.clone(),
                };
                (after, around)
            }
            _ => (after, around.clone()),
        }
    }

    fn block(&mut self, block: &[Stmt], after: Set, around: &Around) -> Set {
        let stmts = block.iter().rev();
        stmts.fold(after, |live, stmt| self.stmt(stmt, live, around))
    }

    /// Variables that are live at the head of a loop.
    fn head(&mut self, body: &[Stmt], after: &Set) -> Set {
        let mut head = Set::default();
        loop {
            let around = Around {
                breaks: after.clone(),
                continues: head.clone(),
            };
            let begins = self.block(body, head.clone(), &around);
            if !head.add(&begins) {
                return head;
            }
        }
    }

    /// Variables that are live before a statement, given those live after it.
    fn stmt(&mut self, stmt: &Stmt, mut live: Set, around: &Around) -> Set {
        match stmt {
            Stmt::Line { .. } | Stmt::Comment(_) => {}
            Stmt::Expr(e) | Stmt::Hint { on: e, .. } => self.read(e, &mut live),
            Stmt::MayJump { args, label, .. } => {
                live.add(&self.at_label(label));
                args.iter().for_each(|arg| self.read(arg, &mut live));
            }
            Stmt::Assign(dst, value) => {
                self.written(dst, &mut live);
                self.read(value, &mut live);
            }
            Stmt::Update(_, dst, value) => {
                self.read(dst, &mut live);
                self.read(value, &mut live);
            }
            Stmt::Decl { name, init, .. } => {
                if let Some(variable) = self.variables.get(name) {
                    variable.all().for_each(|bit| live.remove(bit));
                }
                if let Some(init) = init {
                    self.read(init, &mut live);
                }
            }
            Stmt::If(cond, yes, no) => {
                let mut both = self.block(yes, live.clone(), around);
                both.add(&self.block(no, live, around));
                live = both;
                self.read(cond, &mut live);
            }
            Stmt::Switch { on, cases, default } => {
                let (after, around) = self.inside(stmt, live, around);
                live = self.block(default, after.clone(), &around);
                for (_, case) in cases {
                    live.add(&self.block(case, after.clone(), &around));
                }
                self.read(on, &mut live);
            }
            Stmt::Loop(body) => live = self.head(body, &live),
            Stmt::Block(block) => live = self.block(block, live, around),
            Stmt::Label(label) => {
                let known = self.labels.entry(label.clone()).or_default();
                self.changed |= known.add(&live);
            }
            Stmt::Goto(label) => live = self.at_label(label),
            Stmt::Break => live = around.breaks.clone(),
            Stmt::Continue => live = around.continues.clone(),
            Stmt::Return(value) => {
                live = Set::default();
                if let Some(value) = value {
                    self.read(value, &mut live);
                }
            }
        }
        live
    }

    /// Handles a write. A write to a part of a variable kills that limb, or nothing if limbs are not distinguished.
    fn written(&self, dst: &Expr, live: &mut Set) {
        match (dst, self.limb(dst)) {
            (_, Some(limb)) => live.remove(limb),
            (Expr::Ident(name), None) => {
                if let Some(variable) = self.variables.get(name) {
                    variable.all().for_each(|bit| live.remove(bit));
                }
            }
            _ => self.read(dst, live),
        }
    }

    fn read(&self, e: &Expr, live: &mut Set) {
        if let Some(limb) = self.limb(e) {
            return live.insert(limb);
        }
        if let Expr::Ident(name) = e
            && let Some(variable) = self.variables.get(name)
        {
            variable.all().for_each(|bit| live.insert(bit));
        }
        for part in e.parts() {
            self.read(part, live);
        }
    }

    /// Returns the number of an array's limb.
    fn limb(&self, e: &Expr) -> Option<usize> {
        let Expr::Index(array, index) = e else {
            return None;
        };
        let (Expr::Ident(name), Expr::Int { value, .. }) = (&**array, &**index) else {
            return None;
        };
        let variable = self.variables.get(name)?;
        let limb = usize::try_from(*value).ok()?;
        (variable.limbs > 1 && limb < variable.limbs).then_some(variable.first + limb)
    }
}
