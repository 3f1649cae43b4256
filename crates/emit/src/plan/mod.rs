//! Decisions made before any C is generated: the storage of each header, how far the parser's cursor is known, and
//! what the deparser has to move.

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
use layout::DeparserLayout;
use parse_record::ParseRecord;
use points::Points;
use rolled::Rolled;
use shapes::Shapes;
use state::CopyState;
use std::collections::BTreeSet;

/// Storage of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderStorage {
    /// In the packet, accessed through a pointer; fields are read and written in place.
    Packet,
    /// In one variable for each field, loaded at extraction and written back by the deparser.
    Fields,
    /// In the packet, at the offsets in the arrays of a rolled stack: see [`rolled`].
    Rolled,
}

/// Decisions about a stage.
#[derive(Debug)]
pub struct Plan {
    /// The parser.
    pub parser: Parser,
    /// The controls, in order.
    pub controls: Vec<Routine>,
    /// The deparser.
    pub deparser: Option<Routine>,
    /// Storage of each header.
    pub storages: Vec<HeaderStorage>,
    /// Offset of each header, if it is constant.
    pub fixed_at: Vec<Option<u32>>,
    /// Headers that only extraction ever makes valid.
    pub only_extracted: Members,
    /// True for each header that is made invalid somewhere.
    pub invalidated: Vec<bool>,
    /// Graph of the parser's states.
    pub graph: Graph,
    /// Facts about headers at each point.
    pub points: Points,
    /// Comparison of the emitted layout with the extracted one.
    pub layout: DeparserLayout,
    /// Sets of headers that may be emitted together, if the deparser has code for each set.
    pub shapes: Option<Shapes>,
    /// Uses of each header in the program.
    pub facts: Facts,
    /// Liveness after each statement.
    pub live: Liveness,
    /// Variants of the code.
    pub forms: Forms,
    /// Results of the parser that are kept in memory; `None` if all of them are in variables of the function.
    pub record: Option<ParseRecord>,
    /// Numbers that loops carry, if iterations are not counted.
    pub carried: Carried,
    /// Header stacks that stay rolled.
    pub rolled: Rolled,
    /// State that a copy of the packet begins with, if there may be copies that differ.
    pub state: Option<CopyState>,
}

impl Plan {
    /// Plans a stage of a program for a target. Headers in `forced` live in variables.
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
        let state = repeats_from.map(|first| CopyState::new(program, stage, first));
        // If something reads the packet as it came in, the packet is written only at the end. If it is put together
        // several times, no header can stay in it.
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
            Some(d) => {
                DeparserLayout::new(program, target, &facts, &graph, d, (&storages, &rolled))?
            }
            None => DeparserLayout::default(),
        };
        layout.fixed_if_untouched &= state.is_none();
        // The arrays of rolled stacks are in memory anyway, and a loop's iterations are alike if all that they
        // carry is, too.
        let record = (forms.record || !rolled.is_empty() || state.is_some())
            .then(|| ParseRecord::new(program, &graph, stage));
        // A program with a record is large, and has many sets.
        let shapes = match record {
            None => {
                let of = (&layout, &storages[..], &only_extracted);
                Shapes::new(program, stage, of, forms.short)
            }
            Some(_) => None,
        };
        let carried = match forms.iteration_limit {
            None => Carried::new(program, &graph, stage, record.as_ref()),
            // Their known values show that a loop ends.
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

    /// Returns the storage of a header.
    pub fn storage(&self, h: Header) -> HeaderStorage {
        self.storages[h.as_u32() as usize]
    }

    /// Refines facts by the outcome of a condition.
    pub fn refine(&self, facts: &mut HeaderFacts, program: &Program, cond: ir::Expr, truth: bool) {
        facts.refine(program, cond, truth);
        facts.valid_means_extracted(&self.only_extracted);
    }
}
