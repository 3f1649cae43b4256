//! Outlining: cuts a long function into several. Runs of statements become functions of their own, its *outlined
//! functions*, which it calls in order.
//!
//! An outlined function shares no variables with the rest of the function. A cut is made only where no variable is live
//! that it uses; a value that must survive the cut is in memory. An outlined function may be entered at labels
//! inside it and left for labels outside of it. Labels have numbers for this: the caller passes the number of the label
//! to enter, and the outlined function returns the number of the label to continue at. The function's own result is
//! returned through memory ([`OutlineOptions::result`]).

mod chain;
mod cuts;
mod live;
mod mentions;
mod short_lived;
#[cfg(test)]
mod tests;

use crate::tree::{Block, Expr, Stmt, Type};
pub use chain::{Chain, chain};
use cuts::Chunk;
use live::{Around, Liveness, Set};
use mentions::Mentions;
pub use short_lived::short_lived;
use smol_str::SmolStr;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Return value of an outlined function after which the function returns [`OutlineOptions::result`].
pub const FINISHED: u64 = 0xffff_ffff;

/// Parameters of outlining.
pub struct OutlineOptions<'a> {
    /// Local variables of the function of which each outlined function may have its own instance.
    pub variables: &'a HashSet<SmolStr>,
    /// Names that keep statements in the function itself: a statement that mentions one is not outlined.
    pub kept: &'a HashSet<SmolStr>,
    /// Labels that code around the body jumps to.
    pub entered: &'a HashSet<SmolStr>,
    /// Heads of loops that may always be cut: outlined functions may jump back to them without
    /// [`OutlineOptions::iteration`].
    pub again: &'a HashSet<SmolStr>,
    /// Statement to insert before a jump back from one outlined function to an earlier one; it leaves a loop that runs
    /// too long. Without it, a loop stays in one outlined function.
    pub iteration: Option<Stmt>,
    /// Tests whether a statement stays in the function itself, together with the statements tied to it. An example
    /// is the label after which the iterations of such a loop are counted.
    pub stays: &'a dyn Fn(&Stmt) -> bool,
    /// Greatest nesting depth of blocks that outlined functions are cut from: below it, functions would call each other
    /// too deeply.
    pub deepest: u32,
    /// Size limit of an outlined function.
    pub most: u32,
    /// Maximum number of outlined functions.
    pub count: usize,
    /// Returns the size of statements.
    pub size: &'a dyn Fn(&[Stmt]) -> u32,
    /// Tests whether a statement must not be cut inside.
    pub is_whole: &'a dyn Fn(&Stmt) -> bool,
    /// Arguments of an outlined function, before the number of the label at which it is entered.
    pub args: &'a [Expr],
    /// Location in memory where an outlined function leaves the function's result.
    pub result: Expr,
}

/// An outlined function.
#[derive(Debug)]
pub struct OutlinedFunction {
    /// Its name.
    pub name: SmolStr,
    /// Parameter for the number of the label at which the outlined function is entered, 0 for its beginning. `None` if
    /// it is only entered at its beginning.
    pub entered: Option<SmolStr>,
    /// Variables that the outlined function uses and must declare.
    pub variables: BTreeSet<SmolStr>,
    /// Body; it returns the number of the label to continue at.
    pub body: Block,
}

/// Surroundings of an outlined function that is being made.
#[derive(Clone, Copy)]
struct Places<'a> {
    /// For each label inside an outlined function of this block: the label before its call.
    enter: &'a HashMap<SmolStr, SmolStr>,
    /// Labels of the outlined function that follows immediately.
    next: &'a [SmolStr],
    /// Labels that stand before the call: a jump to one of them leads back.
    behind: &'a HashSet<SmolStr>,
}

/// Numbers of labels. An outlined function called with 0 is entered at its beginning; one that returns 0 has reached
/// its end.
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
    form: &'a OutlineOptions<'a>,
    fresh: &'a mut dyn FnMut(&str) -> SmolStr,
    live: Liveness,
    numbers: Numbers,
    /// Number of jumps to each label in the whole function.
    jumps: HashMap<SmolStr, usize>,
    /// Variable that holds the number of a label.
    at: SmolStr,
    /// Entries of labels that are now inside outlined functions: each sets the label's number and jumps to the
    /// function's call.
    detours: Block,
    functions: Vec<OutlinedFunction>,
}

/// Outlines functions from a function's body. Returns them, and the variable of the function that holds the number of a
/// label, if it is used; the caller declares it.
pub fn cut(
    body: &mut Block,
    form: &OutlineOptions<'_>,
    fresh: &mut dyn FnMut(&str) -> SmolStr,
) -> (Vec<OutlinedFunction>, Option<SmolStr>) {
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
        functions: Vec::new(),
    };
    let outer = form.kept.clone();
    cutter.block(body, Set::default(), &Around::default(), (&outer, 0));
    body.append(&mut cutter.detours);
    let used = Mentions::of(body).names.contains(&cutter.at);
    (cutter.functions, used.then_some(cutter.at))
}

