//! The C file around the functions, and its description for user space.

use crate::abi::{Abi, ProgramAbi};
use crate::copies;
use crate::costs::{code as estimated, limits};
use crate::emitter::{File, INLINE, Shared};
use crate::features::Feature;
use crate::function::Function;
use crate::hook;
use crate::hook::code::HookCode;
use crate::maps;
use crate::outer_maps;
use crate::uses::{Construct, Use};
use crate::{BpfOutput, Options, Report, outline, packets, storage};
use cgen::tree::{Block, Expr as C, Item, Stmt, Type, Unit};
use emit::locals::{Home, Local};
use ir::Program;
use smol_str::SmolStr;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Name of the full program's function, if the fast path has one of its own.
const FULL_PROGRAM: &str = "full_program";

/// Makes the C file and its description.
pub(crate) fn file(
    program: &Program,
    options: &Options,
    file: File,
    full: Function,
    fast: Option<Function>,
) -> BpfOutput {
    let File {
        structs,
        prototypes,
        functions,
        contents,
        mut names,
        own:
            Shared {
                mut maps,
                tables: searches,
                tunnels,
                counts_changes,
                constructs,
                payload,
                ..
            },
        ..
    } = file;
    let code = hook::of(options.hook);
    let about_payload = payload.reads_payload();
    let front = full.front.filter(|_| about_payload);
    let buffers = front.and_then(|front| code.buffers(front, full.model));
    let constructs: BTreeSet<Construct> = [
        buffers.as_ref().map(|_| Construct::PayloadAtXdp),
        contents.loops.then_some(Construct::Loops),
        contents.bounds.then_some(Construct::Bounds),
        contents.gathered.then_some(Construct::Varbits),
        contents.copied_bytes.then(|| code.copied_bytes()).flatten(),
    ]
    .into_iter()
    .flatten()
    .chain(constructs)
    .collect();
    let hook = code.text();
    let section = buffers.as_ref().map_or(hook.section, |b| b.section);
    let mut items = vec![Item::Comment(vec![format!(
        "Made by onpath from {}; `#line` leads back to it.",
        options.source_name
    )])];
    let has = |construct| constructs.contains(&construct);
    let include = buffers.as_ref().map_or(hook.include, |b| b.include);
    let keeps_flows = !maps.kept.contents.flow_states.is_empty();
    let includes = [
        (
            !options.features.has(Feature::KernelContext),
            "onpath/read_kernel.h",
        ),
        (true, include),
        (full.parse_record, "onpath/large.h"),
        (maps.traffic.drops.is_some(), "onpath/drops.h"),
        (copies::differ(program), "onpath/traffic.h"),
        (keeps_flows, "onpath/ordered.h"),
        (keeps_flows, "onpath/flow_state.h"),
        (!maps.kept.contents.metrics.is_empty(), "onpath/metrics.h"),
        (about_payload, "onpath/message.h"),
        (payload.holds_streams(), "onpath/stream_bytes.h"),
        (payload.reads_quic(), "onpath/quic.h"),
        (payload.reads_documents(), "onpath/document.h"),
        (!maps.kept.contents.name_sets.is_empty(), "onpath/name.h"),
        (
            !maps.kept.contents.pattern_sets.is_empty(),
            "onpath/pattern_set.h",
        ),
        (has(Construct::AtomicRegisters), "onpath/lock.h"),
        (maps.kept.contents.logs.is_some(), "onpath/log.h"),
        (maps.payload.is_some(), "onpath/payload.h"),
        (has(Construct::Meters), "onpath/meter.h"),
        (searches.bit_vectors, "onpath/bit_vectors.h"),
        (searches.perfect_hash, "onpath/perfect_hash.h"),
        (contents.searches, "onpath/search.h"),
        (contents.gathered, "onpath/gathered.h"),
        (searches.multibit_trie, "onpath/multibit_trie.h"),
        (searches.buckets, "onpath/buckets.h"),
    ];
    let needed = includes.into_iter().filter(|(needed, _)| *needed);
    items.extend(needed.map(|(_, file)| Item::Include(file.into())));
    items.extend(prototypes.into_iter().map(|(_, prototype)| prototype));
    for file in &options.extern_files {
        items.push(Item::Include(file.clone()));
    }
    let verdicts = full.model.verdicts().into_iter();
    items.push(Item::Enum(
        verdicts
            .map(|(name, number)| (name.into(), number))
            .collect(),
    ));
    items.extend(structs);
    items.append(&mut maps.items);
    items.extend(maps.finish_globals());
    if counts_changes {
        items.extend(maps::changes(program.tables.len()));
    }
    let late = code.late_include(&maps);
    items.extend(late.map(|file| Item::Include(file.into())));
    if tunnels {
        items.push(Item::Include("onpath/tunnel.h".into()));
    }

    let mut report = report(&full, fast.as_ref());
    let own_names: Vec<SmolStr> = std::iter::once(SmolStr::from(hook.function))
        .chain(full.others.iter().map(|_| names.fresh(hook.function)))
        .collect();
    if let [_, _, ..] = own_names[..] {
        items.push(Item::Include("onpath/programs.h".into()));
        let prototype = |name: &SmolStr| Item::Prototype {
            result: Type::Int,
            name: name.clone(),
            params: vec![hook.packet()],
        };
        items.extend(own_names.iter().map(prototype));
        items.push(maps.declare_programs(&own_names));
    }
    report.programs = own_names.len();
    report.functions = functions_of_a_program(&functions, &full);
    report.longest_estimate = report.instruction_estimate;
    let bodies = functions.iter().map(|function| &function.body);
    for body in full.others.iter().chain(bodies) {
        let instructions = estimated::instructions(body);
        report.instruction_estimate += instructions;
        report.longest_estimate = report.longest_estimate.max(instructions);
    }
    items.extend(functions.into_iter().map(emit::Function::item));
    let first = buffers.map_or(Block::new(), |b| b.start);
    items.extend(hooked(code, (section, first), full, fast, own_names));
    items.push(Item::Variable {
        ty: Type::Named("char".into()).array(4),
        name: "_license".into(),
        init: Some(C::id("\"GPL\"")),
        attribute: Some(maps::section("license")),
        constant: false,
    });
    let fitted = outer_maps::fit(&mut items, &maps.list, &mut names);
    (report.maps_used, report.inner_maps) = (fitted.used, fitted.inner);
    if limits::is_long(&report) {
        without_variables_for_debuggers(&mut items);
    }
    ::tables::complete(&mut maps.kept.contents.tables, program);
    let redirects = maps.ports.devmap.is_some() || maps.ports.egress.is_some();
    let abi = Abi {
        version: Abi::VERSION,
        source: options.source_name.clone(),
        arch: program.arch.to_string(),
        programs: vec![ProgramAbi {
            hook: options.hook,
            function: hook.function.into(),
            section: section.into(),
            stack_estimate: report.stack_estimate,
            instruction_estimate: report.instruction_estimate,
            moves_head: report.moves_head,
        }],
        maps: maps.list,
        contents: maps.kept.contents,
        ports: maps.ports,
        traffic: maps.traffic,
        events: maps.events,
        uses: uses(&constructs, options),
        packets: packets::of(program, redirects, tunnels),
    };
    BpfOutput {
        c_source: cgen::print(&Unit { items }),
        abi,
        report,
    }
}

