//! Where a block may be cut, and which runs of its statements become parts.

use super::Cutter;
use super::live::Set;
use super::mentions::Mentions;
use crate::tree::Stmt;
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// Of the size that a part may have, the share that a run of statements must have to be worth a call.
const WORTH: u32 = 16;

/// A run of statements.
pub(super) struct Chunk {
    /// How many they are.
    pub(super) length: usize,
    /// It becomes a part.
    pub(super) is_part: bool,
    /// Its labels that other code jumps to, in order.
    pub(super) entries: Vec<SmolStr>,
}

/// A label of the block, and the statements that jump to it.
#[derive(Default)]
struct Place {
    at: usize,
    /// It is a statement of the block, not in one.
    is_direct: bool,
    /// The statements of the block that jump to it, with how often.
    from: Vec<(usize, usize)>,
}

/// What keeps a block from being cut.
struct Bonds {
    /// How many reasons begin, less those that end, in front of each statement.
    forbidden: Vec<i64>,
    /// Statements that stay where they are.
    pinned: Vec<bool>,
}

impl Bonds {
    /// Statements that are to stay together, in whichever order.
    fn tie(&mut self, a: usize, b: usize) {
        let (first, last) = (a.min(b), a.max(b));
        if first < last {
            self.forbidden[first + 1] += 1;
            self.forbidden[last + 1] -= 1;
        }
    }
}

impl Cutter<'_> {
    /// The runs of a block's statements, in order. `points` has what is live in front of each.
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
            // Behind a call the C compiler would not see that the function returns.
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
            // What they are about follows them.
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
        (block, places): (&[Stmt], &HashMap<SmolStr, Place>),
        used: &Set,
        depth: u32,
    ) {
        // Of the statements in front of each.
        let mut sizes = vec![0];
        for stmt in block {
            sizes.push(sizes[sizes.len() - 1] + self.size(std::slice::from_ref(stmt)));
        }
        for (label, place) in places {
            let can_be_entered = place.is_direct && depth == 0;
            let is_live = self.live.at_label(label).meets(used);
            for &(from, _) in &place.from {
                // A loop is in one part, unless it is too large for that, or one of the function itself.
                let may_be_left = from < place.at
                    || self.form.again.contains(label)
                    || self.form.turn.is_some()
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

    /// Puts statements together that are not to be cut apart, and these to runs.
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
            let is_part = !bonds.pinned[begin..end].contains(&true);
            match runs.last_mut() {
                Some(last)
                    if last.is_part == is_part && (!is_part || size + own <= self.form.most) =>
                {
                    last.length += end - begin;
                    size += own;
                }
                _ => {
                    self.only_if_worth(runs.last_mut(), size);
                    size = own;
                    runs.push(Chunk {
                        length: end - begin,
                        is_part,
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
            run.is_part &= size > self.form.most / WORTH;
        }
    }
}

/// Where the block's labels are, and what jumps to them.
fn places(block: &[Stmt], mentions: &[Mentions]) -> HashMap<SmolStr, Place> {
    let mut places: HashMap<SmolStr, Place> = HashMap::new();
    for (at, found) in mentions.iter().enumerate() {
        for label in &found.labels {
            let place = Place {
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

/// A part has no variables in common with what is in front of it or behind it. Those that the block does not use are of no concern.
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

/// What the block declares is known in one part.
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
