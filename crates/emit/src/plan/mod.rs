//! What is decided before any C is made: where each header lives, how far the parser's cursor is known,
//! and what the deparser has to move.

pub mod carried;
pub mod cursor;
pub mod facts;
pub mod graph;
pub mod header_facts;
pub mod layout;
pub mod parse_record;
pub mod points;
pub mod reach;
pub mod rolled;
mod rolled_loops;
pub mod shapes;
pub mod state;

use crate::hints::Forms;
use crate::target::Target;
use carried::Carried;
use diag::Diagnostics;
use facts::Facts;
use graph::Graph;
use header_facts::HeaderFacts;
use ir::analysis::known::Members;
use ir::analysis::liveness::Liveness;
use ir::{Header, Parser, Program, Routine, Stage};
use layout::Layout;
use parse_record::ParseRecord;
use points::Points;
use rolled::Rolled;
use shapes::Shapes;
use state::State;
use std::collections::BTreeSet;

/// Where a header lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderStorage {
    /// In the packet, behind a pointer; fields are read and written where they lie.
    Packet,
    /// In one variable a field, loaded when it is extracted and written out by the deparser.
    Fields,
    /// In the packet, where the arrays of a stack that stays rolled say: see [`rolled`].
    Rolled,
}

/// The decisions.
#[derive(Debug)]
pub struct Plan {
    /// The parser.
    pub parser: Parser,
    /// What decides.
    pub controls: Vec<Routine>,
    /// The deparser.
    pub deparser: Option<Routine>,
    /// Where each header lives.
    pub storages: Vec<HeaderStorage>,
    /// The offset at which a header always is, where there is such.
    pub fixed_at: Vec<Option<u32>>,
    /// Headers that only extraction ever makes valid.
    pub only_extracted: Members,
    /// Headers that are made invalid somewhere.
    pub invalidated: Vec<bool>,
    /// The parser's states.
    pub graph: Graph,
    /// What is known about headers.
    pub points: Points,
    /// The emitted layout against the extracted one.
    pub layout: Layout,
    /// Which headers may be emitted together, if the deparser has code for each set of them.
    pub shapes: Option<Shapes>,
    /// What the program does to each header.
    pub facts: Facts,
    /// What may still be read after each statement.
    pub live: Liveness,
    /// The forms of the code.
    pub forms: Forms,
    /// What is in memory of what the parser leaves; `None` if all of it is in variables of the function.
    pub record: Option<ParseRecord>,
    /// The numbers that loops carry, where turns are not counted.
    pub carried: Carried,
    /// Header stacks that stay rolled.
    pub rolled: Rolled,
    /// What a copy of the packet begins with, if there may be copies that differ.
    pub state: Option<State>,
}

impl Plan {
    /// Plans a stage of a program for a target; `forced` headers live in variables.
    ///
    /// # Errors
    ///
    /// Diagnostics if the deparser cannot be planned.
    pub fn new<T: Target>(
        program: &Program,
        stage: &Stage,
        target: &mut T,
        forced: &BTreeSet<Header>,
    ) -> Result<Plan, Diagnostics> {
        let Stage {
            parser,
            ref controls,
            deparser,
            ..
        } = *stage;
        let graph = Graph::new(program, parser);
        let forms = target.forms(program, stage, &graph);
        let rolled = Rolled::new(program, &graph, parser);
        let facts = Facts::new(program, &graph, stage, &rolled, T::reads_packet);
        let only_extracted = facts.headers.iter().map(|h| h.only_extracted()).collect();
        let repeats_from = target.repeats_from(program, stage);
        let points = Points::new(program, stage, repeats_from, &only_extracted);
        let state = repeats_from.map(|first| State::new(program, stage, first));
        // A packet that something reads as it came is written at the end only; one that is put together several times has no
        // header that stays in it.
        let in_place = deparser.is_some() && !facts.packet_is_read;
        let storages = program
            .headers
            .keys()
            .map(|h| {
                if rolled.element(h).is_some() {
                    return HeaderStorage::Rolled;
                }
                let f = &facts.headers[h.as_u32() as usize];
                let packet = !f.sites.is_empty() && !f.repeated;
                let plain = f.only_extracted() && !f.dynamic_write;
                if packet
                    && state.is_none()
                    && plain
                    && (in_place || !f.written)
                    && !forms.copy_headers
                    && !forced.contains(&h)
                {
                    HeaderStorage::Packet
                } else {
                    HeaderStorage::Fields
                }
            })
            .collect::<Vec<_>>();
        let fixed_at = facts
            .headers
            .iter()
            .map(|f| {
                let first = *f.sites.first()?;
                f.sites.iter().all(|s| *s == first).then_some(first)?
            })
            .collect();
        let mut layout = match deparser {
            Some(d) => Layout::new(program, target, &facts, &graph, d, (&storages, &rolled))?,
            None => Layout::default(),
        };
        layout.fixed_if_untouched &= state.is_none();
        // Their arrays are in memory anyway, and turns of a loop are alike if all that they carry is.
        let record = (forms.record || !rolled.is_empty() || state.is_some())
            .then(|| ParseRecord::new(program, &graph, stage));
        // With a record the program is a large one, in which they are many.
        let shapes = match record {
            None => {
                let of = (&layout, &storages[..], &only_extracted);
                Shapes::new(program, stage, of, forms.short)
            }
            Some(_) => None,
        };
        let carried = match forms.turn_limit {
            None => Carried::new(program, &graph, stage, record.as_ref()),
            // They show that a loop ends.
            Some(_) => Carried::default(),
        };
        Ok(Plan {
            parser,
            controls: controls.clone(),
            deparser,
            storages,
            fixed_at,
            only_extracted,
            invalidated: facts.headers.iter().map(|h| h.invalidated).collect(),
            graph,
            points,
            layout,
            shapes,
            facts,
            live: Liveness::new(program),
            forms,
            record,
            carried,
            rolled,
            state,
        })
    }

    /// Where a header lives.
    pub fn storage(&self, h: Header) -> HeaderStorage {
        self.storages[h.as_u32() as usize]
    }

    /// Narrows what is known by a condition.
    pub fn refine(&self, facts: &mut HeaderFacts, program: &Program, cond: ir::Expr, truth: bool) {
        facts.refine(program, cond, truth);
        facts.valid_means_extracted(&self.only_extracted);
    }
}
