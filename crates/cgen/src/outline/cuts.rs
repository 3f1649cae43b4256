//! Positions at which a block may be cut, and the runs of its statements that become outlined functions.

use super::Cutter;
use super::live::Set;
use super::mentions::Mentions;
use crate::tree::Stmt;
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// Divisor of the size limit of an outlined function: a run of statements that is not larger than the quotient is not
/// worth a call.
const WORTH: u32 = 16;

/// A run of statements.
pub(super) struct Chunk {
    /// Number of statements.
    pub(super) length: usize,
    /// True if the run becomes an outlined function.
    pub(super) is_outlined: bool,
    /// Labels in the run that other code jumps to, in order.
    pub(super) entries: Vec<SmolStr>,
}

/// A label of the block, and the statements that jump to it.
#[derive(Default)]
struct LabelUses {
    at: usize,
    /// True if the label is a statement of the block itself, not of a nested block.
    is_direct: bool,
    /// Statements of the block that jump to the label, each with its number of jumps.
    from: Vec<(usize, usize)>,
}

/// Constraints on where a block may be cut.
struct Bonds {
    /// Change at each statement of the number of constraints that forbid a cut before it: +1 where one begins, -1
    /// where one ends.
    forbidden: Vec<i64>,
    /// True for each statement that stays in the function itself.
    pinned: Vec<bool>,
}

impl Bonds {
    /// Forbids cuts between two statements, given in either order.
    fn tie(&mut self, a: usize, b: usize) {
        let (first, last) = (a.min(b), a.max(b));
        if first < last {
            self.forbidden[first + 1] += 1;
            self.forbidden[last + 1] -= 1;
        }
    }
}

impl Cutter<'_> {
    /// Returns the runs of a block's statements, in order. `points` has the variables that are live before each
    /// statement.
    pub(super) fn chunks(
        &self,
        block: &[Stmt],
        points: &[Set],
        kept: &HashSet<SmolStr>,
        depth: u32,
    ) -> Vec<Chunk> {
        let mentions: Vec<Mentions> = block
            .chunks(1)
            .map(|stmt| {
                let mut found = Mentions::of(stmt);
                found.leaves |= !found.names.is_disjoint(kept);
                found
            })
            .collect();
        let places = places(block, &mentions);
        let mut bonds = Bonds {
            forbidden: vec![0; block.len() + 2],
            pinned: mentions.iter().map(|found| found.leaves).collect(),
        };
        for (at, stmt) in block.iter().enumerate() {
            bonds.pinned[at] |= (self.form.stays)(stmt);
        }
        if depth == 0 {
            // After a call, the C compiler would not see that the function returns.
            let end = block.iter().rposition(|stmt| {
                !matches!(stmt, Stmt::Label(_) | Stmt::Line { .. } | Stmt::Return(_))
            });
            bonds.pinned[end.map_or(0, |end| end + 1)..].fill(true);
            if let Some(last) = bonds.pinned.last_mut() {
                *last = true;
            }
        }
        let names = mentions.iter().flat_map(|found| &found.names);
        let used = self.live.variables(names);
        tie_live(&mut bonds, block, points, &used);
        tie_declared(&mut bonds, block, &mentions);
        for at in 1..block.len() {
            // These belong to the statement after them.
            if let Stmt::Label(_) | Stmt::Line { .. } | Stmt::Comment(_) = block[at - 1] {
                bonds.tie(at - 1, at);
            }
        }
        self.tie_jumps(&mut bonds, (block, &places), &used, depth);
        for (at, found) in mentions.iter().enumerate() {
            let mut out = found
                .jumps
                .keys()
                .filter(|label| !places.contains_key(*label));
            bonds.pinned[at] |= out.any(|label| self.live.at_label(label).meets(&used));
        }
        let mut chunks = self.runs(block, &bonds);
        let mut begin = 0;
        for chunk in &mut chunks {
            let end = begin + chunk.length;
            let outside = |label: &&SmolStr| {
                let within = places[*label].from.iter();
                let within = within.filter(|(from, _)| (begin..end).contains(from));
                let within: usize = within.map(|(_, jumps)| jumps).sum();
                self.jumps.get(*label).is_some_and(|&all| all > within)
            };
            let labels = block[begin..end].iter().filter_map(|stmt| match stmt {
                Stmt::Label(label) => Some(label),
                _ => None,
            });
            chunk.entries = labels.filter(outside).cloned().collect();
            begin = end;
        }
        chunks
    }

    fn tie_jumps(
        &self,
        bonds: &mut Bonds,
        (block, places): (&[Stmt], &HashMap<SmolStr, LabelUses>),
        used: &Set,
        depth: u32,
    ) {
        // Total size of the statements before each one.
        let mut sizes = vec![0];
        for stmt in block {
            sizes.push(sizes[sizes.len() - 1] + self.size(std::slice::from_ref(stmt)));
        }
        for (label, place) in places {
            let can_be_entered = place.is_direct && depth == 0;
            let is_live = self.live.at_label(label).meets(used);
            for &(from, _) in &place.from {
                // A loop stays in one outlined function, unless it is too large for one and its iterations are counted,
                // or the function lets it be cut.
                let may_be_left = from < place.at
                    || self.form.again.contains(label)
                    || self.form.iteration.is_some()
                        && sizes[from + 1] - sizes[place.at] > self.form.most;
                if !(can_be_entered && may_be_left) || is_live {
                    bonds.tie(from, place.at);
                }
            }
            let here: usize = place.from.iter().map(|(_, jumps)| jumps).sum();
            let from_outside = self.jumps.get(label).is_some_and(|&all| all > here);
            if from_outside && (!can_be_entered || is_live) {
                bonds.pinned[place.at] = true;
            }
        }
    }

    /// Joins statements that must not be separated, and then these groups into runs.
    fn runs(&self, block: &[Stmt], bonds: &Bonds) -> Vec<Chunk> {
        let mut runs: Vec<Chunk> = Vec::new();
        let mut size = 0;
        let mut begin = 0;
        let mut tied = 0;
        for end in 1..=block.len() {
            tied += bonds.forbidden[end];
            if tied > 0 && end < block.len() {
                continue;
            }
            let own = self.size(&block[begin..end]);
            let is_outlined = !bonds.pinned[begin..end].contains(&true);
            match runs.last_mut() {
                Some(last)
                    if last.is_outlined == is_outlined
                        && (!is_outlined || size + own <= self.form.most) =>
                {
                    last.length += end - begin;
                    size += own;
                }
                _ => {
                    self.only_if_worth(runs.last_mut(), size);
                    size = own;
                    runs.push(Chunk {
                        length: end - begin,
                        is_outlined,
                        entries: Vec::new(),
                    });
                }
            }
            begin = end;
        }
        self.only_if_worth(runs.last_mut(), size);
        runs
    }

    fn only_if_worth(&self, run: Option<&mut Chunk>, size: u32) {
        if let Some(run) = run {
            run.is_outlined &= size > self.form.most / WORTH;
        }
    }
}

