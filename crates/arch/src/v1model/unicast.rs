//! The pipeline for packets that go to one port or nowhere, or unchanged to all ports of a group, for targets. The
//! effects of the traffic manager and of the architecture's own externs become statements of the program.
//!
//! | construct | lowered to |
//! |---|---|
//! | the traffic manager, between ingress and egress | the first statements of egress |
//! | the copies of a multicast group | runs of egress, which the target repeats with the port of each copy |
//! | a dropped packet | `egress_spec` is [`DROP_PORT`] when the last control has ended |
//! | the port of a sent packet | [`DESTINATION`], whatever egress writes to `egress_port` |
//! | `mark_to_drop` | assignments |
//! | `verify_checksum` | a call whose result tells whether the checksum is wrong, and an assignment |
//! | a block that verifies no checksum | nothing, so that the parser leads into ingress |
//!
//! Of `standard_metadata` the target provides the slot [`INPUT`], and reads the slot [`OUTPUT`]. The rest becomes the
//! program's own.

use super::lower::{Fields, assign, constant};
use super::traffic::{AT_EGRESS, Given, UNICAST, origin};
use super::{COMPUTE_CHECKSUM, DROP_PORT, EGRESS, INGRESS, STANDARD_METADATA, VERIFY_CHECKSUM};
use crate::DEPARSER;
use crate::payload::Calls;
use diag::Span;
use ir::analysis::mentions::{Mentions, Storage};
use ir::passes::{Rejects, inline, propagate};
use ir::visit::Access;
use ir::{
    BinaryOp, Block, Effect, Expr, ExprKind, ExternCall, Place, Program, Routine, Slot, SlotKind,
    Stmt, StmtKind, Type, Var, VarData, build, visit,
};

/// Slot that a target fills: `ingress_port`, `packet_length` in bytes, `ingress_global_timestamp` in microseconds,
/// [`NOW`], the variables of [`REPLICA`], and `parser_error`, which is `NoError` at the start.
pub const INPUT: &str = "v1model input";
/// Slot by which a target knows what to do with the packet: `egress_spec`, [`DESTINATION`] and `mcast_grp`.
pub const OUTPUT: &str = "v1model output";
/// Variable of [`INPUT`] with the time at which egress starts, in microseconds.
pub const NOW: &str = "now";

/// Variables of [`INPUT`] with the port and the `instance_type` of this run of egress, in programs whose packets may go
/// to groups.
pub const REPLICA: [&str; 2] = ["replica_port", "replica_instance"];

/// Variable of [`OUTPUT`] with the port by which a packet or copy leaves.
pub const DESTINATION: &str = "destination";

const OUTPUTS: [&str; 2] = ["egress_spec", "mcast_grp"];

/// Returns the program for packets that are neither resubmitted nor recirculated and whose copies are equal; and how
/// its passes treat packets that the parser rejects. `None` if copies may differ.
pub(super) fn of(program: &Program) -> Option<(Program, Rejects)> {
    let mut program = program.clone();
    let error = program.slot_var(STANDARD_METADATA, "parser_error");
    let fields = Fields::of(&program);
    fields.lower_marks(&mut program);
    fields.lower_checks(&mut program);
    crate::payload::lower(&mut program, Calls::All);
    let calls_inlined = inlined(&program);
    let replicates = may_choose_group(&calls_inlined).is_some();
    if replicates && !fields.copies_are_equal(&calls_inlined) {
        return None;
    }
    let [now, to, instance, destination] = split_slots(&mut program);
    let replica = replicates.then_some([to, instance]);
    fields.between(&mut program, now, destination, replica);
    if replicates {
        // Each run of egress starts with the variables as the previous run left them.
        program.copies = true;
    } else {
        fields.behind(&mut program);
    }
    let Program {
        blocks, routines, ..
    } = &mut program;
    blocks.retain(|block| {
        let routine = block.body.routine();
        let is_empty = routine.is_some_and(|routine| routines[routine].body.is_empty());
        block.name != VERIFY_CHECKSUM || !is_empty
    });
    program.number_stmts();
    Some((program, Rejects::Edges(error)))
}

/// Returns the first location at which a program, as elaborated, may send packets to multicast groups.
pub(super) fn sends_to_groups(program: &Program) -> Option<Span> {
    let mut program = program.clone();
    Fields::of(&program).lower_marks(&mut program);
    may_choose_group(&inlined(&program))
}

