//! The interface between the emitter and a target: the one trait that it implements.
//!
//! A target's methods that emit take the emitter, whose `target` they are: they push statements, ask for
//! values and names as the emitter itself does.

use crate::emitter::Gen;
use crate::hints::Hints;
use crate::names::Names;
use crate::record::Form;
use crate::stage::Code;
use crate::table::TableShape;
use cgen::tree::{Expr as C, Stmt, Type};
use diag::Diagnostics;
use ir::{
    Expr, ExternCall, Program, Routine, Stage, Table, TableData, ValueSet, ValueSetData, Var,
};

/// What a target can take. It reports its other limits elsewhere: variables in [`Target::function`], a
/// non-linear packet in [`Target::too_short`], headroom by the result of `packet_resize`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The largest offset into a packet that the C follows, in bytes.
    pub offset: u64,
    /// The packet's front can stay where it is while what is behind it grows or shrinks.
    pub front_stays: bool,
    /// Bytes of a packet's front that are kept in memory for fields of variable length, where it is put together several times: a
    /// power of two. A packet whose parser reads more of it is rejected.
    pub kept_front: u32,
}

/// The names that a program's own must not take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reserved {
    /// Names, with white space between them.
    pub names: &'static str,
    /// What no name may begin with.
    pub prefixes: &'static [&'static str],
}

/// A target: where the C runs.
///
/// Its functions take a parameter `ctx` that stands for the packet. Its headers define, as functions or macros:
/// - `goto_if_short(end, data_end, label)`: goes to a label if `end` is behind the packet's end.
/// - `packet_length(ctx, data, data_end)`: the packet's length in bytes.
/// - `packet_resize(ctx, front, from, to)`: makes the `from` bytes after the first `front` ones `to` bytes, whose
///   content does not matter. 0 if it could. Pointers into the packet are made again afterwards.
/// - `packet_load_bytes(ctx, offset, to, len)`, `packet_store_bytes(ctx, offset, from, len)`: bytes of the packet
///   to memory and back. The length is not 0. 0 if the packet has as many bytes.
///
/// A method that takes `&mut Gen<Self>` may emit.
pub trait Target: Hints + Sized {
    /// What the functions of one file share that only the target knows.
    type File: Clone + Default;
    /// Code for tables and value sets.
    type Lookups: Lookups<Self>;
    /// A finished function.
    type Function;

    /// As messages call it: "the … target".
    fn name(&self) -> &'static str;

    /// What it can take.
    fn limits(&self) -> Limits;

    /// Names that its headers and its own code use.
    fn reserved() -> &'static [Reserved];

    /// Resets the target at the start of another function.
    fn afresh(&self) -> Self;

    /// How a function of the program that stays one is linked.
    fn linkage(&self) -> &'static str;

    /// Where the packet's bytes begin and end, asked again.
    fn bounds(&self) -> (C, C);

    /// The address of memory for relocated headers, of the final `g.rebuilding.relocated_bytes` bytes.
    fn relocated(&self) -> C;

    /// At the end of a loop's turn: a jump to a label if the loop has taken too long. `None` if a loop may take as long as it does.
    fn leave_loop(&self, _label: &str) -> Option<Stmt> {
        None
    }

