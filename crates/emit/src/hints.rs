//! Choices that a target may make of emitted code beyond the program's meaning: statements where something happens, other
//! expressions for values, and the code's forms. Without any of it the C means the same.

use crate::plan::graph::Graph;
use cgen::tree::{Expr as C, Stmt};
use ir::{Program, Stage};

/// Something that happens at a place of the code.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A variable was computed. It is tested next, and used as it was tested.
    Computed(&'a C),
    /// A variable was found to be within its bound. Uses that need the bound follow.
    Bounded(&'a C),
    /// A loop's turn ends. A flag says in the next one as well whether a header is in the packet.
    Carried(&'a C),
    /// The paths of a loop's turns meet: where a turn begins, or the loop has ended.
    TurnsMeet,
    /// Paths meet, on each of which a number of 64 bits got another value.
    Differs(&'a C),
    /// Paths meet, and what they leave is in memory ([`Forms::record`]).
    PathsMeet,
    /// Code follows that runs or not by a flag that was set on many paths.
    Decides,
}

/// The part that a value plays in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// 1, set in a flag where something is found.
    Flag,
    /// A number that may be any of many, from path to path or from turn to turn, and that loops or offsets into the packet
    /// depend on.
    Varying,
    /// An offset that was computed before the packet was resized, and is used after that.
    OverResize,
    /// A header's first byte, behind the check that the header is there.
    Checked,
}

/// The forms that the code of a stage has. The default is what a C compiler makes most of.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Forms {
    /// Memory keeps what the parser leaves ([`crate::plan::parse_record`]), as it does in any case where loops or copies of the
    /// packet need it there.
    pub record: bool,
    /// No code that could be shared is written several times for speed.
    pub short: bool,
    /// Every header lives in variables, none in the packet.
    pub copy_headers: bool,
    /// Lengths that were kept in memory are checked again where they are used.
    pub recheck_lengths: bool,
    /// Turns of loops are counted in a variable, and a packet that takes more is rejected. The target's headers define
    /// `count_turn(turns)` then, which adds 1 to a variable. `None` if loops end by [`crate::Target::leave_loop`].
    pub turn_limit: Option<u32>,
    /// The function may be cut ([`cgen::parts`]) at each state of the parser, and after so many statements of a control: what leads into
    /// the packet is made anew there.
    pub cut_after: Option<u32>,
}

/// The choices of a target. By default it makes none.
pub trait Hints {
    /// The forms for a stage whose function this target is about to emit.
    fn forms(&mut self, _program: &Program, _stage: &Stage, _graph: &Graph) -> Forms {
        Forms::default()
    }

    /// The statement to put where something happens.
    fn on(&self, _event: Event<'_>) -> Option<Stmt> {
        None
    }

    /// The expression for a value, equal to it.
    fn see(&self, _role: Role, value: C) -> C {
        value
    }
}