/// Makes clang describe no variables of functions for debuggers. The verifier's log has the functions' lines
/// nevertheless. Only functions are affected: libbpf does not find a map that is not described.
fn without_variables_for_debuggers(items: &mut Vec<Item>) {
    let is_function = |item: &Item| matches!(item, Item::Function { .. });
    let (Some(first), Some(last)) = (
        items.iter().position(is_function),
        items.iter().rposition(is_function),
    ) else {
        return;
    };
    let begin =
        "clang attribute push(__attribute__((nodebug)), apply_to = variable(unless(is_parameter)))";
    let note =
        "clang keeps no account of where variables are: of long functions that takes it very long.";
    items.insert(last + 1, Item::Pragma("clang attribute pop".into()));
    let begin = [Item::Comment(vec![note.into()]), Item::Pragma(begin.into())];
    items.splice(first..first, begin);
}

/// Lists the features that the kernel must have, in the order of [`Construct`].
fn uses(constructs: &BTreeSet<Construct>, options: &Options) -> Vec<Use> {
    let used = |construct: &Construct| Use {
        construct: *construct,
        by: construct.variant(&options.features).needs,
    };
    constructs.iter().map(used).collect()
}

/// Returns the number of functions of the largest program, of those chained by tail calls.
fn functions_of_a_program(functions: &[emit::Function], full: &Function) -> usize {
    if full.others.is_empty() {
        return functions.len() + 1;
    }
    let calls: HashMap<&SmolStr, HashSet<SmolStr>> = functions
        .iter()
        .map(|function| (&function.name, outline::calls(&function.body)))
        .collect();
    let reached = |body: &Block| {
        let mut found: HashSet<SmolStr> = HashSet::new();
        let mut open: Vec<SmolStr> = outline::calls(body).into_iter().collect();
        while let Some(name) = open.pop() {
            if let Some(further) = calls.get(&name)
                && found.insert(name)
            {
                open.extend(further.iter().cloned());
            }
        }
        found.len() + 1
    };
    let bodies = std::iter::once(&full.body).chain(&full.others);
    bodies.map(reached).max().unwrap_or(1)
}

