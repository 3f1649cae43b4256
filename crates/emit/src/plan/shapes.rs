//! Sets of headers that may be emitted together.
//!
//! The packet that the deparser makes depends on which headers are valid. If the paths to the deparser leave only a
//! few sets of valid headers, the layout of each set is constant, whatever path was taken.

use super::HeaderStorage;
use super::header_facts::{HeaderFacts, Known};
use super::layout::DeparserLayout;
use ir::analysis::dataflow::{self, After, Domain, Forward};
use ir::analysis::known::Members;
use ir::{Block, BlockBody, Expr, Header, Label, Program, Stage, Stmt, StmtKind};
use std::collections::BTreeSet;

/// Greatest number of sets that the code distinguishes.
const SETS: usize = 4;

/// Greatest number of sets that the analysis distinguishes at a point.
const ON_THE_WAY: usize = 16;

/// Greatest size, in bytes, of a header read from the packet that fits into registers.
const IN_REGISTERS: u32 = 64;

/// Headers of one set, as bits: the position of each is that among the headers that may have to move.
type HeaderSet = u64;

/// Sets of the headers that may have to move.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// The headers that may have to move, in the order of their emits.
    pub headers: Vec<Header>,
    /// Sets that can occur.
    pub sets: Vec<HeaderSet>,
}

impl Shapes {
    /// Computes the sets at the end of a stage's deparser; `None` if they are too many, or if their layouts are not
    /// constant.
    pub fn new(
        program: &Program,
        stage: &Stage,
        (layout, storages, only_extracted): (&DeparserLayout, &[HeaderStorage], &Members),
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
        if headers.len() < 2 || headers.len() > HeaderSet::BITS as usize {
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
        let sets: Vec<HeaderSet> = end.0?.into_iter().collect();
        let shapes = Shapes {
            headers: finding.headers,
            sets,
        };
        shapes.are_few(short).then_some(shapes)
    }

    /// Returns true if code for each set is not longer than code that tests each header. If `short` is false, it
    /// may be a little longer.
    fn are_few(&self, short: bool) -> bool {
        let emitted: u32 = self.sets.iter().map(|set| set.count_ones()).sum();
        let most = match short {
            false => 2 * self.headers.len(),
            true => self.headers.len(),
        };
        (1..=SETS).contains(&self.sets.len()) && emitted as usize <= most
    }

    /// Returns a header that some of these sets have and others do not, with both groups of sets; `None` if there
    /// is only one set.
    pub fn distinguishing(
        &self,
        sets: &[HeaderSet],
    ) -> Option<(Header, Vec<HeaderSet>, Vec<HeaderSet>)> {
        let parts = self.headers.iter().enumerate().map(|(at, &header)| {
            let (with, without): (Vec<HeaderSet>, Vec<HeaderSet>) =
                sets.iter().partition(|&&set| set >> at & 1 == 1);
            (header, with, without)
        });
        // The most even split, so that few tests lead to each set.
        parts
            .filter(|(_, with, without)| !with.is_empty() && !without.is_empty())
            .min_by_key(|(_, with, without)| with.len().abs_diff(without.len()))
    }

    /// Sets the facts that hold if these headers are valid, and none of the others that may have to move.
    pub fn know(&self, set: HeaderSet, facts: &mut HeaderFacts, only_extracted: &Members) {
        know(&self.headers, set, facts, only_extracted);
    }
}

fn know(headers: &[Header], set: HeaderSet, facts: &mut HeaderFacts, only_extracted: &Members) {
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
struct Sets(Option<BTreeSet<HeaderSet>>);

impl Sets {
    fn limited(sets: BTreeSet<HeaderSet>) -> Sets {
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
    /// Returns the facts that hold if a set of headers is valid, with nothing known about other headers.
    fn facts(&self, set: HeaderSet) -> HeaderFacts {
        let mut facts = HeaderFacts::unknown(self.program);
        know(&self.headers, set, &mut facts, self.only_extracted);
        facts
    }

    /// Applies a change of facts to each set, and returns the sets that can result.
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
                        let with: Vec<HeaderSet> =
                            become_of.iter().map(|set| set | 1 << at).collect();
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
        let here = |&&set: &&HeaderSet| self.facts(set).decide(self.program, cond) != Some(!truth);
        let sets: BTreeSet<HeaderSet> = sets.iter().filter(here).copied().collect();
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
