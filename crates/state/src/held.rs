//! Facts about state at a point: the locks that are held, the operands of calls under a lock, and the colour of an
//! entry.

use crate::analysis::in_place::InPlace;
use crate::analysis::redundant_stores::RedundantStores;
use crate::layouts::FlowLayout;
use cgen::tree::{BinOp, Expr as C, Type as CType};
use emit::values::Value;
use emit::{Event, Gen, Target};
use ir::atomic::Cell;
use smol_str::SmolStr;

/// Facts about state at a point of a function.
#[derive(Clone, Default)]
pub struct Held {
    /// Lock of a set of flows.
    pub(crate) flow: Option<HeldLock>,
    /// Cells of registers whose lock is held, with pointers that may be null.
    pub(crate) cells: Vec<(Cell, C)>,
    /// Colour that the direct meter gave the packet, while the action of the meter's entry runs.
    pub(crate) entry_color: Option<C>,
}

impl Held {
    /// Returns the input that was read before the lock was taken.
    pub fn input(&self) -> Option<C> {
        self.flow.as_ref()?.input.clone()
    }
}

/// Operands of the calls under the lock of a set of flows: C variables.
#[derive(Clone)]
pub(crate) struct HeldLock {
    pub layout: FlowLayout,
    pub key: C,
    /// Pointer to the element where this processor keeps the key's hash.
    pub kept: C,
    pub tag: C,
    pub now: Option<C>,
    pub set: C,
    pub at: C,
    /// Pointer to the flow's way, once it has one.
    pub way: Option<C>,
    /// Late input, if it is needed. It is read before, since no function may read it while a lock is held.
    pub input: Option<C>,
    pub calls: Calls,
}

/// Results of the analyses of calls under a lock.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    pub redundant: RedundantStores,
    pub in_place: Option<InPlace>,
}

impl HeldLock {
    /// Returns the test that the flow is known.
    pub(crate) fn is_known(&self) -> C {
        C::bin(BinOp::Lt, self.at.clone(), C::id("FLOW_WAYS"))
    }

    /// Bounds the number of a known way once more, if a checker needs that. The compiler may use a copy of the number
    /// that was saved before the test, whose bounds the checker does not know. After a barrier alone it might still
    /// use the copy. In a large program the mask also keeps the checker from following each number separately.
    pub(crate) fn stays_in_bounds<T: Target>(&self, g: &mut Gen<'_, T>) {
        g.file.contents.bounds = true;
        let kept = match g.plan.record.is_some() {
            true => g.target.on(Event::Computed(&self.at)),
            false => g.target.on(Event::Bounded(&self.at)),
        };
        if let Some(barrier) = kept {
            g.push(barrier);
            g.set(self.at.clone(), masked(self.at.clone()));
        }
    }

    /// Returns a member of the flow's way.
    pub(crate) fn member(&self, name: impl Into<SmolStr>) -> C {
        match &self.way {
            Some(way) => way.clone().arrow(name),
            None => {
                let ways = self.set.clone().arrow("way");
                ways.index(self.at.clone()).member(name)
            }
        }
    }

    /// Returns a field of the flow's value.
    pub(crate) fn field(&self, i: usize) -> Value {
        let (member, form) = &self.layout.value[i];
        let member = self.member(member.clone());
        Value::member(member, *form)
    }

    /// Returns the way for a flow that is not known.
    pub(crate) fn victim(&self) -> C {
        let set = |member: &str| self.set.clone().arrow(member);
        let mut args = vec![self.kept.clone(), set("tag"), set("used")];
        args.extend([set("lru"), set("evicted").addr()]);
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

/// Masks a way's number so that it is in bounds.
pub(crate) fn masked(at: C) -> C {
    let last = C::bin(BinOp::Sub, C::id("FLOW_WAYS"), C::int(1));
    C::bin(BinOp::And, at, last)
}
