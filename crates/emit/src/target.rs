//! The interface between the emitter and a target: the one trait that it implements.
//!
//! A target's methods that emit code take the emitter, which contains the target. They push statements, and request
//! values and names, as the emitter itself does.

use crate::emitter::Gen;
use crate::hints::Hints;
use crate::names::Names;
use crate::record::MemberLayout;
use crate::stage::Code;
use crate::table::TableShape;
use cgen::tree::{Expr as C, Stmt, Type};
use diag::Diagnostics;
use ir::{
    Expr, ExternCall, Program, Routine, Stage, Table, TableData, ValueSet, ValueSetData, Var,
};

/// Limits of a target. It reports other limits elsewhere: those on variables in [`Target::function`], a non-linear
/// packet in [`Target::too_short`], missing headroom by the result of `packet_resize`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Greatest offset into a packet that the C follows, in bytes.
    pub offset: u64,
    /// True if the packet's front can stay in place while the part after it grows or shrinks.
    pub front_stays: bool,
    /// Number of bytes of a packet's front that are kept in memory, a power of two. If the packet is put together
    /// several times, fields of variable length are copied from there. A packet whose parser reads more is
    /// rejected.
    pub kept_front: u32,
}

/// Names that a program's own names must not take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reserved {
    /// Names, separated by white space.
    pub names: &'static str,
    /// Prefixes that no name may have.
    pub prefixes: &'static [&'static str],
}

/// A target: the environment in which the C runs.
///
/// Its functions take a parameter `ctx` that stands for the packet. Its headers define, as functions or macros:
/// - `goto_if_short(end, data_end, label)`: goes to a label if `end` is after the packet's end.
/// - `packet_length(ctx, data, data_end)`: the packet's length in bytes.
/// - `packet_resize(ctx, front, from, to)`: replaces the `from` bytes after the first `front` ones by `to` bytes of
///   arbitrary content. Returns 0 on success. Pointers into the packet are made again afterwards.
/// - `packet_load_bytes(ctx, offset, to, len)`, `packet_store_bytes(ctx, offset, from, len)`: copy bytes of the packet
///   to memory, and back. The length is not 0. They return 0 if the packet has enough bytes.
///
/// A method that takes `&mut Gen<Self>` may emit.
pub trait Target: Hints + Sized {
    /// State that the functions of one file share, and that only the target uses.
    type File: Clone + Default;
    /// Code for tables and value sets.
    type Lookups: Lookups<Self>;
    /// A finished function.
    type Function;

    /// Returns its name in messages: "the … target".
    fn name(&self) -> &'static str;

    /// Returns its limits.
    fn limits(&self) -> Limits;

    /// Returns the names that its headers and its own code use.
    fn reserved() -> &'static [Reserved];

    /// Resets the target at the start of another function.
    fn afresh(&self) -> Self;

    /// Returns the linkage specifiers of a function of the program that stays a function.
    fn linkage(&self) -> &'static str;

    /// Returns expressions that load the packet's start and end again.
    fn bounds(&self) -> (C, C);

    /// Returns the address of the memory for relocated headers, of the final `g.rebuilding.relocated_bytes` bytes.
    fn relocated(&self) -> C;

    /// Returns a statement for the end of a loop's iteration: a jump to a label if the loop has run too long.
    /// `None` if loops may run without limit.
    fn leave_loop(&self, _label: &str) -> Option<Stmt> {
        None
    }