    /// The label for packets that are too short for their parser, as far as they can be seen; `reject` by default.
    fn too_short(_g: &Gen<'_, Self>) -> &'static str {
        "reject"
    }

    /// Whether an extern reads the packet as it came: then nothing is written into it before the end.
    fn reads_packet(_call: &ExternCall) -> bool {
        false
    }

    /// The first of a stage's controls that runs once for each copy of a packet, as what follows it does, the deparser included: each time
    /// the target has put headers and variables back to what they were somewhere ([`crate::locals::Home::State`]). `None` if
    /// all of the stage runs once.
    fn repeats_from(&self, _program: &Program, _stage: &Stage) -> Option<Routine> {
        None
    }

    /// Before a stage's parser.
    fn enter(_g: &mut Gen<'_, Self>) {}

    /// Before the packet is resized from `keep` bytes to `to`. At least `front` bytes stay in front of what is inserted or
    /// removed.
    fn before_resize(_g: &mut Gen<'_, Self>, _front: u32, _to: &C) {}

    /// Before one of the stage's controls.
    fn before_control(_g: &mut Gen<'_, Self>, _control: Routine) {}

    /// After one of the stage's controls.
    fn after_control(_g: &mut Gen<'_, Self>, _control: Routine) {}

    /// Result of a stage's function for a packet that its controls dropped ([`Stage::drops`]).
    fn dropped(g: &Gen<'_, Self>) -> C;

    /// After the controls of a stage that another follows: has the packet put together, and goes on with `next`, which calls the
    /// other one's function.
    fn go_on(g: &mut Gen<'_, Self>, next: C);

    /// After the last stage's controls: what becomes of the packet. [`Gen::deparse`] puts it together. What does not
    /// return goes on to the label `reject`.
    fn verdict(g: &mut Gen<'_, Self>);

    /// After the label `reject`: what becomes of a packet that the parser rejects, or that cannot be handled.
    fn reject(g: &mut Gen<'_, Self>);

    /// The function of a stage, once its statements are complete.
    ///
    /// # Errors
    ///
    /// What the target has no room for.
    fn function(g: &mut Gen<'_, Self>, code: Code) -> Result<Self::Function, Diagnostics>;

    /// Whether a table's contents are still of a generation. A target that keeps no count of their changes never knows,
    /// and looks entries up.
    fn is_current(_g: &mut Gen<'_, Self>, _table: Table, _generation: u64) -> C {
        C::int(0)
    }

    /// Calls an extern, in a statement of the program; one that it does not have it refuses.
    fn call(g: &mut Gen<'_, Self>, call: &ExternCall, stmt: &ir::Stmt);

    /// Statements that nothing else may come between.
    fn atomic(g: &mut Gen<'_, Self>, block: &ir::Block);

    /// Another statement of the program begins.
    fn next_statement(&mut self) {}

    /// Where a variable is that has, at this point, no C variable of its own.
    fn home(_g: &mut Gen<'_, Self>, _var: Var) -> Option<(C, Form)> {
        None
    }

    /// The names of a file for this target, none taken but those that are reserved.
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

    /// Declares what a table needs. Called once per file.
    fn table(g: &mut Gen<'_, T>, shape: &TableShape<'_>) -> Self::Table;

    /// Emits the look-up of a table that keeps entries; gives the entry found, a pointer of type `entry`, or a
    /// null pointer. Statements in front of it are in a block of their own.
    fn look_up(g: &mut Gen<'_, T>, table: &Self::Table, keys: &[Expr], entry: Type) -> C;

    /// The address of the default action of a table that keeps it.
    fn default_action(g: &Gen<'_, T>, table: &Self::Table) -> C;

    /// True if entries may name members and groups of an action profile ([`Lookups::follow`]).
    const HAS_PROFILES: bool = false;

    /// Has an entry that names a member or a group be what that leads to, a value of the same layout; a null pointer if that is
    /// not there. Any other stays.
    fn follow(_g: &mut Gen<'_, T>, _table: &Self::Table, _data: &TableData, _entry: &C) {}

    /// Before the action of an entry of a table that keeps something for each entry ([`crate::table::DIRECT_COUNTER`]): the
    /// entry's number, which is 0 where the default action runs.
    fn enter_entry(_g: &mut Gen<'_, T>, _table: &Self::Table, _number: C) {}

    /// After that action.
    fn leave_entry(_g: &mut Gen<'_, T>) {}

    /// Declares what a value set needs. Called once per file.
    fn value_set(g: &mut Gen<'_, T>, set: ValueSet, data: &ValueSetData) -> Self::ValueSet;

    /// Emits the look-up in a value set; gives something that is not null if the keys are a member.
    fn member(g: &mut Gen<'_, T>, set: &Self::ValueSet, keys: &[Expr]) -> C;
}
