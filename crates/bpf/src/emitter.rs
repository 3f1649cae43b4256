//! The emitter for BPF: its state while a function is emitted, and what the functions of a file share.

use crate::Options;
use crate::hook::code::HookCode;
use crate::maps::Maps;
use crate::placed::Scratch;
use crate::uses::{Construct, Form};
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

/// Parts of the program that a function may cover.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// All of it.
    Full,
    /// The fast path; another function has the full program.
    FastPath,
    /// All of it, for packets that leave the fast path.
    FullBehindFastPath,
}

/// The loop that runs egress for each copy.
#[derive(Clone)]
pub(crate) struct Copies {
    /// The place of the ports that copies go to: a pointer to a `struct port_group`.
    pub destinations: C,
    /// The number of the copy that egress runs for.
    pub number: C,
}

/// BPF, and what is known of the current function.
pub(crate) struct Bpf {
    /// The compilation's options.
    pub options: Rc<Options>,
    /// The program reads messages: many paths lead through what it has around that.
    pub reads_messages: bool,
    /// The hook that the program is to run at.
    pub hook: &'static dyn HookCode,
    /// The model whose meaning it has.
    pub model: Model,
    /// The part of the program that the function covers.
    pub coverage: Coverage,
    /// The bytes of the packet that matter.
    pub wire: Wire,
    /// The locks that are held, and what calls under them work on.
    pub held: Held,
    /// The interface's size, if it was read.
    pub asked_mtu: Option<C>,
    /// The loop over the copies of the packet, if it may go to several ports.
    pub copies: Option<Copies>,
    /// The label at which the code that runs for each copy of a packet goes on, if this copy goes no further.
    pub next_copy: Option<&'static str>,
    /// By how many bytes the packet has grown in front of its IP header, if it may.
    pub grown: Option<C>,
    /// Instructions that runtime helpers take beyond what statements suggest.
    pub extra_instructions: u32,
    /// Instructions that the verifier may have to walk of the current stage if what its parser leaves is in variables ([`crate::costs::walk`]).
    pub estimate: u64,
}

impl Bpf {
    /// At the start of a function.
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
    /// Packets that are still to be segmented may get outer headers.
    pub tunnels: bool,
    /// A decision depends on how often tables were changed.
    pub counts_changes: bool,
    /// Constructs in the file that the kernel must have something for.
    pub constructs: BTreeSet<Construct>,
}

/// 0, which the verifier does not know.
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

/// Records that the file has something, and gives the form that its code is to have.
pub(crate) fn needs(g: &mut Gen<'_>, construct: Construct) -> Form {
    g.file.own.constructs.insert(construct);
    construct.form(&g.target.options.features)
}