    /// Returns the label for packets whose visible part is too short for their parser; `reject` by default.
    fn too_short(_g: &Gen<'_, Self>) -> &'static str {
        "reject"
    }

    /// Returns true if an extern reads the packet as it came in. Then nothing is written into the packet before the
    /// end.
    fn reads_packet(_call: &ExternCall) -> bool {
        false
    }

    /// Returns the first of a stage's controls that runs once for each copy of a packet. Everything after it does
    /// so, too, including the deparser. Before each run, the target restores the copy's headers and variables
    /// ([`crate::locals::Home::State`]). `None` if the entire stage runs once.
    fn repeats_from(&self, _program: &Program, _stage: &Stage) -> Option<Routine> {
        None
    }

    /// Emits code before a stage's parser.
    fn enter(_g: &mut Gen<'_, Self>) {}

    /// Emits code before the packet is resized from `keep` bytes to `to`. At least `front` bytes stay before the
    /// inserted or removed ones.
    fn before_resize(_g: &mut Gen<'_, Self>, _front: u32, _to: &C) {}

    /// Emits code before one of the stage's controls.
    fn before_control(_g: &mut Gen<'_, Self>, _control: Routine) {}

    /// Emits code after one of the stage's controls.
    fn after_control(_g: &mut Gen<'_, Self>, _control: Routine) {}

    /// Returns the result of a stage's function for a packet that its controls dropped ([`Stage::drops`]).
    fn dropped(g: &Gen<'_, Self>) -> C;

    /// Emits code after the controls of a stage that another stage follows. It puts the packet together and
    /// continues with `next`, a call of the other stage's function.
    fn go_on(g: &mut Gen<'_, Self>, next: C);

    /// Emits the verdict, after the last stage's controls. [`Gen::deparse`] puts the packet together. Code that
    /// does not return continues at the label `reject`.
    fn verdict(g: &mut Gen<'_, Self>);

    /// Emits code after the label `reject`, for a packet that the parser rejects or that cannot be handled.
    fn reject(g: &mut Gen<'_, Self>);

    /// Makes the function of a stage, once its statements are complete.
    ///
    /// # Errors
    ///
    /// Diagnostics if the function exceeds the target's limits.
    fn function(g: &mut Gen<'_, Self>, code: Code) -> Result<Self::Function, Diagnostics>;

    /// Condition that a table's contents are still of a generation. A target that does not count their changes
    /// returns 0, so that entries are looked up.
    fn is_current(_g: &mut Gen<'_, Self>, _table: Table, _generation: u64) -> C {
        C::int(0)
    }

    /// Calls an extern, in a statement of the program; refuses an extern that the target does not have.
    fn call(g: &mut Gen<'_, Self>, call: &ExternCall, stmt: &ir::Stmt);

    /// Emits an atomic block: nothing else may come between its statements.
    fn atomic(g: &mut Gen<'_, Self>, block: &ir::Block);

    /// Called before each statement of the program.
    fn next_statement(&mut self) {}

    /// Returns the location of a variable that has no C variable of its own at this point.
    fn home(_g: &mut Gen<'_, Self>, _var: Var) -> Option<(C, MemberLayout)> {
        None
    }

    /// Returns a name space for a file of this target, in which only the reserved names are taken.
    fn names() -> Names {
        Names::new(Self::reserved())
    }
}

/// Code for tables and value sets of a target. Crate `state` has one for targets with memory for them.
pub trait Lookups<T: Target> {
    /// A declared table: the structure that finds its entries, and its default action.
    type Table: Clone;
    /// A declared value set: the structure that finds its members.
    type ValueSet: Clone;

    /// Declares a table's structures. Called once per file.
    fn table(g: &mut Gen<'_, T>, shape: &TableShape<'_>) -> Self::Table;

    /// Emits the look-up in a table that keeps entries. Returns a pointer of type `entry` to the entry found, or a
    /// null pointer. Statements before it are in a block of their own.
    fn look_up(g: &mut Gen<'_, T>, table: &Self::Table, keys: &[Expr], entry: Type) -> C;

    /// Returns the address of the default action of a table that keeps it.
    fn default_action(g: &Gen<'_, T>, table: &Self::Table) -> C;

    /// True if entries may name members and groups of an action profile ([`Lookups::follow`]).
    const HAS_PROFILES: bool = false;

    /// Replaces an entry that names a member or a group by the value that it leads to, which has the same layout; a
    /// null pointer if that is missing. Other entries stay.
    fn follow(_g: &mut Gen<'_, T>, _table: &Self::Table, _data: &TableData, _entry: &C) {}

    /// Emits code before the action of an entry, if objects are kept for each entry
    /// ([`crate::table::DIRECT_COUNTER`]). The entry's number is 0 if the default action runs.
    fn enter_entry(_g: &mut Gen<'_, T>, _table: &Self::Table, _number: C) {}

    /// Emits code after that action.
    fn leave_entry(_g: &mut Gen<'_, T>) {}

    /// Declares a value set's structures. Called once per file.
    fn value_set(g: &mut Gen<'_, T>, set: ValueSet, data: &ValueSetData) -> Self::ValueSet;

    /// Emits the look-up in a value set. The expression it returns is not null if the keys are a member.
    fn member(g: &mut Gen<'_, T>, set: &Self::ValueSet, keys: &[Expr]) -> C;
}
