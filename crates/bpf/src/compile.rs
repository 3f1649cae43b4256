//! The functions of a program: one of the fast path, if it is given, and one of the full program.

use crate::costs::limits;
use crate::costs::weights::kernel::MOST_MAPS;
use crate::emitter::{Bpf, Coverage, File, INLINE};
use crate::errors;
use crate::function::Function;
use crate::hook;
use crate::model;
use crate::placed::Scratch;
use crate::{BpfOutput, Options, ParseRecord, file};
use arch::payload::{are_read, are_read_in_loop};
use cgen::tree::Type;
use diag::{Diagnostics, SourceMap};
use ir::Program;
use std::rc::Rc;

/// Emits a program: a function of the fast path, if the program `without_rare` states is given, and one of the full
/// program.
pub(crate) fn compile(
    program: &Program,
    without_rare: Option<&Program>,
    map: &SourceMap,
    asked: &Options,
) -> Result<BpfOutput, Diagnostics> {
    let options = asked;
    let in_memory = Options {
        spill_everything: true,
        parse_record: ParseRecord::Always,
        ..options.clone()
    };
    let of_messages = Options {
        spill_everything: true,
        ..options.clone()
    };
    let options = match options.outline {
        Some(_) => &in_memory,
        None if are_read_in_loop(program) => &of_messages,
        None => options,
    };
    // The fast path may ask for less.
    let mut begun = File::default();
    begun.own.payload = messages::calls::Shared::of(program);
    // Rare packets begin with the first stage again, so only a program of one stage has a fast path.
    let fast = without_rare
        .filter(|_| model::of(program, options.hook).is_ok_and(|(_, all)| all.len() == 1));
    let fast = fast.filter(|_| options.outline.is_none_or(|asked| asked.programs == 1));
    let fast = fast.and_then(|fast| fast_path_of(fast, map, options, begun.clone()));
    let (coverage, function, shared) = match fast {
        Some((function, shared)) => (Coverage::FullBehindFastPath, Some(function), shared),
        None => (Coverage::Full, None, begun),
    };
    let (full, shared) = function_of(program, map, options, coverage, shared)?;
    let output = file::file(program, options, shared, full, function);
    let are_many = output.report.inner_maps > 0 || output.report.maps_used > MOST_MAPS;
    if are_many && !asked.spares_maps {
        // A multibit trie has five maps, of which few share a shape with others.
        let leaner = Options {
            spares_maps: true,
            ..asked.clone()
        };
        return compile(program, without_rare, map, &leaner);
    }
    limits::check(program, options.hook, &output.report)?;
    Ok(output)
}

/// Returns the function of the fast path, if it pays: its variables fit in registers and on the stack.
fn fast_path_of(
    fast: &Program,
    map: &SourceMap,
    options: &Options,
    begun: File,
) -> Option<(Function, File)> {
    if options.copy_headers {
        return None;
    }
    let options = Options {
        spill_everything: false,
        outline: None,
        ..options.clone()
    };
    let made = function_of(fast, map, &options, Coverage::FastPath, begun);
    let (function, shared) = made.ok()?;
    function.spilled.is_none().then_some((function, shared))
}

fn function_of(
    program: &Program,
    map: &SourceMap,
    options: &Options,
    coverage: Coverage,
    mut shared: File,
) -> Result<(Function, File), Diagnostics> {
    let (model, stages) = model::of(program, options.hook)?;
    let code = hook::of(options.hook);
    let (own, reads) = (Rc::new(options.clone()), are_read(program));
    let target = Bpf::new(own, reads, code, model, coverage);
    let mut joined = emit::joined(program, stages, &mut shared.names);
    shared.own.stages = joined.len();
    let first = joined.pop();
    let mut later = Vec::new();
    for joined in joined {
        let (mut function, mut next) = emit::stage(program, map, &joined, &target, shared)?;
        // To the hook it is a packet of its own.
        let mut body = code.begin(function.remembers_type);
        body.append(&mut function.body);
        next.functions.push(emit::Function {
            linkage: INLINE.into(),
            name: joined.name.clone(),
            result: Type::Int,
            params: std::iter::once(code.text().packet())
                .chain(joined.params())
                .collect(),
            body,
        });
        next.own.scratch = Scratch::fresh(&mut next.names);
        later.push(function);
        shared = next;
    }
    let none = || Box::new(errors::wrong_architecture(options.hook, &program.arch));
    let first = first.ok_or_else(none)?;
    let (mut function, shared) = emit::stage(program, map, &first, &target, shared)?;
    later.into_iter().for_each(|stage| function.add(stage));
    Ok((function, shared))
}
