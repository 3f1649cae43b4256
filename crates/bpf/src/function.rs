//! The function that a program becomes, with all that its file must know of it.

use crate::placed::Spilled;
use arch::Model;
use cgen::tree::Block;
use emit::locals::Local;

/// The function of a program's hook, or the part of it that begins with the parser.
pub(crate) struct Function {
    /// The model whose meaning it has.
    pub model: Model,
    /// Its statements, once it is known that the stack can handle the packet.
    pub body: Block,
    /// Its variables.
    pub locals: Vec<Local>,
    /// Up to which offset its parser may read, if there is such.
    pub front: Option<u32>,
    /// Functions that were parts of it.
    pub parts: usize,
    /// The programs that go on where it stops.
    pub others: Vec<Block>,
    /// Variables in the per-CPU map.
    pub spilled: Option<Spilled>,
    /// Instructions that runtime helpers take beyond what statements suggest.
    pub extra_instructions: u32,
    /// The head of the packet may be moved.
    pub moves_head: bool,
    /// The parse record is in the per-CPU map.
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

impl Function {
    /// Counts what a later stage takes, whose body is in a function of its own.
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
