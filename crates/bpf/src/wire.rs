//! Bytes of a packet that a program may read and change. Targets that share the packet with a network stack have to
//! know them.

use emit::plan::cursor::{const_bits, header_bytes, moves};
use emit::plan::facts::Facts;
use emit::plan::graph::Graph;
use emit::plan::header_facts::{Known, instances};
use emit::plan::layout::DeparserLayout;
use emit::plan::points::Points;
use emit::plan::{HeaderStorage, Plan};
use ir::analysis::dataflow::{self, After, Domain, Forward};
use ir::{
    Block, Header, HeaderRef, Label, Parser, Place, Program, Stmt, StmtKind, visit, visit::Access,
};
use std::ops::Range;

/// Bits of an Ethernet header: the EtherType's, and the destination address's.
const TYPE: Range<u32> = 96..112;
const DESTINATION: Range<u32> = 0..48;

/// Bytes of the packet that the program may read or change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire {
    /// Largest offset that the parser may read up to, in bytes; `None` if there is no bound.
    pub reads: Option<u32>,
    /// True if the parser does something that must not be done twice, or asks how much of the packet is left.
    pub parser_acts: bool,
    /// True if bytes of the packet may change.
    pub writes: bool,
    /// True if the packet's EtherType may change.
    pub changes_type: bool,
    /// True if the packet's destination address may change.
    pub changes_destination: bool,
}

impl Wire {
    /// Computes it from a program and its plan.
    pub(crate) fn new(program: &Program, plan: &Plan) -> Wire {
        let Plan {
            parser,
            facts,
            graph,
            points,
            layout,
            storages,
            ..
        } = plan;
        let parser = *parser;
        let written = program.headers.keys().any(|h| {
            let at = h.as_u32() as usize;
            storages[at] != HeaderStorage::Fields && facts.headers[at].written
        });
        let writes = written || !layout.is_empty();
        let changes = |bits| writes && !keeps(program, facts, points, layout, bits);
        Wire {
            reads: reads(program, parser, graph),
            parser_acts: acts(program, parser, graph),
            writes,
            changes_type: changes(TYPE),
            changes_destination: changes(DESTINATION),
        }
    }
}

/// Returns the largest offset that the parser may read up to, in bytes.
fn reads(program: &Program, parser: Parser, graph: &Graph) -> Option<u32> {
    if graph.states.iter().any(|info| info.cyclic) {
        return None;
    }
    let mut reading = Reading {
        program,
        furthest: Some(0),
    };
    dataflow::forward_parser(program, &mut reading, parser, Furthest(Some(0)));
    reading.furthest
}

/// Largest offset of the cursor, in bytes; `None` if there is no bound.
#[derive(Clone, PartialEq, Eq)]
struct Furthest(Option<u32>);

impl Domain for Furthest {
    fn join(&mut self, other: &Furthest) -> bool {
        let joined = self.0.zip(other.0).map(|(a, b)| a.max(b));
        let changed = joined != self.0;
        self.0 = joined;
        changed
    }
}

struct Reading<'a> {
    program: &'a Program,
    furthest: Option<u32>,
}

impl Forward for Reading<'_> {
    type Fact = Furthest;

    fn loop_head(&mut self, _: Label, body: &Block, at: Furthest) -> Furthest {
        if moves(self.program, body) {
            self.furthest = None;
            return Furthest(None);
        }
        at
    }

    fn transfer(&mut self, stmt: &Stmt, Furthest(at): Furthest) -> After<Furthest> {
        let program = self.program;
        let plus = |more: Option<u32>| at?.checked_add(more?);
        let (next, read) = match &stmt.kind {
            StmtKind::Extract { header, varbit } => {
                let most = varbit.map_or(0, |_| varbit_bytes(program, *header));
                let end = plus(header_bytes(program, *header).checked_add(most));
                (end, end)
            }
            StmtKind::Lookahead { place, skip } => {
                let bits = skip + program.place_type(*place).map_or(0, |ty| ty.width());
                (at, plus(Some(bits.div_ceil(8))))
            }
            StmtKind::Advance(by) => {
                let end = plus(const_bits(program, *by).map(|bits| bits / 8));
                (end, end)
            }
            StmtKind::SkipAhead { .. } => (None, None),
            // The result of `Fits` must not depend on how much of the packet is linear.
            StmtKind::Fits { bits, .. } => match const_bits(program, *bits) {
                Some(bits) => (at, plus(Some(bits.div_ceil(8)))),
                // This compares with the whole packet's length.
                None => (at, at),
            },
            StmtKind::Search { .. } | StmtKind::Automaton { .. } => (None, None),
            _ => (at, at),
        };
        self.furthest = self.furthest.zip(read).map(|(a, b)| a.max(b));
        After::next(Furthest(next))
    }
}

fn varbit_bytes(program: &Program, header: HeaderRef) -> u32 {
    program
        .header_layout(header)
        .and_then(|l| l.varbit().map(|v| l.fields[v as usize].ty.width()))
        .unwrap_or(0)
        .div_ceil(8)
}

/// Returns true if the parser calls externs that do something, or asks how much is left.
fn acts(program: &Program, parser: Parser, graph: &Graph) -> bool {
    let states = &program.parsers[parser].states;
    let mut any = false;
    for info in &graph.states {
        visit::walk_block(&states[info.state].body, &mut |s| {
            any |= matches!(
                s.kind,
                StmtKind::Extern(_) | StmtKind::Fits { .. } | StmtKind::SkipAhead { .. }
            );
        });
    }
    any
}

/// Tests whether a range of bits of the packet's first header stays. This is so if the first header that comes in is
/// the first one that goes out, and the program writes to no field that has one of these bits.
fn keeps(
    program: &Program,
    facts: &Facts,
    points: &Points,
    layout: &DeparserLayout,
    bits: Range<u32>,
) -> bool {
    let Some(first) = layout.emits.first().filter(|e| e.always) else {
        return false;
    };
    let h = first.header;
    let of = &facts.headers[h.as_u32() as usize];
    let extracted = points
        .accepted
        .as_ref()
        .is_some_and(|facts| facts.valid(h) == Known::Yes);
    let fields = &program.header_types[program.headers[h].ty].fields;
    let fixed: u32 = fields
        .iter()
        .take_while(|f| !matches!(f.ty, ir::Type::Varbit(_)))
        .map(|f| f.ty.width())
        .sum();
    extracted
        && !of.sites.is_empty()
        && of.sites.iter().all(|s| *s == Some(0))
        && of.only_extracted()
        && !of.invalidated
        && !of.dynamic_write
        && fixed >= bits.end
        && !writes(program, h, &bits)
}

fn writes(program: &Program, h: Header, bits: &Range<u32>) -> bool {
    let fields = &program.header_types[program.headers[h].ty].fields;
    let has_some = |field: u32| {
        let start: u32 = fields[..field as usize].iter().map(|f| f.ty.width()).sum();
        let end = start + fields[field as usize].ty.width();
        start < bits.end && end > bits.start
    };
    let mut any = false;
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |s| {
            visit::accesses(program, &s.kind, |access| {
                if let Access::Write(Place::Field(header, field)) = access
                    && instances(program, header).contains(&h)
                {
                    any |= has_some(field);
                }
            });
        });
    }
    any
}
