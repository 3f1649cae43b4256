//! The code around a program's statements, as one hook or another requires it.

use crate::emitter::Gen;
use crate::maps::Maps;
use crate::placed::Placed;
use crate::uses::Construct;
use arch::Model;
use cgen::tree::{Block, Expr as C, Type};
use ir::{Program, Routine, Var};
use smol_str::SmolStr;

/// Names of a hook, as the kernel and clang see them.
pub(crate) struct HookText {
    /// The header that gives the packet's primitives their names.
    pub include: &'static str,
    /// The section by which the kernel knows the hook.
    pub section: &'static str,
    /// The function's name.
    pub function: &'static str,
    /// The struct that describes a packet.
    pub context: &'static str,
}

impl HookText {
    /// The parameter for the packet's context.
    pub(crate) fn packet(&self) -> (Type, SmolStr) {
        (Type::Struct(self.context.into()).ptr(), "ctx".into())
    }
}

/// Parts of a program that takes packets in several buffers.
pub(crate) struct Buffers {
    /// The header that is included instead of the hook's.
    pub include: &'static str,
    /// The section by which the kernel knows it.
    pub section: &'static str,
    /// The first statements: a packet whose first buffer does not have what the parser reads is refused.
    pub start: Block,
}

/// The code around a program's statements, as a hook requires it.
pub(crate) trait HookCode {
    /// Its names.
    fn text(&self) -> HookText;

    /// Returns true if the packet's front can stay where it is while what is behind it grows or shrinks.
    fn front_stays(&self) -> bool;

    /// Bytes of stack that the hook's headers take to change a packet.
    fn stack_for_rewriting(&self) -> u32 {
        0
    }

    /// Statements that run once for a packet, before anything looks at it.
    fn begin(&self, _remembers_type: bool) -> Block {
        Block::new()
    }

    /// Variables that [`HookCode::begin`] keeps for a function which goes on with the packet: its parameters besides the context.
    fn kept(&self, _remembers_type: bool) -> Vec<(Type, SmolStr)> {
        Vec::new()
    }

    /// When the packet is linearised.
    fn pull(&self, _g: &Gen<'_>) -> Pull {
        Pull::Never
    }

    /// Statements in front of the program's variables.
    fn start(&self, _g: &mut Gen<'_>) -> Block {
        Block::new()
    }

    /// Sets the program's inputs, before its parser runs.
    fn inputs(&self, g: &mut Gen<'_>, placed: &Placed) -> Block;

    /// Returns true if the network stack must be informed of an EtherType that the program changed.
    fn remembers_type(&self, _g: &Gen<'_>) -> bool {
        false
    }

    /// The first control that runs for each copy of a packet, if copies may differ.
    fn repeats_from(&self, _program: &Program) -> Option<Routine> {
        None
    }

    /// Behind a switch's parser.
    fn parsed(&self, _g: &mut Gen<'_>) {}

    /// Before egress of a switch: where it may run several times, once for each copy, each run begins here.
    fn before_egress(&self, _g: &mut Gen<'_>) {}

    /// After it.
    fn after_egress(&self, _g: &mut Gen<'_>) {}

    /// Before the deparser resizes the packet: [`emit::Target::before_resize`].
    fn before_resize(&self, _g: &mut Gen<'_>, _front: u32, _to: &C) {}

    /// Makes the packet what the next stage gets.
    fn put_together(&self, g: &mut Gen<'_>);

    /// Verdict that the program returns for a packet that a stage drops.
    fn dropped(&self) -> C;

    /// Emits the end of a packet whose control is done.
    fn verdict(&self, g: &mut Gen<'_>);

    /// Emits statements in front of the return for a packet that its parser rejects, or that cannot be handled.
    fn reject(&self, _g: &mut Gen<'_>) {}

    /// The program's return value for a packet that its parser rejects, or that cannot be handled.
    fn refused(&self, model: Model) -> C;

    /// An input that is read where it is needed instead of before the parser.
    fn asks_late(&self, _g: &Gen<'_>, _var: Var) -> bool {
        false
    }

    /// The variable that has the time, if the program keeps it anyway.
    fn timestamp(&self, _g: &mut Gen<'_>) -> Option<C> {
        None
    }

    /// The construct that copies of the packet's bytes to memory and back are to the kernel; `None` if every one can do it.
    fn copied_bytes(&self) -> Option<Construct> {
        None
    }

    /// [`emit::Role::OverResize`] for old verifiers: where a number that a function was called in between has to be
    /// known exactly, they take every number for one that has to be.
    fn over_resize(&self, offset: C) -> C {
        offset
    }

    /// The form in which a program takes packets in several buffers whose parser reads no more than so many first bytes; `None` if it can take none.
    /// It reads the payload only by the primitives that read all of the packet.
    fn buffers(&self, _front: u32, _model: Model) -> Option<Buffers> {
        None
    }

    /// A header to be included after the maps, if the file has what it needs.
    fn late_include(&self, _maps: &Maps) -> Option<&'static str> {
        None
    }
}

/// When this many first bytes of a packet are linearised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pull {
    /// They are.
    Never,
    /// Before the parser runs.
    Early(u32),
    /// When the parser finds too few; it restarts then.
    Late(u32),
    /// When the parser finds too few, by the full program's function.
    Elsewhere,
}

/// The call that linearises a packet's first bytes.
pub(crate) fn pull_call(bytes: u32) -> C {
    C::call("packet_pull", vec![C::id("ctx"), C::int(bytes.into())])
}
