//! Packets that re-enter the program: resubmitted and recirculated ones, and those that are truncated before they
//! leave.

use super::kept::{assign_var, is_list};
use super::memory::{ROUND, ROUNDS};
use super::{arrow, asks, call, id};
use crate::copies::NEXT;
use crate::emitter::Gen;
use crate::hook::traffic::{count_drop, drops};
use crate::hook::verdict::is_read;
use arch::v1model::STANDARD_METADATA;
use arch::v1model::copying::{CLONE, RECIRCULATE, REQUESTS, RESUBMIT, TRUNCATE, TRUNCATE_TO};
use arch::v1model::traffic::{Instance, Made};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type};
use emit::locals::LocalKind;
use ir::{Program, Var};
use smol_str::SmolStr;

/// Makes the packet, as it is now, re-enter the program with its preserved fields, unless it has done so too often.
pub(super) fn come_in_again(g: &mut Gen<'_>, made: &Instance) {
    let most = C::bin(BinOp::Lt, arrow("traffic", "rounds"), id("MOST_ROUNDS"));
    let again = g.block(|g| {
        let came = g.p.slot_var(STANDARD_METADATA, "ingress_global_timestamp");
        let came = came.filter(|&var| is_read(g.p, var));
        let came = came.map(|var| g.local(LocalKind::Var(var)));
        let lists: Vec<(C, Vec<(Var, C)>)> =
            g.p.field_lists
                .clone()
                .into_iter()
                .filter_map(|known| {
                    let vars = known.vars.iter();
                    let vars = vars.map(|&var| (var, g.local(LocalKind::Var(var))));
                    let vars = vars.collect();
                    Some((is_list(g, made.list?, known.number), vars))
                })
                .collect();
        let members = kept_vars(g);
        // A resubmitted packet is not truncated.
        let cut_to = (made.of == Made::BytesAsDeparsed && may_be_cut(g.p)).then(|| {
            let asked = g.slot(REQUESTS, TRUNCATE);
            C::choose(asked, least_cut(g), C::int(0))
        });
        round(g, |g, round| {
            let begins = |member: &str| arrow(round, "begins").member(member);
            let rounds = arrow("traffic", "rounds").plus(1);
            let mut out = vec![
                Stmt::Assign(begins("instance"), C::int(made.kind as u64)),
                Stmt::Assign(begins("rounds"), rounds),
                Stmt::Assign(begins("again"), C::int(1)),
            ];
            if let Some(cut_to) = cut_to {
                out.push(Stmt::Assign(begins("truncate"), cut_to));
            }
            out.extend(came.map(|came| Stmt::Assign(begins("came"), came)));
            for (is_asked, vars) in lists {
                let mut fields = Block::new();
                for (var, place) in vars {
                    let member = members.iter().find(|(known, _)| *known == var);
                    if let Some((_, member)) = member {
                        fields.extend(assign_var(g, var, arrow(round, member), place));
                    }
                }
                out.push(Stmt::If(is_asked, fields, Block::new()));
            }
            out
        });
    });
    let too_often = vec![count_drop(g, "DROPPED_ROUNDS")];
    g.push(Stmt::If(most, again, too_often));
}

/// Makes a clone of the packet re-enter the program, with the fields that `fill` preserves.
fn round(g: &mut Gen<'_>, fill: impl FnOnce(&mut Gen<'_>, &str) -> Block) {
    let [round, number] = ["kept", "round_number"].map(|wish| g.file.names.fresh(wish));
    let ty = Type::Struct(ROUND.into()).ptr();
    let made = vec![
        id(ROUNDS).addr(),
        id("no_round").addr(),
        C::Ident(number.clone()).addr(),
    ];
    g.push(Stmt::decl(Type::U64, number.clone(), C::int(0)));
    g.push(Stmt::decl(ty, round.clone(), call("new_round", made)));
    let mut filled = fill(g, &round);
    let args = vec![id("ctx"), drops(g), C::Ident(number)];
    filled.push(Stmt::Expr(call("come_in_again", args)));
    let none = vec![count_drop(g, "DROPPED_QUEUE")];
    g.push(Stmt::If(id(&round), filled, none));
}

/// Makes a packet that is to be truncated re-enter the program, which then truncates it and sends it.
pub(super) fn cut_and_send(g: &mut Gen<'_>) {
    let port = arrow("traffic", "port");
    let asked = g.slot(REQUESTS, TRUNCATE);
    let cut = g.block(|g| {
        let to = least_cut(g);
        round(g, |_, round| {
            let begins = || arrow(round, "begins");
            vec![
                Stmt::Assign(begins().member("port"), port.clone()),
                Stmt::Assign(begins().member("truncate"), to),
            ]
        });
        g.push(Stmt::Goto(NEXT.into()));
    });
    g.push(Stmt::If(asked, cut, Block::new()));
}

/// Returns the number of bytes to which a packet is truncated. It is at least 1, since the kernel refuses to truncate a
/// packet to 0 bytes.
fn least_cut(g: &mut Gen<'_>) -> C {
    let to = g.slot(REQUESTS, TRUNCATE_TO);
    C::choose(to.clone(), to, C::int(1))
}

/// Returns true if packets may be truncated after they are deparsed.
pub(super) fn may_be_cut(program: &Program) -> bool {
    asks(program, CLONE) || asks(program, TRUNCATE)
}

/// Returns true if packets may re-enter the program.
pub(super) fn comes_in_again(program: &Program) -> bool {
    may_be_cut(program) || asks(program, RESUBMIT) || asks(program, RECIRCULATE)
}

/// Returns the variables of field lists that are read after the packet re-enters the program. Each is there once, with
/// the member that preserves it.
pub(super) fn kept_vars(g: &Gen<'_>) -> Vec<(Var, SmolStr)> {
    let mut vars: Vec<Var> = Vec::new();
    let state = g.plan.state.as_ref();
    for &var in g.p.field_lists.iter().flat_map(|list| &list.vars) {
        if !vars.contains(&var) && state.is_none_or(|state| state.is_read_anew(var)) {
            vars.push(var);
        }
    }
    let member = |(i, var)| (var, SmolStr::from(format!("field{i}")));
    vars.into_iter().enumerate().map(member).collect()
}