/// Returns the position of each label of the block, with the statements that jump to it.
fn places(block: &[Stmt], mentions: &[Mentions]) -> HashMap<SmolStr, LabelUses> {
    let mut places: HashMap<SmolStr, LabelUses> = HashMap::new();
    for (at, found) in mentions.iter().enumerate() {
        for label in &found.labels {
            let place = LabelUses {
                at,
                is_direct: matches!(block[at], Stmt::Label(_)),
                from: Vec::new(),
            };
            places.insert(label.clone(), place);
        }
    }
    for (from, found) in mentions.iter().enumerate() {
        for (label, &jumps) in &found.jumps {
            if let Some(place) = places.get_mut(label) {
                place.from.push((from, jumps));
            }
        }
    }
    places
}

/// Forbids cuts where a variable that the block uses is live: an outlined function shares no variables with the code
/// before or after it.
fn tie_live(bonds: &mut Bonds, block: &[Stmt], points: &[Set], used: &Set) {
    let mut goes_on = true;
    for (i, stmt) in block.iter().enumerate() {
        match i.checked_sub(1) {
            _ if !goes_on || !points[i].meets(used) => {}
            Some(before) => bonds.tie(before, i),
            None => bonds.pinned[0] = true,
        }
        goes_on = match stmt {
            Stmt::Line { .. } | Stmt::Comment(_) => goes_on,
            _ => !stmt.diverges(),
        };
    }
    if let Some(last) = bonds.pinned.last_mut() {
        *last |= goes_on && points[block.len()].meets(used);
    }
}

/// Keeps each declaration in one outlined function with all statements that mention its name.
fn tie_declared(bonds: &mut Bonds, block: &[Stmt], mentions: &[Mentions]) {
    let mut last: HashMap<&SmolStr, usize> = HashMap::new();
    for (i, found) in mentions.iter().enumerate() {
        last.extend(found.names.iter().map(|name| (name, i)));
    }
    for (i, stmt) in block.iter().enumerate() {
        if let Stmt::Decl { name, .. } = stmt {
            bonds.tie(i, last[name]);
        }
    }
}
