//! A target's choices about emitted code, beyond the program's meaning: statements at events, equivalent
//! expressions for values, and variants of the code. Without them, the C means the same.

use crate::plan::graph::Graph;
use cgen::tree::{Expr as C, Stmt};
use ir::{Program, Stage};

/// Event at a point of the code.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A variable was computed. Next it is tested, and this tested value is used.
    Computed(&'a C),
    /// A variable was found to be within its bound. Uses that need the bound follow.
    Bounded(&'a C),
    /// An iteration of a loop ends. In the next iteration, this flag still says whether a header is in the packet.
    Carried(&'a C),
    /// The paths of a loop's iterations meet: at the start of an iteration, or after the loop.
    IterationsMeet,
    /// Paths meet that left different values in this 64-bit number.
    Differs(&'a C),
    /// Paths meet, and their results are in memory ([`Forms::record`]).
    PathsMeet,
    /// Code follows that depends on a flag which was set on many paths.
    Decides,
    /// A table is searched next, by a function with few arguments.
    Searches,
}

/// Role of a value in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The constant 1, stored in a flag when something is found.
    Flag,
    /// A number with many possible values, which differ between paths or iterations. Loops or offsets into the
    /// packet depend on it.
    Varying,
    /// An offset that was computed before the packet was resized and is used afterwards.
    OverResize,
    /// A pointer to a header's first byte, after the check that the header is present.
    Checked,
}

/// Variants of a stage's code. The default is best for a C compiler.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Forms {
    /// True if the parser's results are kept in memory ([`crate::plan::parse_record`]). They are in any case if
    /// loops or copies of the packet need them there.
    pub record: bool,
    /// True if code is never duplicated for speed.
    pub short: bool,
    /// True if every header lives in variables, none in the packet.
    pub copy_headers: bool,
    /// True if lengths that were kept in memory are checked again at their use.
    pub recheck_lengths: bool,
    /// Greatest number of loop iterations. Iterations are counted in a variable, and a packet that takes more is
    /// rejected. The target's headers then define `count_turn(turns)`, which adds 1 to a variable. `None` if loops
    /// end by [`crate::Target::leave_loop`].
    pub iteration_limit: Option<u32>,
    /// Number of statements of a control after which the function may be cut ([`cgen::outline`]). It may also be cut
    /// at each state of the parser. Pointers into the packet are made anew after a cut.
    pub cut_after: Option<u32>,
}

/// Choices of a target. By default it makes none.
pub trait Hints {
    /// Returns the variants for a stage whose function this target is about to emit.
    fn forms(&mut self, _program: &Program, _stage: &Stage, _graph: &Graph) -> Forms {
        Forms::default()
    }

    /// Returns the statement to insert at an event.
    fn on(&self, _event: Event<'_>) -> Option<Stmt> {
        None
    }

    /// Returns an expression that is equal to a value.
    fn see(&self, _role: Role, value: C) -> C {
        value
    }
}
