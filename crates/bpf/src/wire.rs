//! What a program may read and change of a packet's bytes: what targets that share the packet with a network
//! stack have to know.

use emit::plan::facts::Facts;
use emit::plan::flow::{Known, instances};
use emit::plan::graph::{Graph, const_bits, header_bytes, targets};
use emit::plan::layout::Layout;
use emit::plan::{Plan, Rep};
use ir::{
    Block, Header, HeaderRef, Parser, Place, Program, StmtKind, Target, visit, visit::Access,
};

/// Where the EtherType is in an Ethernet header, in bits.
const TYPE: std::ops::Range<u32> = 96..112;

/// The bytes of the packet that matter.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    /// Up to which offset the parser may read, if there is such.
    pub reads: Option<u32>,
    /// The parser does something that must not be done twice.
    pub parser_acts: bool,
    /// Bytes of the packet may change.
    pub writes: bool,
    /// The packet's EtherType may change.
    pub changes_type: bool,
}

impl Wire {
    /// Looks at a program and what was planned for it.
    pub fn new(program: &Program, plan: &Plan) -> Wire {
        let Plan {
            parser,
            facts,
            graph,
            layout,
            reps,
            ..
        } = plan;
        let parser = *parser;
        let written = program.headers.keys().any(|h| {
            let at = h.as_u32() as usize;
            reps[at] == Rep::Packet && facts.headers[at].written
        });
        let writes = written || !layout.is_empty();
        Wire {
            reads: reads(program, parser, graph),
            parser_acts: acts(program, parser, graph),
            writes,
            changes_type: writes && !keeps_type(program, facts, graph, layout),
        }
    }
}

/// Up to which offset the parser may read.
fn reads(program: &Program, parser: Parser, graph: &Graph) -> Option<u32> {
    let states = &program.parsers[parser].states;
    let mut entry = vec![0u32; graph.states.len()];
    let mut furthest = 0;
    for (i, info) in graph.states.iter().enumerate() {
        if info.cyclic {
            return None;
        }
        let state = &states[info.state];
        let end = walk(program, &state.body, entry[i], &mut furthest)?;
        for target in targets(state) {
            if let Target::State(next) = target
                && let Some(&n) = graph.index.get(&next)
            {
                entry[n] = entry[n].max(end);
            }
        }
    }
    Some(furthest)
}

/// The largest offset of the cursor after a block.
fn walk(program: &Program, block: &Block, mut at: u32, furthest: &mut u32) -> Option<u32> {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Extract { header, varbit } => {
                let most = varbit.map_or(0, |_| varbit_bytes(program, *header));
                at = at
                    .checked_add(header_bytes(program, *header))?
                    .checked_add(most)?;
            }
            StmtKind::Lookahead(place) => {
                let bits = program.place_type(*place).map_or(0, |ty| ty.width());
                *furthest = (*furthest).max(at.checked_add(bits.div_ceil(8))?);
            }
            StmtKind::Advance(by) => at = at.checked_add(const_bits(program, *by)? / 8)?,
            StmtKind::Loop(_, body) => {
                if walk(program, body, at, furthest)? != at {
                    return None;
                }
            }
            kind => {
                let before = at;
                for inner in visit::blocks(kind) {
                    at = at.max(walk(program, inner, before, furthest)?);
                }
            }
        }
        *furthest = (*furthest).max(at);
    }
    Some(at)
}

fn varbit_bytes(program: &Program, header: HeaderRef) -> u32 {
    program
        .header_layout(header)
        .and_then(|l| l.varbit().map(|v| l.fields[v as usize].ty.width()))
        .unwrap_or(0)
        .div_ceil(8)
}

/// Whether the parser calls externs that do something.
fn acts(program: &Program, parser: Parser, graph: &Graph) -> bool {
    let states = &program.parsers[parser].states;
    let mut any = false;
    for info in &graph.states {
        visit::walk_block(&states[info.state].body, &mut |s| {
            any |= matches!(s.kind, StmtKind::Extern(_));
        });
    }
    any
}

/// Whether the first header that comes in is the first one that goes out, and no program writes to where the
/// EtherType is.
fn keeps_type(program: &Program, facts: &Facts, graph: &Graph, layout: &Layout) -> bool {
    let Some(first) = layout.emits.first().filter(|e| e.always) else {
        return false;
    };
    let h = first.header;
    let of = &facts.headers[h.as_u32() as usize];
    let there = graph
        .accepted
        .as_ref()
        .is_some_and(|flow| flow.valid(h) == Known::Yes);
    let fields = &program.header_types[program.headers[h].ty].fields;
    let fixed: u32 = fields
        .iter()
        .take_while(|f| !matches!(f.ty, ir::Type::Varbit(_)))
        .map(|f| f.ty.width())
        .sum();
    there
        && !of.sites.is_empty()
        && of.sites.iter().all(|s| *s == Some(0))
        && of.only_extracted()
        && !of.invalidated
        && !of.dynamic_write
        && fixed >= TYPE.end
        && !writes_type(program, h)
}

fn writes_type(program: &Program, h: Header) -> bool {
    let fields = &program.header_types[program.headers[h].ty].fields;
    let holds_type = |field: u32| {
        let start: u32 = fields[..field as usize].iter().map(|f| f.ty.width()).sum();
        let end = start + fields[field as usize].ty.width();
        start < TYPE.end && end > TYPE.start
    };
    let mut any = false;
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |s| {
            visit::accesses(program, &s.kind, |access| {
                if let Access::Write(Place::Field(header, field)) = access
                    && instances(program, header).contains(&h)
                {
                    any |= holds_type(field);
                }
            });
        });
    }
    any
}
