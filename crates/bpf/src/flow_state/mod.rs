//! Atomic blocks and the calls of a flow state: one look-up of the set, its lock held for all of them.
//!
//! The key's way is searched once, when the lock is taken; from then on a variable holds the way's number
//! (`FLOW_WAYS` or more: the flow is not known), and each call works on that. Where the values are used in place
//! ([`in_place`]), the flow exists from the look-up on, and a pointer leads to it.

mod calls;
mod in_place;
mod layout;
mod lock;
mod redundant_stores;

pub(crate) use calls::in_place;
pub(crate) use layout::Layout;

use crate::errors::flow_state as refusals;
use crate::externs::register;
use crate::target::{Gen, barrier, unknown_zero};
use crate::uses::{Construct, needs};
use calls::{leave_way, locked_call, masked};
use cgen::tree::{BinOp, Expr as C, Type as CType};
use emit::Hints;
use emit::values::Value;
use in_place::InPlace;
use ir::visit::{self, Access};
use ir::{ExprKind, ExternArg, ExternCall, ExternInst, atomic};
use lock::locked;
use redundant_stores::RedundantStores;
use smol_str::SmolStr;

/// What the calls under a lock work on: C variables.
#[derive(Clone)]
pub(crate) struct HeldLock {
    layout: Layout,
    key: C,
    tag: C,
    now: Option<C>,
    set: C,
    at: C,
    /// Points to the flow's way, once it has one.
    way: Option<C>,
    /// The interface's size, if it is needed: no helper may be called while a lock is held.
    mtu: Option<C>,
    calls: Calls,
}

/// What is known of the calls under a lock.
#[derive(Clone, Default)]
struct Calls {
    redundant: RedundantStores,
    in_place: Option<InPlace>,
    need_mtu: bool,
}

/// An atomic block.
pub(crate) fn atomic(g: &mut Gen<'_>, block: &ir::Block) {
    match atomic::region(g.p, block) {
        Err(refusal) => g.refuse(refusals::atomic(g.target.options.hook, &refusal)),
        Ok(None) => g.run(block),
        Ok(Some(region)) if g.p.externs[region.cells[0].object].ty == atomic::REGISTER => {
            register::atomic(g, &region, block);
        }
        Ok(Some(region)) => {
            let (before, inside) = block.split_at(region.first);
            g.run(before);
            g.kill_computed();
            let calls = Calls {
                redundant: redundant_stores::of_region(g.p, inside),
                in_place: in_place::of_region(g.p, inside),
                need_mtu: need_mtu(g, inside),
            };
            g.hold_headers(inside);
            let cell = &region.cells[0];
            locked(g, cell.object, &cell.key, calls, |g| {
                g.run(inside);
                leave_way(g);
            });
            g.release_headers();
        }
    }
}

/// A call, under the lock that is held or one of its own.
pub(crate) fn flow_call(g: &mut Gen<'_>, object: ExternInst, call: &ExternCall, stmt: &ir::Stmt) {
    if let Some(held) = g.target.held.clone() {
        return locked_call(g, &held, call, stmt.id);
    }
    let Some(ExternArg::In(key)) = call.args.first() else {
        return g.not_lowered("a flow without key", stmt.span);
    };
    let calls = Calls {
        need_mtu: need_mtu(g, std::slice::from_ref(stmt)),
        ..Calls::default()
    };
    g.hold_headers(std::slice::from_ref(stmt));
    locked(g, object, key, calls, |g| {
        if let Some(held) = g.target.held.clone() {
            locked_call(g, &held, call, stmt.id);
        }
    });
    g.release_headers();
}

/// Whether statements read it.
fn need_mtu(g: &Gen<'_>, stmts: &[ir::Stmt]) -> bool {
    let mut found = false;
    visit::walk_block(stmts, &mut |stmt| {
        visit::accesses(g.p, &stmt.kind, |access| {
            let Access::Eval(e) = access else { return };
            visit::walk_expr(g.p, e, &mut |data| {
                found |= matches!(data.kind, ExprKind::Var(var) if g.target.hook.asks_late(g, var));
            });
        });
    });
    found
}

/// The interface's size, read where it is needed: it is constant, and few packets need it. While a lock
/// is held it is what was asked before.
pub(crate) fn ask_mtu(g: &mut Gen<'_>) -> C {
    let before = g.target.held.as_ref().and_then(|held| held.mtu.clone());
    if let Some(asked) = before.or_else(|| g.target.asked_mtu.clone()) {
        return asked;
    }
    needs(g, Construct::Mtu);
    let asked = g.own_local("asked_mtu", CType::U32, None);
    g.set(asked.clone(), C::call("packet_mtu", vec![C::id("ctx")]));
    g.target.asked_mtu = Some(asked.clone());
    asked
}

impl HeldLock {
    fn is_known(&self) -> C {
        C::bin(BinOp::Lt, self.at.clone(), C::id("FLOW_WAYS"))
    }

    /// Where the way is known: bounds its number once more if the compiler may have saved it before the test, which
    /// the verifier would not know of. A barrier alone may take the saved one. In a large program it keeps the verifier
    /// from following each number by itself.
    fn stays_in_bounds(&self, g: &mut Gen<'_>) {
        g.file.contents.bounds = true;
        let large = g.plan.record.is_some();
        let kept = large.then(|| barrier(&self.at));
        if let Some(barrier) = kept.or_else(|| g.target.keep_bound(&self.at)) {
            g.push(barrier);
            g.set(self.at.clone(), masked(self.at.clone()));
        }
    }

    /// A member of the flow's way.
    fn member(&self, name: impl Into<SmolStr>) -> C {
        match &self.way {
            Some(way) => way.clone().arrow(name),
            None => {
                let ways = self.set.clone().arrow("way");
                ways.index(self.at.clone()).member(name)
            }
        }
    }

    /// A field of the flow's value.
    fn field(&self, i: usize) -> Value {
        let (member, form) = &self.layout.value[i];
        let member = self.member(member.clone());
        Value::member(member, *form)
    }

    /// The way for a flow that is not known.
    fn victim(&self) -> C {
        let set = |member: &str| self.set.clone().arrow(member);
        let mut args = vec![set("tag"), set("used"), set("lru"), set("evicted").addr()];
        let Some(now) = &self.now else {
            return C::call("flow_victim", args);
        };
        args.extend([
            set("way").index(C::int(0)).member("seen").addr(),
            C::SizeOf(CType::Struct(self.layout.way.clone())),
            now.clone(),
            C::int(self.layout.idle),
        ]);
        let other = C::call("flow_victim_aged", args);
        let own = C::bin(BinOp::Sub, self.at.clone(), C::id("FLOW_AGED"));
        let had_one = C::bin(BinOp::Ge, self.at.clone(), C::id("FLOW_AGED"));
        C::Cond(Box::new(had_one), Box::new(own), Box::new(other))
    }
}

/// A way whose number is unknown to the verifier, which would otherwise check each further path once per way.
fn anywhere(way: C) -> C {
    let nothing = unknown_zero();
    C::bin(BinOp::Add, way, nothing)
}

fn name_of(var: &C) -> SmolStr {
    match var {
        C::Ident(name) => name.clone(),
        _ => SmolStr::default(),
    }
}