/// Makes the hook's function. If there is a fast path, the function that rare packets are left to comes before it.
/// `names` has the hook's function and those of the programs chained to it. All are in `section`, and the hook's
/// function begins with `first`.
fn hooked(
    code: &dyn HookCode,
    (section, first): (&str, Block),
    full: Function,
    fast: Option<Function>,
    names: Vec<SmolStr>,
) -> Vec<Item> {
    let text = code.text();
    let came_as = full.remembers_type || fast.as_ref().is_some_and(|f| f.remembers_type);
    let mut start = first;
    start.extend(code.begin(came_as));
    let program = |(name, body): (SmolStr, Block)| Item::Function {
        linkage: maps::section(section).into(),
        result: Type::Int,
        name,
        params: vec![text.packet()],
        body,
    };
    let entry = |body: Block| program((text.function.into(), body));
    let Some(mut fast) = fast else {
        start.extend(full.body);
        let bodies = std::iter::once(start).chain(full.others);
        return names.into_iter().zip(bodies).map(program).collect();
    };
    let kept = code.kept(full.remembers_type);
    let names = kept.iter().map(|(_, name)| C::Ident(name.clone()));
    let args = std::iter::once(C::id("ctx")).chain(names).collect();
    let params = std::iter::once(text.packet()).chain(kept.clone()).collect();
    let full_program = Item::Function {
        linkage: INLINE.into(),
        result: Type::Int,
        name: FULL_PROGRAM.into(),
        params,
        body: full.body,
    };
    start.append(&mut fast.body);
    start.push(Stmt::Label("rare".into()));
    start.push(Stmt::Return(Some(C::call(FULL_PROGRAM, args))));
    vec![full_program, entry(start)]
}

fn report(full: &Function, fast: Option<&Function>) -> Report {
    let both = || fast.into_iter().chain([full]);
    let stack = |f: &Function| estimated::stack(&f.body, f.locals.iter().map(Local::size).sum());
    Report {
        stack_estimate: both().map(stack).max().unwrap_or(0),
        instruction_estimate: both()
            .map(|f| estimated::instructions(&f.body) + f.extra_instructions)
            .sum(),
        scratch_bytes: full.spilled.as_ref().map_or(0, |s| s.bytes),
        scratch_variables: full
            .spilled
            .iter()
            .flat_map(|s| s.gone.iter().filter(|l| l.home == Home::Anywhere))
            .map(|l| l.name.to_string())
            .collect(),
        fast_path: fast.is_some(),
        parse_record: full.parse_record,
        verifier_estimate: full.verifier_estimate,
        copied_headers: full.copied_headers.clone(),
        rolled_stacks: full.rolled_stacks.clone(),
        maps_used: 0,
        inner_maps: 0,
        functions: 0,
        outlined: both().map(|f| f.outlined).sum(),
        programs: 0,
        longest_estimate: 0,
        movable_variables: full.locals.iter().any(storage::is_movable),
        moves_head: both().any(|f| f.moves_head),
        parser_iterations: both().find_map(|f| f.parser_iterations),
    }
}
