//! The functions of a program: one of the fast path, if it is given, and one of the full program.

use crate::errors;
use crate::hook;
use crate::model;
use crate::storage::{Scratch, Spilled};
use crate::target::{Bpf, Coverage, File, INLINE};
use crate::{BpfOutput, Options, ParseRecord, file, limits};
use arch::Model;
use cgen::tree::{Block, Type};
use diag::{Diagnostics, SourceMap};
use emit::locals::Local;
use ir::Program;
use messages::calls::{are_read, are_read_in_loop};
use std::rc::Rc;

/// What became of a program: the function of its hook, or the part of it that begins with the parser.
pub(crate) struct Function {
    /// Which model's meaning it has.
    pub model: Model,
    /// What it does once it is known that the stack can handle the packet.
    pub body: Block,
    /// Its variables.
    pub locals: Vec<Local>,
    /// Up to which offset its parser may read, if there is such.
    pub front: Option<u32>,
    /// Functions that were parts of it.
    pub parts: usize,
    /// The programs that go on where it stops.
    pub others: Vec<Block>,
    /// What is in the per-CPU map.
    pub spilled: Option<Spilled>,
    /// Instructions that runtime helpers take beyond what statements suggest.
    pub extra_instructions: u32,
    /// The head of the packet may be moved.
    pub moves_head: bool,
    /// What its parser leaves is in the per-CPU map.
    pub parse_record: bool,
    /// About how many instructions the verifier would process if it were in variables.
    pub verifier_estimate: u64,
    /// Headers that live in variables.
    pub copied_headers: Vec<String>,
    /// Header stacks that stay rolled, with the number of their elements.
    pub rolled_stacks: Vec<(String, u32)>,
    /// The stack must be informed of an EtherType that the program changed.
    pub remembers_type: bool,
    /// Turns that a packet may take in its loops, if they are counted.
    pub parser_turns: Option<u32>,
}

/// Emits a program: a function of the fast path, if it is given, and one of the full program.
pub(crate) fn compile(
    program: &Program,
    fast: Option<&Program>,
    map: &SourceMap,
    options: &Options,
) -> Result<BpfOutput, Diagnostics> {
    let in_memory = Options {
        spill_everything: true,
        parse_record: ParseRecord::Always,
        ..options.clone()
    };
    let of_messages = Options {
        spill_everything: true,
        ..options.clone()
    };
    let options = match options.parts {
        Some(_) => &in_memory,
        None if are_read_in_loop(program) => &of_messages,
        None => options,
    };
    // The fast path may ask for less.
    let mut begun = File::default();
    begun.own.payload = messages::calls::Shared::of(program);
    // Its packets begin with the first stage again.
    let fast =
        fast.filter(|_| model::of(program, options.hook).is_ok_and(|(_, all)| all.len() == 1));
    let fast = fast.filter(|_| options.parts.is_none_or(|parts| parts.programs == 1));
    let fast = fast.and_then(|fast| fast_path_of(fast, map, options, begun.clone()));
    let (coverage, function, shared) = match fast {
        Some((function, shared)) => (Coverage::FullBehindFastPath, Some(function), shared),
        None => (Coverage::Full, None, begun),
    };
    let (full, shared) = function_of(program, map, options, coverage, shared)?;
    let output = file::file(program, options, shared, full, function);
    limits::check(program, options.hook, &output.report)?;
    Ok(output)
}

/// The function of the fast path, if it pays: its variables have room in registers and on the stack.
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
        parts: None,
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
    let code = hook::code(options.hook);
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
            params: std::iter::once(file::context(&code.text()))
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

impl Function {
    /// Counts what a later stage takes, whose body is in a function of its own.
    fn add(&mut self, stage: Function) {
        self.locals.extend(stage.locals);
        self.front = self.front.max(stage.front);
        self.spilled = match (self.spilled.take(), stage.spilled) {
            (Some(mut all), Some(more)) => {
                all.gone.extend(more.gone);
                all.bytes += more.bytes;
                Some(all)
            }
            (one, other) => one.or(other),
        };
        self.parts += stage.parts;
        self.extra_instructions += stage.extra_instructions;
        self.moves_head |= stage.moves_head;
        self.parse_record |= stage.parse_record;
        self.verifier_estimate += stage.verifier_estimate;
        self.copied_headers.extend(stage.copied_headers);
        self.rolled_stacks.extend(stage.rolled_stacks);
        self.parser_turns = self.parser_turns.or(stage.parser_turns);
    }
}