/// Returns the same as [`chooses_group`] for a program as elaborated. Its actions may copy all of the metadata in and
/// out. Values are propagated first, so that writing back the old value of `mcast_grp` does not count.
fn may_choose_group(calls_inlined: &Program) -> Option<Span> {
    chooses_group(calls_inlined)?;
    let mut known = calls_inlined.clone();
    propagate::run(&mut known);
    chooses_group(&known)
}

/// Returns the first location at which a program, its calls inlined, may choose a multicast group. That is a write of
/// anything but 0 to `mcast_grp` before the end of ingress. Later writes have no effect.
pub fn chooses_group(program: &Program) -> Option<Span> {
    let mut slots = [OUTPUT, STANDARD_METADATA].into_iter();
    let group = slots.find_map(|slot| program.slot_var(slot, "mcast_grp"))?;
    let states = program
        .parsers
        .values()
        .flat_map(|parser| parser.states.values());
    let controls = [VERIFY_CHECKSUM, INGRESS].map(|name| program.control_block(name));
    let controls = controls.into_iter().flatten();
    let blocks = controls.flat_map(|control| reached(program, control));
    let mut found = None;
    for block in states.map(|state| &state.body).chain(blocks) {
        visit::walk_block(block, &mut |stmt| {
            visit::accesses(program, &stmt.kind, |access| {
                if access == Access::Write(Place::Var(group)) && !writes_zero(program, &stmt.kind) {
                    found.get_or_insert(stmt.span);
                }
            });
        });
    }
    found
}

impl Fields {
    /// Returns true if all copies that egress lets through are equal: egress does nothing to a packet but drop it, and
    /// the blocks after it have no effect outside the packet. Then egress may run for each copy before the packet is
    /// deparsed.
    fn copies_are_equal(&self, program: &Program) -> bool {
        let Some(egress) = program.control_block(EGRESS) else {
            return false;
        };
        let decides = ["egress_spec", "mcast_grp"].map(|name| self.find(name).map(|(_, var)| var));
        let written = Mentions::of_block(program, &program.routines[egress].body).written;
        let is_kept = |storage: &Storage| {
            program.slots.iter().any(|slot| match storage {
                Storage::Var(var) => {
                    slot.vars.iter().any(|(_, of)| of == var) && !decides.contains(&Some(*var))
                }
                Storage::Header(header) => slot.headers.iter().any(|(_, of)| of == header),
            })
        };
        let behind = [COMPUTE_CHECKSUM, DEPARSER].map(|name| program.control_block(name));
        let mut once = behind.into_iter().flatten();
        !written.iter().any(is_kept)
            && !calls(program, egress, |call| {
                // These end the copy. They end the packet only if they run for the packet itself.
                matches!(call.name.as_str(), "assert" | "assume")
            })
            && !once.any(|routine| calls(program, routine, |call| call.effect != Effect::None))
    }

    /// Prepends statements to egress: a packet that ingress drops skips it; for others they assign the metadata.
    fn between(
        &self,
        program: &mut Program,
        now: Var,
        destination: Var,
        replica: Option<[Var; 2]>,
    ) {
        // If egress runs for copies, the target tests for the drop before it.
        let mut front = match replica {
            None => self.unless_dropped(program),
            Some(_) => Block::new(),
        };
        let replica = replica.map(|vars| vars.map(|var| build::var(program, var, Span::NONE)));
        let now = build::var(program, now, Span::NONE);
        let port = match replica {
            None => {
                let spec = self.find("egress_spec");
                spec.map(|(_, var)| build::var(program, var, Span::NONE))
            }
            Some([port, _]) => Some(port),
        };
        front.extend(port.map(|port| assign(destination, port)));
        for (name, given) in AT_EGRESS {
            let Some((_, var)) = self.find(name) else {
                continue;
            };
            let ty = program.vars[var].ty;
            let value = match (given, replica) {
                (Given::Port, _) => port,
                (Given::InstanceType, Some([_, instance])) => Some(instance),
                (Given::InstanceType, None) => Some(constant(program, ty, UNICAST.kind as u32)),
                (Given::Now, _) => Some(low_bits(program, now, ty)),
                _ => Some(constant(program, ty, 0)),
            };
            front.extend(value.map(|value| assign(var, value)));
        }
        prepend(program, EGRESS, front);
    }

    /// Makes the blocks after egress compute nothing for a packet that egress drops.
    fn behind(&self, program: &mut Program) {
        let front = self.unless_dropped(program);
        prepend(program, COMPUTE_CHECKSUM, front);
    }

