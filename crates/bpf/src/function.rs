//! The function that a program becomes, with everything that its file must know of it.

use crate::placed::Spilled;
use arch::Model;
use cgen::tree::Block;
use emit::locals::Local;

/// The function of a program's hook, or the part of it that begins with the parser.
pub(crate) struct Function {
    /// Model whose semantics it has.
    pub model: Model,
    /// Function's statements, once the network stack can handle the packet.
    pub body: Block,
    /// Function's variables.
    pub locals: Vec<Local>,
    /// Largest offset that its parser may read up to, in bytes, if there is one.
    pub front: Option<u32>,
    /// Number of functions that are outlined from it.
    pub outlined: usize,
    /// Bodies of the further programs of the chain.
    pub others: Vec<Block>,
    /// Variables in the per-CPU map.
    pub spilled: Option<Spilled>,
    /// Instructions that runtime helpers take beyond what statements suggest.
    pub extra_instructions: u32,
    /// True if the head of the packet may be moved.
    pub moves_head: bool,
    /// True if the parse record is in the per-CPU map.
    pub parse_record: bool,
    /// Estimate of the instructions that the verifier would process if the parse record were in variables.
    pub verifier_estimate: u64,
    /// Headers that live in variables.
    pub copied_headers: Vec<String>,
    /// Header stacks that stay rolled, with the number of their elements.
    pub rolled_stacks: Vec<(String, u32)>,
    /// True if the network stack must be informed of an EtherType that the program changed.
    pub remembers_type: bool,
    /// Number of loop iterations that a packet may take, if they are counted.
    pub parser_iterations: Option<u32>,
}

impl Function {
    /// Adds the needs of a later stage, whose body is in a function of its own.
    pub(crate) fn add(&mut self, stage: Function) {
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
        self.outlined += stage.outlined;
        self.extra_instructions += stage.extra_instructions;
        self.moves_head |= stage.moves_head;
        self.parse_record |= stage.parse_record;
        self.verifier_estimate += stage.verifier_estimate;
        self.copied_headers.extend(stage.copied_headers);
        self.rolled_stacks.extend(stage.rolled_stacks);
        self.parser_iterations = self.parser_iterations.or(stage.parser_iterations);
    }
}
