//! Atomic blocks and the calls of a flow state: one look-up of the set, its lock held for all of them.
//!
//! The key's place is searched once, when the lock is taken; from then on a variable says where the flow is
//! (`FLOW_WAYS` or more: it is not known), and each call works on that. Where the values stay in their place
//! ([`in_place`]), the flow is there from the look-up on, and a pointer leads to it.

mod calls;
mod in_place;
mod kept;
mod layout;
mod lock;
mod ways;

pub(super) use layout::Layout;

use super::Gen;
use super::values::Value;
use crate::errors::flow_state as refusals;
use crate::record;
use cgen::lower::limb_count;
use cgen::tree::{BinOp, Expr as C, Type as CType};
use diag::Span;
use in_place::InPlace;
use ir::visit::{self, Access};
use ir::{ExprKind, ExternArg, ExternCall, ExternInst, StmtId, StmtKind, atomic};
use kept::Kept;
use smol_str::SmolStr;

/// What the calls under a lock work on: C variables.
#[derive(Clone)]
pub(super) struct Held {
    layout: Layout,
    key: C,
    tag: C,
    now: Option<C>,
    set: C,
    at: C,
    /// Leads to the flow's place, once it is there.
    way: Option<C>,
    /// The interface's size, if anybody needs it: the kernel answers nothing while a lock is held.
    mtu: Option<C>,
    calls: Calls,
}

/// What is known of the calls under a lock.
#[derive(Clone, Default)]
struct Calls {
    kept: Kept,
    in_place: Option<InPlace>,
    need_mtu: bool,
}

impl Gen<'_> {
    /// An atomic block.
    pub(super) fn atomic(&mut self, block: &ir::Block) {
        match atomic::region(self.p, block) {
            Err(refusal) => self.refuse(refusals::atomic(self.options.hook, &refusal)),
            Ok(None) => self.run(block),
            Ok(Some(region)) => {
                let (before, locked) = block.split_at(region.first);
                self.run(before);
                self.forget_computed();
                let calls = Calls {
                    kept: kept::of_region(self.p, locked),
                    in_place: in_place::of_region(self.p, locked),
                    need_mtu: self.need_mtu(locked),
                };
                let span = locked.first().map_or(Span::NONE, |s| s.span);
                self.locked(region.object, &region.key, calls, span, |g| {
                    g.run(locked);
                    g.leave_place();
                });
            }
        }
    }

    /// A call, under the lock that is held or one of its own.
    pub(super) fn flow_call(
        &mut self,
        object: ExternInst,
        call: &ExternCall,
        id: StmtId,
        span: Span,
    ) {
        if let Some(held) = self.held.clone() {
            return self.locked_call(&held, call, id);
        }
        let Some(ExternArg::In(key)) = call.args.first() else {
            return self.not_lowered("a flow without key", span);
        };
        let statement = ir::Stmt::new(StmtKind::Extern(call.clone()), span);
        let calls = Calls {
            need_mtu: self.need_mtu(&[statement]),
            ..Calls::default()
        };
        self.locked(object, key, calls, span, |g| {
            if let Some(held) = g.held.clone() {
                g.locked_call(&held, call, id);
            }
        });
    }

    /// Whether statements read what would be asked for.
    fn need_mtu(&self, stmts: &[ir::Stmt]) -> bool {
        let mut found = false;
        visit::walk_block(stmts, &mut |stmt| {
            visit::accesses(self.p, &stmt.kind, |access| {
                let Access::Eval(e) = access else { return };
                visit::walk_expr(self.p, e, &mut |data| {
                    found |= matches!(data.kind, ExprKind::Var(var) if self.is_asked_for(var));
                });
            });
        });
        found
    }

    /// The interface's size, as it was asked for before the lock was taken that is held.
    pub(super) fn mtu_before_lock(&self) -> Option<C> {
        self.held.as_ref()?.mtu.clone()
    }
}

impl Held {
    fn is_known(&self) -> C {
        C::bin(BinOp::Lt, self.at.clone(), C::id("FLOW_WAYS"))
    }

    /// A member of the flow's place.
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
        if form.width <= 64 {
            return Value::Scalar(record::load(member, *form));
        }
        let limbs = 0..limb_count(form.width);
        Value::Limbs(
            limbs
                .map(|i| member.clone().index(C::int(i.into())))
                .collect(),
        )
    }

    /// The place for a flow that is not known.
    fn victim(&self) -> C {
        let set = |member: &str| self.set.clone().arrow(member);
        let mut args = vec![set("tag"), set("used"), set("clock")];
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

/// A place, of which the verifier does not know which it is: it would go each further way for each place.
fn anywhere(place: C) -> C {
    let nothing = C::pure("unknown_zero", vec![C::id("ctx")]);
    C::bin(BinOp::Add, place, nothing)
}

fn name_of(var: &C) -> SmolStr {
    match var {
        C::Ident(name) => name.clone(),
        _ => SmolStr::default(),
    }
}
