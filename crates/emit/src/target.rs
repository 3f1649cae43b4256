//! The interface between the emitter and a target: the one trait that it implements.
//!
//! A target's methods that emit take the emitter, whose `target` they are: they push statements, ask for
//! values and names as the emitter itself does.

use crate::emitter::Gen;
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
}

/// The names that a program's own must not take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reserved {
    /// Names, with white space between them.
    pub names: &'static str,
    /// What no name may begin with.
    pub prefixes: &'static [&'static str],
}

/// Hints for the target's C compiler, or for the verifier of its output, beyond the program's meaning.
/// Without any of it the C means the same.
pub trait Hints {
    /// Keeps the compiler from using another copy of a variable than the one that was checked.
    fn barrier(&self, _var: &C) -> Option<Stmt> {
        None
    }

    /// Keeps the compiler from saving a variable before its bound was checked: what it loads again later is not bounded.
    fn keep_bound(&self, _var: &C) -> Option<Stmt> {
        None
    }

    /// At a loop's end: whether a header is valid is to be remembered in the next turn.
    fn keep_known(&self, _flag: &C) -> Option<Stmt> {
        None
    }

    /// At a loop's end: a jump to a label if the loop has taken too long.
    fn leave_loop(&self, _label: &str) -> Option<Stmt> {
        None
    }

    /// At a loop's start: has the verifier of the C note what it knows in each turn, if it has to follow every turn.
    fn turn_begins(&self) -> Option<Stmt> {
        None
    }

    /// Where the paths of a turn meet: has the verifier of the C know nothing of a number of 64 bits, if it has to follow every turn.
    fn forget_value(&self, _number: &C) -> Option<Stmt> {
        None
    }

    /// Whether lengths that were kept in memory are checked again where they are used: the verifier of the C lost
    /// their bounds.
    fn recheck_lengths(&self) -> bool {
        false
    }

    /// What the parser leaves is kept in memory ([`crate::plan::parse_record`]) if [`crate::plan::size`] estimates more
    /// than this; `None` if it never is. A target without a verifier has no use for it.
    fn record_above(&self) -> Option<u64> {
        None
    }

    /// Where paths meet, if the parse record is kept: has the compiler load again what is in memory.
    fn forget(&self) -> Option<Stmt> {
        None
    }

    /// Before a decision about flags that were set on many paths: keeps the compiler from making it on each of them.
    fn join_paths(&self) -> Option<Stmt> {
        None
    }

    /// After how many statements of a control the function may be cut, if parts of it become functions of their own
    /// ([`cgen::parts`]): what leads into the packet is made anew there, and at each state of the parser.
    fn cut_after(&self) -> Option<u32> {
        None
    }

    /// Whether every header lives in variables, none in the packet: the verifier of the C lost their pointers.
    fn copy_headers(&self) -> bool {
        false
    }

    /// How many turns of loops a packet may take, if the verifier of the C has to follow every turn. A packet that takes
    /// more is rejected. The target's headers define `count_turn(turns)` then, which adds 1 to a variable.
    fn turn_limit(&self) -> Option<u32> {
        None
    }

    /// 1, for a presence flag.
    fn flag(&self) -> C {
        C::int(1)
    }

    /// A number, as an offset into the packet, whose value and range the verifier of the C is to drop.
    fn unknown(&self, number: C) -> C {
        number
    }

    /// An offset that was computed before the packet was resized, to be used after that: the verifier of the C may not be
    /// able to follow it back.
    fn over_resize(&self, offset: C) -> C {
        offset
    }

    /// A header's first byte, after the check that the header is valid.
    fn behind_check(&self, header: C) -> C {
        header
    }
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
    /// How a table finds its entries, and where its default action is.
    type Table: Clone;
    /// How a value set finds its members.
    type ValueSet: Clone;
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

    /// Declares what a table needs. Called once per file.
    fn table(g: &mut Gen<'_, Self>, shape: &TableShape<'_>) -> Self::Table;

    /// Emits the look-up of a table that keeps entries; gives the entry found, a pointer of type `entry`, or a
    /// null pointer. Statements in front of it are in a block of their own.
    fn look_up(g: &mut Gen<'_, Self>, table: &Self::Table, keys: &[Expr], entry: Type) -> C;

    /// The address of the default action of a table that keeps it.
    fn default_action(g: &Gen<'_, Self>, table: &Self::Table) -> C;

    /// Whether entries may name members and groups of an action profile ([`Target::follow`]).
    const HAS_PROFILES: bool = false;

    /// Has an entry that names a member or a group be what that leads to, a value of the same layout; a null pointer if that is
    /// not there. Any other stays.
    fn follow(_g: &mut Gen<'_, Self>, _table: &Self::Table, _data: &TableData, _entry: &C) {}

    /// Before the action of an entry of a table that keeps something for each entry ([`crate::table::DIRECT_COUNTER`]): the
    /// entry's number, which is 0 where the default action runs.
    fn enter_entry(_g: &mut Gen<'_, Self>, _table: &Self::Table, _number: C) {}

    /// After that action.
    fn leave_entry(_g: &mut Gen<'_, Self>) {}

    /// Whether a table's contents are still of a generation. A target that keeps no count of their changes never knows,
    /// and looks entries up.
    fn is_current(_g: &mut Gen<'_, Self>, _table: Table, _generation: u64) -> C {
        C::int(0)
    }

    /// Declares what a value set needs. Called once per file.
    fn value_set(g: &mut Gen<'_, Self>, set: ValueSet, data: &ValueSetData) -> Self::ValueSet;

    /// Emits the look-up in a value set; gives something that is not null if the keys are a member.
    fn member(g: &mut Gen<'_, Self>, set: &Self::ValueSet, keys: &[Expr]) -> C;

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
