//! A long function as several: runs of statements become functions of their own, its *parts*, which it calls in order.
//!
//! A part has no variables in common with the rest: it is cut only where none that it uses is live, so whatever has to last must be in
//! memory. A part may be entered at labels inside it, and left for labels outside of it: labels have numbers, which the
//! caller passes and the part returns. What it returns besides is in memory too ([`Form::result`]).

mod cuts;
mod live;
mod mentions;
mod spread;
#[cfg(test)]
mod tests;

use crate::tree::{Block, Expr, Stmt, Type};
use cuts::Chunk;
use live::{Around, Liveness, Set};
use mentions::Mentions;
use smol_str::SmolStr;
pub use spread::{Spread, spread};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Parts in parts in parts: beyond that, functions call each other too deeply.
const DEEPEST: u32 = 3;

/// What a part returns if the function is to return [`Form::result`].
pub const FINISHED: u64 = 0xffff_ffff;

/// How a function is to be cut.
pub struct Form<'a> {
    /// Its variables, as far as each part may have its own.
    pub variables: &'a HashSet<SmolStr>,
    /// What stays in the function itself: statements that mention one of these.
    pub kept: &'a HashSet<SmolStr>,
    /// Labels that code around the body jumps to.
    pub entered: &'a HashSet<SmolStr>,
    /// Labels where the loops begin that are cut inside: parts may go back there.
    pub again: &'a HashSet<SmolStr>,
    /// What comes in front of a jump back from one part to another, to leave a loop that has taken too long. Without it a loop is in one part.
    pub turn: Option<Stmt>,
    /// Whether a statement stays in the function itself, with what belongs to it, such as the label behind which the turns of such a loop are counted.
    pub stays: &'a dyn Fn(&Stmt) -> bool,
    /// The size that a part should not exceed.
    pub most: u32,
    /// How many parts there may be.
    pub count: usize,
    /// The size of statements.
    pub size: &'a dyn Fn(&[Stmt]) -> u32,
    /// Whether a statement is not to be cut inside.
    pub is_whole: &'a dyn Fn(&Stmt) -> bool,
    /// The arguments of a part in front of the number of the label at which it is entered.
    pub args: &'a [Expr],
    /// Where a part leaves what the function is to return.
    pub result: Expr,
}

/// A function that was part of another one.
#[derive(Debug)]
pub struct Part {
    /// Its name.
    pub name: SmolStr,
    /// The parameter for the number of the label where it is entered, 0 for its beginning; `None` if it only begins there.
    pub entered: Option<SmolStr>,
    /// Its variables, which are still to be declared.
    pub variables: BTreeSet<SmolStr>,
    /// What it does; it ends with a `return` of a number.
    pub body: Block,
}

/// What is around a part that is made.
#[derive(Clone, Copy)]
struct Places<'a> {
    /// Where the labels of this block's parts are to be entered.
    enter: &'a HashMap<SmolStr, SmolStr>,
    /// The labels of the part that follows at once.
    next: &'a [SmolStr],
    /// The labels in front of it.
    behind: &'a HashSet<SmolStr>,
}

/// The number of a label; 0 is where a part begins, and what it returns where it ends.
struct Numbers {
    labels: HashMap<SmolStr, u64>,
}

impl Numbers {
    fn of(&mut self, label: &SmolStr) -> u64 {
        let next = self.labels.len() as u64 + 1;
        *self.labels.entry(label.clone()).or_insert(next)
    }
}

struct Cutter<'a> {
    form: &'a Form<'a>,
    fresh: &'a mut dyn FnMut(&str) -> SmolStr,
    live: Liveness,
    numbers: Numbers,
    /// How many jumps lead to each label, all in all.
    jumps: HashMap<SmolStr, usize>,
    /// The variable for the number of a label.
    at: SmolStr,
    /// Jumps to labels that are in parts now: where to enter which.
    detours: Block,
    parts: Vec<Part>,
}

/// Cuts parts out of a function's body. Gives them, and the function's variable for the number of a label, if it is used: to be declared.
pub fn cut(
    body: &mut Block,
    form: &Form<'_>,
    fresh: &mut dyn FnMut(&str) -> SmolStr,
) -> (Vec<Part>, Option<SmolStr>) {
    let live = Liveness::new(body, form.variables.iter().cloned());
    let mut jumps = Mentions::of(body).jumps;
    for label in form.entered {
        *jumps.entry(label.clone()).or_default() += 1;
    }
    let at = fresh("enter_at");
    let mut cutter = Cutter {
        form,
        fresh,
        live,
        numbers: Numbers {
            labels: HashMap::new(),
        },
        jumps,
        at,
        detours: Block::new(),
        parts: Vec::new(),
    };
    let outer = form.kept.clone();
    cutter.block(body, Set::default(), &Around::default(), (&outer, 0));
    body.append(&mut cutter.detours);
    let used = Mentions::of(body).names.contains(&cutter.at);
    (cutter.parts, used.then_some(cutter.at))
}