    /// Makes `if (egress_spec == DROP_PORT) exit;`.
    fn unless_dropped(&self, program: &mut Program) -> Block {
        let Some((_, spec)) = self.find("egress_spec") else {
            return Block::new();
        };
        let port = constant(program, program.vars[spec].ty, DROP_PORT);
        let spec = build::var(program, spec, Span::NONE);
        let kind = ExprKind::Binary(BinaryOp::Eq, spec, port);
        let kind = StmtKind::If {
            cond: build::make(program, kind, Type::Bool, Span::NONE),
            then: vec![Stmt::new(StmtKind::Exit, Span::NONE)],
            otherwise: Block::new(),
        };
        vec![Stmt::new(kind, Span::NONE)]
    }
}

/// Splits the fields that the target writes and reads off `standard_metadata`. Returns the variables for [`NOW`],
/// [`REPLICA`] and [`DESTINATION`].
fn split_slots(program: &mut Program) -> [Var; 4] {
    let own = [
        (NOW, 48),
        (REPLICA[0], 9),
        (REPLICA[1], 32),
        (DESTINATION, 9),
    ]
    .map(|(name, width)| {
        let var = program.vars.push(VarData {
            name: name.into(),
            ty: Type::bit(width),
            span: Span::NONE,
        });
        (name, var)
    });
    let metadata = program
        .slots
        .iter_mut()
        .find(|s| s.name == STANDARD_METADATA);
    let of = |names: &[&str]| {
        let mut taken = Vec::new();
        if let Some(slot) = &metadata {
            let known = slot
                .vars
                .iter()
                .filter(|(name, _)| names.contains(&name.as_str()));
            taken.extend(known.cloned());
        }
        taken
    };
    let mut inputs = of(&origin().collect::<Vec<_>>());
    let mut outputs = of(&OUTPUTS);
    if let Some(slot) = metadata {
        slot.kind = SlotKind::Program;
        slot.vars
            .retain(|var| !inputs.contains(var) && !outputs.contains(var));
    }
    let named = own.map(|(name, var)| (name.into(), var));
    let [now, to, instance, destination] = named;
    inputs.extend([now, to, instance]);
    outputs.push(destination);
    for (name, vars) in [(INPUT, inputs), (OUTPUT, outputs)] {
        program.slots.push(Slot {
            name: name.into(),
            kind: SlotKind::Intrinsic,
            vars,
            headers: Vec::new(),
        });
    }
    own.map(|(_, var)| var)
}

fn prepend(program: &mut Program, block: &str, mut front: Block) {
    if let Some(routine) = program.control_block(block) {
        let body = &mut program.routines[routine].body;
        front.append(body);
        *body = front;
    }
}

fn low_bits(program: &mut Program, base: Expr, ty: Type) -> Expr {
    if program.ty(base) == ty {
        return base;
    }
    let hi = ty.width().saturating_sub(1);
    let kind = ExprKind::Slice { base, hi, lo: 0 };
    build::make(program, kind, ty, Span::NONE)
}

/// Returns the program with calls of sub-controls inlined. Arguments then count as written only where they are.
fn inlined(program: &Program) -> Program {
    let mut program = program.clone();
    inline::run(&mut program, 0);
    program.number_stmts();
    program
}

/// Iterates over a routine's body, and the actions of the tables that it applies.
fn reached(program: &Program, routine: Routine) -> impl Iterator<Item = &Block> {
    let body = &program.routines[routine].body;
    let tables = Mentions::of_block(program, body).tables;
    let actions = tables
        .into_iter()
        .flat_map(|table| &program.tables[table].actions);
    let actions = actions.map(|listed| &program.actions[listed.action].body);
    std::iter::once(body).chain(actions)
}

/// Returns true if a routine, or an action of a table that it applies, calls an extern for which `such` holds.
fn calls(program: &Program, routine: Routine, such: impl Fn(&ExternCall) -> bool) -> bool {
    let mut found = false;
    for block in reached(program, routine) {
        visit::walk_block(block, &mut |stmt| {
            found |= matches!(&stmt.kind, StmtKind::Extern(call) if such(call));
        });
    }
    found
}

fn writes_zero(program: &Program, kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Assign { value, .. } => {
            matches!(&program.exprs[*value].kind, ExprKind::Const(bits) if bits.is_zero())
        }
        _ => false,
    }
}
