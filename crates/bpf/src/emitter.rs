//! The emitter for BPF: its state while a function is emitted, and what the functions of a file share.

use crate::Options;
use crate::hook::code::HookCode;
use crate::maps::Maps;
use crate::placed::Scratch;
use crate::uses::{Construct, Variant};
use crate::wire::Wire;
use arch::Model;
use cgen::tree::{Expr as C, Stmt};
use state::Held;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The emitter for BPF.
pub(crate) type Gen<'a> = emit::Gen<'a, Bpf>;

/// A file for BPF.
pub(crate) type File = emit::File<Bpf>;

/// The linkage of a function that is part of the one that calls it.
pub(crate) const INLINE: &str = "static inline __attribute__((always_inline))";
/// The linkage of a function that the verifier checks separately from its callers.
pub(crate) const GLOBAL_FUNC: &str = "GLOBAL_FUNC";
/// The linkage of a function that the verifier checks at each call.
pub(crate) const STATIC_FUNC: &str = "STATIC_FUNC";

/// Part of the program that a function covers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// The full program.
    Full,
    /// The fast path; another function has the full program.
    FastPath,
    /// The full program, for packets that leave the fast path.
    FullBehindFastPath,
}

/// The loop that runs egress for each copy.
#[derive(Clone)]
pub(crate) struct Copies {
    /// Ports that copies go to: a pointer to a `struct port_group`.
    pub destinations: C,
    /// The number of the copy that egress runs for.
    pub number: C,
}

/// The BPF target, with the state of the function that is emitted.
pub(crate) struct Bpf {
    /// The compilation's options.
    pub options: Rc<Options>,
    /// True if the program reads messages. Many paths then lead through the code around that.
    pub reads_messages: bool,
    /// The hook that the program is to run at.
    pub hook: &'static dyn HookCode,
    /// Model whose semantics it has.
    pub model: Model,
    /// The part of the program that the function covers.
    pub coverage: Coverage,
    /// Bytes of the packet that the program may read or change.
    pub wire: Wire,
    /// Locks that are held, and the objects that calls under them work on.
    pub held: Held,
    /// The interface's MTU, if it was read.
    pub asked_mtu: Option<C>,
    /// The loop over the copies of the packet, if it may go to several ports.
    pub copies: Option<Copies>,
    /// Label at which the loop over the copies of a packet goes on, if this copy goes no further.
    pub next_copy: Option<&'static str>,
    /// Number of bytes by which the packet has grown before its IP header, if it may.
    pub grown: Option<C>,
    /// Instructions that runtime helpers take beyond what statements suggest.
    pub extra_instructions: u32,
    /// Estimate of the instructions that the verifier may process of the current stage, with the parse record in
    /// variables ([`crate::costs::walk`]).
    pub estimate: u64,
}

impl Bpf {
    /// Makes the state at the start of a function.
    pub(crate) fn new(
        options: Rc<Options>,
        reads_messages: bool,
        hook: &'static dyn HookCode,
        model: Model,
        coverage: Coverage,
    ) -> Bpf {
        Bpf {
            options,
            reads_messages,
            hook,
            model,
            coverage,
            wire: Wire::default(),
            held: Held::default(),
            asked_mtu: None,
            copies: None,
            next_copy: None,
            grown: None,
            extra_instructions: 0,
            estimate: 0,
        }
    }
}

/// State that the functions of a file share.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    /// Maps, globals and their description for user space.
    pub maps: Maps,
    /// State between packets.
    pub state: state::Shared,
    /// Number of the program's stages.
    pub stages: usize,
    /// The memory of the current stage.
    pub scratch: Scratch,
    /// Code that reads the payload, and messages in it.
    pub payload: messages::calls::Shared,
    /// Headers and groups that its tables need.
    pub tables: tables::Shared,
    /// True if packets that are still to be segmented may get outer headers.
    pub tunnels: bool,
    /// True if a decision depends on how often tables were changed.
    pub counts_changes: bool,
    /// Constructs in the file that depend on features of the kernel.
    pub constructs: BTreeSet<Construct>,
}

/// Returns a zero whose value the verifier does not know.
pub(crate) fn unknown_zero() -> C {
    C::pure("unknown_zero", vec![C::id("ctx")])
}

/// Keeps clang from using another register for a variable than the one that was checked.
pub(crate) fn barrier(var: &C) -> Stmt {
    Stmt::Hint {
        name: "barrier_var".into(),
        on: var.clone(),
    }
}

/// Records that the file has a construct, and returns the variant of its code for the kernel.
pub(crate) fn needs(g: &mut Gen<'_>, construct: Construct) -> Variant {
    g.file.own.constructs.insert(construct);
    construct.variant(&g.target.options.features)
}