impl Cutter<'_> {
    fn size(&self, block: &[Stmt]) -> u32 {
        (self.form.size)(block)
    }

    /// Cuts parts out of a block, whose statements may not leave it if they mention what is `kept`.
    fn block(
        &mut self,
        block: &mut Block,
        after: Set,
        around: &Around,
        (kept, depth): (&HashSet<SmolStr>, u32),
    ) {
        if self.size(block) <= self.form.most || depth > DEEPEST {
            return;
        }
        let points = self.live.points(block, after, around);
        let mut inner = kept.clone();
        inner.extend(block.iter().filter_map(|stmt| match stmt {
            Stmt::Decl { name, .. } => Some(name.clone()),
            _ => None,
        }));
        for (i, stmt) in block.iter_mut().enumerate() {
            let is_small = self.size(std::slice::from_ref(stmt)) <= self.form.most;
            if is_small || (self.form.is_whole)(stmt) {
                continue;
            }
            let (after, around) = self.live.inside(stmt, points[i + 1].clone(), around);
            for nested in crate::tidy::blocks_mut(stmt) {
                self.block(nested, after.clone(), &around, (&inner, depth + 1));
            }
        }
        let chunks = self.chunks(block, &points, kept, depth);
        self.replace(block, chunks, depth);
    }

    /// Puts calls in place of the chunks that become parts.
    fn replace(&mut self, block: &mut Block, mut chunks: Vec<Chunk>, depth: u32) {
        let mut left = self.form.count.saturating_sub(self.parts.len());
        for chunk in chunks.iter_mut().filter(|chunk| chunk.is_part) {
            chunk.is_part = left > 0;
            left = left.saturating_sub(1);
        }
        let stmts = std::mem::take(block);
        let mut stmts = stmts.into_iter();
        let mut cut: Vec<(Chunk, Block)> = chunks
            .into_iter()
            .map(|chunk| {
                let run = stmts.by_ref().take(chunk.length).collect();
                (chunk, run)
            })
            .collect();
        // Where the labels of this block's parts are to be entered.
        let mut enter: HashMap<SmolStr, SmolStr> = HashMap::new();
        for (chunk, _) in cut.iter().filter(|(chunk, _)| chunk.is_part && depth == 0) {
            let here = match chunk.entries.is_empty() {
                true => continue,
                false => (self.fresh)("enter_part"),
            };
            enter.extend(chunk.entries.iter().map(|l| (l.clone(), here.clone())));
        }
        let follows: Vec<Vec<SmolStr>> = (1..=cut.len())
            .map(|next| match cut.get(next) {
                Some((chunk, _)) if chunk.is_part => chunk.entries.clone(),
                _ => Vec::new(),
            })
            .collect();
        let mut behind = HashSet::new();
        for ((chunk, run), next) in cut.drain(..).zip(follows) {
            let begins = block.len();
            if chunk.is_part {
                let around = Places {
                    enter: &enter,
                    next: &next,
                    behind: &behind,
                };
                self.part(block, &chunk, run, around);
            } else {
                block.extend(run);
            }
            behind.extend(Mentions::of(&block[begins..]).labels);
        }
        if depth == 0 {
            self.detour(block, &enter);
        }
    }

    /// Makes a run of statements a function, and calls it.
    fn part(&mut self, out: &mut Block, chunk: &Chunk, run: Block, around: Places<'_>) {
        let Places {
            enter,
            next,
            behind,
        } = around;
        let mentions = Mentions::of(&run);
        let name = (self.fresh)("part");
        let mut body = Block::new();
        let numbered = |this: &mut Self, labels: &[SmolStr]| -> Vec<(u64, SmolStr)> {
            let numbers = labels.iter().map(|l| (this.numbers.of(l), l.clone()));
            numbers.collect()
        };
        let entries = numbered(self, &chunk.entries);
        if !entries.is_empty() {
            body.push(switch(Expr::Ident(self.at.clone()), jumps(&entries)));
        }
        body.extend(run);
        let finishes = returns(&mut body, &self.form.result);
        body.push(number(0));
        let own = &mentions.labels;
        let left: BTreeSet<SmolStr> = mentions.jumps.into_keys().collect();
        let left: Vec<SmolStr> = left.into_iter().filter(|l| !own.contains(l)).collect();
        let exits = numbered(self, &left);
        for (at, label) in &exits {
            body.push(Stmt::Label(label.clone()));
            body.push(number(*at));
        }
        let variables = mentions
            .names
            .into_iter()
            .filter(|name| self.form.variables.contains(name))
            .collect();
        // The call: the number that it gives is where the next part is entered.
        let is_entered = !entries.is_empty();
        let first = enter.get(chunk.entries.first().unwrap_or(&SmolStr::default()));
        out.extend(first.map(|label| Stmt::Label(label.clone())));
        let mut args = self.form.args.to_vec();
        let at = Expr::Ident(self.at.clone());
        args.extend(is_entered.then(|| at.clone()));
        let call = Expr::call(name.clone(), args);
        let mut cases: Vec<(u64, Block)> = Vec::new();
        for (number, label) in exits {
            if next.contains(&label) {
                continue;
            }
            let to = enter.get(&label).unwrap_or(&label).clone();
            let leads_back = behind.contains(&to) && !self.form.again.contains(&label);
            let turn = self.form.turn.clone().filter(|_| leads_back);
            let jump = turn.into_iter().chain([Stmt::Goto(to)]).collect();
            cases.push((number, jump));
        }
        if finishes {
            let result = self.form.result.clone();
            cases.push((FINISHED, vec![Stmt::Return(Some(result))]));
        }
        let cases = group(cases);
        if enter.is_empty() {
            out.push(match cases.is_empty() {
                true => Stmt::Expr(call),
                false => switch(call, cases),
            });
        } else {
            out.push(Stmt::Assign(at.clone(), call));
            if !cases.is_empty() {
                out.push(switch(at, cases));
            }
        }
        self.parts.push(Part {
            name,
            entered: is_entered.then(|| self.at.clone()),
            variables,
            body,
        });
    }

    /// Jumps of what stayed to labels that are in parts enter these.
    fn detour(&mut self, block: &mut Block, enter: &HashMap<SmolStr, SmolStr>) {
        let mut left: BTreeSet<SmolStr> = Mentions::of(block).jumps.into_keys().collect();
        left.extend(self.form.entered.iter().cloned());
        for label in left {
            if let Some(to) = enter.get(&label) {
                let number = self.numbers.of(&label);
                self.detours.extend([
                    Stmt::Label(label),
                    Stmt::Assign(Expr::Ident(self.at.clone()), Expr::int(number)),
                    Stmt::Goto(to.clone()),
                ]);
            }
        }
        let part_follows = |stmts: &[Stmt]| {
            let mut stmts = stmts.iter();
            let next = stmts.find(|s| !matches!(s, Stmt::Line { .. } | Stmt::Comment(_)));
            matches!(next, Some(Stmt::Label(l)) if enter.values().any(|to| to == l))
        };
        // Who comes to a part from above begins where it begins.
        let at = Expr::Ident(self.at.clone());
        let mut i = 0;
        while i < block.len() {
            let comes_with_number = i > 0
                && match &block[i - 1] {
                    Stmt::Assign(dst, _) => *dst == at,
                    Stmt::Switch { on, .. } => *on == at,
                    before => before.diverges(),
                };
            if part_follows(&block[i..=i]) && !comes_with_number {
                block.insert(i, Stmt::Assign(at.clone(), Expr::int(0)));
                i += 1;
            }
            i += 1;
        }
    }
}