/// Returns those variables of a function whose value at its start may be read. Each is given with its number of limbs.
/// `entered` are labels that code before the body jumps to.
pub fn live_at_start(
    body: &[Stmt],
    variables: &HashMap<SmolStr, usize>,
    entered: &HashSet<SmolStr>,
) -> HashSet<SmolStr> {
    let sized = variables.iter().map(|(name, limbs)| (name.clone(), *limbs));
    let mut live = Liveness::of_limbs(body, sized);
    let mut start = live.points(body, Set::default(), &Around::default());
    let mut read = start.swap_remove(0);
    for label in entered {
        read.add(&live.at_label(label));
    }
    let is_read = |name: &&SmolStr| live.variables(std::iter::once(*name)).meets(&read);
    variables.keys().filter(is_read).cloned().collect()
}

impl Cutter<'_> {
    fn size(&self, block: &[Stmt]) -> u32 {
        (self.form.size)(block)
    }

    /// Outlines runs of a block's statements. Statements that mention a name in `kept` stay in the block.
    fn block(
        &mut self,
        block: &mut Block,
        after: Set,
        around: &Around,
        (kept, depth): (&HashSet<SmolStr>, u32),
    ) {
        if self.size(block) <= self.form.most || depth > self.form.deepest {
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

    /// Replaces the chunks that become outlined functions by calls.
    fn replace(&mut self, block: &mut Block, mut chunks: Vec<Chunk>, depth: u32) {
        let mut left = self.form.count.saturating_sub(self.functions.len());
        for chunk in chunks.iter_mut().filter(|chunk| chunk.is_outlined) {
            chunk.is_outlined = left > 0;
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
        // For each label inside an outlined function of this block: the label before its call.
        let mut enter: HashMap<SmolStr, SmolStr> = HashMap::new();
        for (chunk, _) in cut
            .iter()
            .filter(|(chunk, _)| chunk.is_outlined && depth == 0)
        {
            let here = match chunk.entries.is_empty() {
                true => continue,
                false => (self.fresh)("enter_part"),
            };
            enter.extend(chunk.entries.iter().map(|l| (l.clone(), here.clone())));
        }
        let follows: Vec<Vec<SmolStr>> = (1..=cut.len())
            .map(|next| match cut.get(next) {
                Some((chunk, _)) if chunk.is_outlined => chunk.entries.clone(),
                _ => Vec::new(),
            })
            .collect();
        let mut behind = HashSet::new();
        for ((chunk, run), next) in cut.drain(..).zip(follows) {
            let begins = block.len();
            if chunk.is_outlined {
                let around = Places {
                    enter: &enter,
                    next: &next,
                    behind: &behind,
                };
                self.outline(block, &chunk, run, around);
            } else {
                block.extend(run);
            }
            behind.extend(Mentions::of(&block[begins..]).labels);
        }
        if depth == 0 {
            self.detour(block, &enter);
        }
    }

    /// Makes a function of a run of statements, and emits its call.
    fn outline(&mut self, out: &mut Block, chunk: &Chunk, run: Block, around: Places<'_>) {
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
        // The call. It returns the number with which the next outlined function is entered.
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
            let iteration = self.form.iteration.clone().filter(|_| leads_back);
            let jump = iteration.into_iter().chain([Stmt::Goto(to)]).collect();
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
        self.functions.push(OutlinedFunction {
            name,
            entered: is_entered.then(|| self.at.clone()),
            variables,
            body,
        });
    }

    /// Redirects jumps of the remaining code to labels inside outlined functions: they enter the function by the
    /// label's number.
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
        let outlined_follows = |stmts: &[Stmt]| {
            let mut stmts = stmts.iter();
            let next = stmts.find(|s| !matches!(s, Stmt::Line { .. } | Stmt::Comment(_)));
            matches!(next, Some(Stmt::Label(l)) if enter.values().any(|to| to == l))
        };
        // Code that reaches an outlined function's call by falling through enters it at its beginning.
        let at = Expr::Ident(self.at.clone());
        let mut i = 0;
        while i < block.len() {
            let comes_with_number = i > 0
                && match &block[i - 1] {
                    Stmt::Assign(dst, _) => *dst == at,
                    Stmt::Switch { on, .. } => *on == at,
                    before => before.diverges(),
                };
            if outlined_follows(&block[i..=i]) && !comes_with_number {
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

/// Merges cases with equal blocks.
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

/// Has an outlined function leave the function's result in memory instead of returning it. Returns true if there is a
/// `return` to replace.
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

/// Type of label numbers.
pub const NUMBER: Type = Type::U32;
