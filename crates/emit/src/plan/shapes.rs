//! Which headers may be emitted together.
//!
//! What the deparser makes of a packet depends on which headers are valid. Where the paths to it leave only a few sets of
//! them, the layout of each is constant, however the program came to it.

use super::HeaderStorage;
use super::header_facts::{HeaderFacts, Known};
use super::layout::Layout;
use ir::analysis::dataflow::{self, After, Domain, Forward};
use ir::analysis::known::Members;
use ir::{Block, BlockBody, Expr, Header, Label, Program, Stage, Stmt, StmtKind};
use std::collections::BTreeSet;

/// Sets that the code distinguishes.
const SETS: usize = 4;

/// Sets that the analysis distinguishes on the way.
const ON_THE_WAY: usize = 16;

/// A header that is read from the packet and has more bytes does not fit into registers.
const IN_REGISTERS: u32 = 64;

/// The headers of one set, by the bits of their places among those that may have to move.
type Shape = u64;

/// The sets of headers that may have to move.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// The headers that may have to move, in the order of their emits.
    pub headers: Vec<Header>,
    /// Each set that can occur.
    pub sets: Vec<Shape>,
}

impl Shapes {
    /// The sets with which a stage's deparser ends; `None` if they are many, or if their layouts are not constant.
    pub fn new(
        program: &Program,
        stage: &Stage,
        (layout, storages, only_extracted): (&Layout, &[HeaderStorage], &Members),
        short: bool,
    ) -> Option<Shapes> {
        let mut headers = Vec::new();
        for emit in &layout.emits[..layout.relocated] {
            let ty = &program.header_types[program.headers[emit.header].ty];
            let large = ty.fixed_width() / 8 > IN_REGISTERS;
            let constant = match storages[emit.header.as_u32() as usize] {
                HeaderStorage::Packet => !large,
                HeaderStorage::Fields => true,
                HeaderStorage::Rolled => false,
            };
            if !constant || !emit.always || ty.varbit().is_some() || headers.contains(&emit.header)
            {
                return None;
            }
            headers.push(emit.header);
        }
        if headers.len() < 2 || headers.len() > Shape::BITS as usize {
            return None;
        }
        let mut finding = Finding {
            program,
            only_extracted,
            headers,
        };
        let mut blocks = stage.until_verdict();
        blocks.extend(stage.deparser.map(BlockBody::Deparser));
        let start = Sets(Some(BTreeSet::from([0])));
        let end = dataflow::forward_blocks(program, &mut finding, &blocks, Some(start))?;
        let sets: Vec<Shape> = end.0?.into_iter().collect();
        let shapes = Shapes {
            headers: finding.headers,
            sets,
        };
        shapes.are_few(short).then_some(shapes)
    }

    /// True if code for each set does not get longer than code that asks for each header, or not much longer unless it is to be
    /// short.
    fn are_few(&self, short: bool) -> bool {
        let emitted: u32 = self.sets.iter().map(|set| set.count_ones()).sum();
        let most = match short {
            false => 2 * self.headers.len(),
            true => self.headers.len(),
        };
        (1..=SETS).contains(&self.sets.len()) && emitted as usize <= most
    }

    /// A header that some of these sets have and some do not; nothing if there is one set.
    pub fn distinguishing(&self, sets: &[Shape]) -> Option<(Header, Vec<Shape>, Vec<Shape>)> {
        let parts = self.headers.iter().enumerate().map(|(at, &header)| {
            let (with, without): (Vec<Shape>, Vec<Shape>) =
                sets.iter().partition(|&&set| set >> at & 1 == 1);
            (header, with, without)
        });
        // As many on one side as on the other, so that few questions lead to each.
        parts
            .filter(|(_, with, without)| !with.is_empty() && !without.is_empty())
            .min_by_key(|(_, with, without)| with.len().abs_diff(without.len()))
    }

    /// What is known where these headers, and no others of those that may have to move, are valid.
    pub fn know(&self, set: Shape, facts: &mut HeaderFacts, only_extracted: &Members) {
        know(&self.headers, set, facts, only_extracted);
    }
}

fn know(headers: &[Header], set: Shape, facts: &mut HeaderFacts, only_extracted: &Members) {
    for (at, &header) in headers.iter().enumerate() {
        let known = match set >> at & 1 {
            1 => Known::Yes,
            _ => Known::No,
        };
        facts.set_valid(header, known);
    }
    facts.valid_means_extracted(only_extracted);
}

/// The sets that can occur at a point; `None` if they are not distinguished.
#[derive(Clone, PartialEq, Debug)]
struct Sets(Option<BTreeSet<Shape>>);

impl Sets {
    fn limited(sets: BTreeSet<Shape>) -> Sets {
        Sets((sets.len() <= ON_THE_WAY).then_some(sets))
    }
}

impl Domain for Sets {
    fn join(&mut self, other: &Sets) -> bool {
        let joined = match (&self.0, &other.0) {
            (Some(these), Some(those)) => Sets::limited(these | those),
            _ => Sets(None),
        };
        let changed = joined != *self;
        *self = joined;
        changed
    }
}

struct Finding<'a> {
    program: &'a Program,
    only_extracted: &'a Members,
    headers: Vec<Header>,
}

impl Finding<'_> {
    /// What is known where a set of headers is valid, and nothing of the others.
    fn facts(&self, set: Shape) -> HeaderFacts {
        let mut facts = HeaderFacts::unknown(self.program);
        know(&self.headers, set, &mut facts, self.only_extracted);
        facts
    }

    /// Each set that can become of one of these.
    fn each(&self, sets: Sets, change: impl Fn(&mut HeaderFacts)) -> Sets {
        let Some(sets) = sets.0 else {
            return Sets(None);
        };
        let mut after = BTreeSet::new();
        for set in sets {
            let mut facts = self.facts(set);
            change(&mut facts);
            let mut become_of = vec![0];
            for (at, &header) in self.headers.iter().enumerate() {
                match facts.valid(header) {
                    Known::No => {}
                    Known::Yes => become_of.iter_mut().for_each(|set| *set |= 1 << at),
                    Known::Maybe => {
                        let with: Vec<Shape> = become_of.iter().map(|set| set | 1 << at).collect();
                        become_of.extend(with);
                    }
                }
                if become_of.len() > ON_THE_WAY {
                    return Sets(None);
                }
            }
            after.extend(become_of);
        }
        Sets::limited(after)
    }
}

impl Forward for Finding<'_> {
    type Fact = Sets;

    fn branch(&mut self, cond: Expr, truth: bool, sets: &Sets) -> Option<Sets> {
        let Some(sets) = &sets.0 else {
            return Some(Sets(None));
        };
        let here = |&&set: &&Shape| self.facts(set).decide(self.program, cond) != Some(!truth);
        let sets: BTreeSet<Shape> = sets.iter().filter(here).copied().collect();
        (!sets.is_empty()).then_some(Sets(Some(sets)))
    }

    fn loop_head(&mut self, _: Label, body: &Block, sets: Sets) -> Sets {
        self.each(sets, |facts| facts.kill(self.program, body))
    }

    fn transfer(&mut self, stmt: &Stmt, sets: Sets) -> After<Sets> {
        if let StmtKind::Verify { cond, .. } = stmt.kind {
            return After {
                next: self.branch(cond, true, &sets),
                rejected: None,
                exited: None,
            };
        }
        After::next(self.each(sets, |facts| facts.step(self.program, stmt)))
    }
}
