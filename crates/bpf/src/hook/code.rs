//! The code around a program's statements, as the hooks require it.

use crate::emitter::Gen;
use crate::maps::Maps;
use crate::placed::Placed;
use crate::uses::Construct;
use arch::Model;
use cgen::tree::{Block, Expr as C, Type};
use ir::{Program, Routine, Var};
use smol_str::SmolStr;

/// Names of a hook for the kernel and for clang.
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
    /// Returns the parameter for the packet's context.
    pub(crate) fn packet(&self) -> (Type, SmolStr) {
        (Type::Struct(self.context.into()).ptr(), "ctx".into())
    }
}

/// Code of a program that takes packets in several buffers.
pub(crate) struct Buffers {
    /// The header that is included instead of the hook's.
    pub include: &'static str,
    /// Section that makes the kernel give it such packets.
    pub section: &'static str,
    /// First statements. They refuse a packet whose first buffer does not have all that the parser reads.
    pub start: Block,
}

/// The code around a program's statements, as a hook requires it.
pub(crate) trait HookCode {
    /// Returns the hook's names.
    fn text(&self) -> HookText;

    /// Returns true if the packet's front can stay in place while the part after it grows or shrinks.
    fn front_stays(&self) -> bool;

    /// Returns the number of bytes of stack that the hook's headers take to change a packet.
    fn stack_for_rewriting(&self) -> u32 {
        0
    }

    /// Returns statements that run once for a packet, before anything looks at it.
    fn begin(&self, _remembers_type: bool) -> Block {
        Block::new()
    }

    /// Returns variables that [`HookCode::begin`] keeps for a function that goes on with the packet: its parameters
    /// besides the context.
    fn kept(&self, _remembers_type: bool) -> Vec<(Type, SmolStr)> {
        Vec::new()
    }

    /// Decides when the packet is linearised.
    fn pull(&self, _g: &Gen<'_>) -> Pull {
        Pull::Never
    }

    /// Returns statements before the program's variables.
    fn start(&self, _g: &mut Gen<'_>) -> Block {
        Block::new()
    }

    /// Sets the program's inputs, before its parser runs.
    fn inputs(&self, g: &mut Gen<'_>, placed: &Placed) -> Block;

    /// Returns true if the network stack must be informed of an EtherType that the program changed.
    fn remembers_type(&self, _g: &Gen<'_>) -> bool {
        false
    }

    /// Returns the first control that runs for each copy of a packet, if copies may differ.
    fn repeats_from(&self, _program: &Program) -> Option<Routine> {
        None
    }

    /// Emits code after a switch's parser.
    fn parsed(&self, _g: &mut Gen<'_>) {}

    /// Emits code before egress of a switch. If egress runs several times, once for each copy, each run begins here.
    fn before_egress(&self, _g: &mut Gen<'_>) {}

    /// Emits code after egress.
    fn after_egress(&self, _g: &mut Gen<'_>) {}

    /// Emits code before the deparser resizes the packet: [`emit::Target::before_resize`].
    fn before_resize(&self, _g: &mut Gen<'_>, _front: u32, _to: &C) {}

    /// Deparses the packet for the next stage.
    fn put_together(&self, g: &mut Gen<'_>);

    /// Returns the verdict for a packet that a stage drops.
    fn dropped(&self) -> C;

    /// Emits the end of a packet whose control is done.
    fn verdict(&self, g: &mut Gen<'_>);

    /// Emits statements before the return for a packet that its parser rejects, or that cannot be handled.
    fn reject(&self, _g: &mut Gen<'_>) {}

    /// Returns the program's return value for a packet that its parser rejects, or that cannot be handled.
    fn refused(&self, model: Model) -> C;

    /// Returns true for an input that is read at its uses instead of before the parser.
    fn asks_late(&self, _g: &Gen<'_>, _var: Var) -> bool {
        false
    }

    /// Returns the variable that has the time, if the program keeps it anyway.
    fn timestamp(&self, _g: &mut Gen<'_>) -> Option<C> {
        None
    }

    /// Returns the construct that copying the packet's bytes to memory and back is; `None` if every kernel can do it.
    fn copied_bytes(&self) -> Option<Construct> {
        None
    }

    /// Wraps a number for old verifiers: [`emit::Role::OverResize`]. If a number must be known exactly after a call,
    /// they assume that of every number.
    fn over_resize(&self, offset: C) -> C {
        offset
    }

    /// Returns the code of a program that takes packets in several buffers and whose parser reads no more than `front`
    /// bytes; `None` if it can take none. It reads the payload only by primitives that read the whole packet.
    fn buffers(&self, _front: u32, _model: Model) -> Option<Buffers> {
        None
    }

    /// Returns a header to be included after the maps, if the file has what the header needs.
    fn late_include(&self, _maps: &Maps) -> Option<&'static str> {
        None
    }
}

/// Time at which the first bytes of a packet, of this number, are linearised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pull {
    /// Never: they are linear already.
    Never,
    /// Before the parser runs.
    Early(u32),
    /// After the parser found too few; it restarts then.
    Late(u32),
    /// After the parser found too few, by the full program's function.
    Elsewhere,
}

/// Returns the call that linearises a packet's first bytes.
pub(crate) fn pull_call(bytes: u32) -> C {
    C::call("packet_pull", vec![C::id("ctx"), C::int(bytes.into())])
}