/// `return number;`
fn number(number: u64) -> Stmt {
    Stmt::Return(Some(Expr::int(number)))
}

fn switch(on: Expr, cases: Vec<(Vec<Expr>, Block)>) -> Stmt {
    Stmt::Switch {
        on,
        cases,
        default: Block::new(),
    }
}

fn jumps(labels: &[(u64, SmolStr)]) -> Vec<(Vec<Expr>, Block)> {
    let case = |(number, label): &(u64, SmolStr)| {
        let jump = vec![Stmt::Goto(label.clone())];
        (vec![Expr::int(*number)], jump)
    };
    labels.iter().map(case).collect()
}

/// Cases that do the same are one.
fn group(cases: Vec<(u64, Block)>) -> Vec<(Vec<Expr>, Block)> {
    let mut grouped: Vec<(Vec<Expr>, Block)> = Vec::new();
    for (number, block) in cases {
        let number = Expr::int(number);
        match grouped.iter_mut().find(|(_, same)| *same == block) {
            Some((numbers, _)) => numbers.push(number),
            None => grouped.push((vec![number], block)),
        }
    }
    grouped
}

/// Has a part leave what the function is to return in memory; whether there is such.
fn returns(block: &mut Block, result: &Expr) -> bool {
    let mut found = false;
    let mut i = 0;
    while i < block.len() {
        for nested in crate::tidy::blocks_mut(&mut block[i]) {
            found |= returns(nested, result);
        }
        if let Stmt::Return(value) = &mut block[i] {
            found = true;
            let value = value.take();
            block[i] = number(FINISHED);
            if let Some(value) = value.filter(|value| value != result) {
                block.insert(i, Stmt::Assign(result.clone(), value));
                i += 1;
            }
        }
        i += 1;
    }
    found
}

/// The type of numbers of labels.
pub const NUMBER: Type = Type::U32;
