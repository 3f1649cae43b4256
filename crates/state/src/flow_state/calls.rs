//! Calls of a flow state under a lock that is held.

use crate::held::{HeldLock, masked};
use crate::target::StateTarget;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::calls::{declare, places, values};
use emit::record::MemberLayout;
use emit::values::Value;
use emit::{Event, Gen};
use ir::{ExternCall, Place, StmtId, Var};

pub(crate) fn locked_call<T: StateTarget>(
    g: &mut Gen<'_, T>,
    held: &HeldLock,
    call: &ExternCall,
    id: StmtId,
) {
    match call.name.as_str() {
        "lookup" => flow_lookup(g, held, call),
        "update" => flow_update(g, held, call, id),
        _ => flow_remove(g, held, call),
    }
}

fn flow_lookup<T: StateTarget>(g: &mut Gen<'_, T>, held: &HeldLock, call: &ExternCall) {
    if held.calls.in_place.is_some() {
        return flow_take_way(g, held, call);
    }
    let known = g.block(|g| {
        held.stays_in_bounds(g);
        flow_used(g, held);
        flow_load(g, held, call);
        if let Some(&hit) = call.result.first() {
            g.store(hit, Value::Scalar(C::int(1)));
        }
    });
    let unknown = g.block(|g| {
        for (&place, (_, form)) in places(call, 1).iter().zip(&held.layout.value) {
            g.store(place, Value::zero(form.width));
        }
        if let Some(&hit) = call.result.first() {
            g.store(hit, Value::Scalar(C::int(0)));
        }
    });
    g.push(Stmt::If(held.is_known(), known, unknown));
}

/// Emits a look-up after which the flow always has a way.
fn flow_take_way<T: StateTarget>(g: &mut Gen<'_, T>, held: &HeldLock, call: &ExternCall) {
    if let Some(&hit) = call.result.first() {
        g.store(hit, Value::Scalar(held.is_known()));
    }
    let added = g.block(|g| flow_add(g, held));
    g.push(Stmt::If(C::not(held.is_known()), added, Block::new()));
    // The compiler must keep the pointer, and not recompute it.
    g.on(Event::Computed(&held.at));
    g.set(held.at.clone(), masked(held.at.clone()));
    let slot = held.set.clone().arrow("way").index(held.at.clone());
    let ty = CType::Struct(held.layout.way.clone()).ptr();
    let way = declare(g, ty, "way", slot.addr());
    g.on(Event::Computed(&way));
    let held = HeldLock {
        way: Some(way),
        ..held.clone()
    };
    flow_used(g, &held);
    flow_load(g, &held, call);
    g.target.held().flow = Some(held);
}

/// Loads the fields of a known flow into a look-up's variables.
fn flow_load<T: StateTarget>(g: &mut Gen<'_, T>, held: &HeldLock, call: &ExternCall) {
    let stays = |i| held.calls.in_place.as_ref().is_some_and(|p| p.has(i));
    for (i, &place) in places(call, 1).iter().enumerate() {
        if i < held.layout.value.len() && !stays(i) {
            let value = held.field(i);
            g.store(place, value);
        }
    }
}

/// Returns the member of the flow's way that holds a variable's value in place. `None` for other variables.
pub fn home<T: StateTarget>(g: &mut Gen<'_, T>, var: Var) -> Option<(C, MemberLayout)> {
    let held = g.target.held().flow.as_ref()?;
    held.way.as_ref()?;
    let field = *held.calls.in_place.as_ref()?.fields.get(&var)?;
    let (member, form) = held.layout.value.get(field)?;
    Some((held.member(member.clone()), *form))
}

/// Loads fields that are read after the lock is released into their variables.
pub(crate) fn leave_way<T: StateTarget>(g: &mut Gen<'_, T>) {
    let Some(held) = &mut g.target.held().flow else {
        return;
    };
    // From here on the variables are ordinary variables again.
    let known = held.clone();
    held.way = None;
    let Some(in_place) = &known.calls.in_place else {
        return;
    };
    for &var in &in_place.wanted_after {
        if let Some(&field) = in_place.fields.get(&var) {
            g.store(Place::Var(var), known.field(field));
        }
    }
}

fn flow_update<T: StateTarget>(g: &mut Gen<'_, T>, held: &HeldLock, call: &ExternCall, id: StmtId) {
    let looked = held.calls.redundant.get(&id);
    let is_known = held.way.is_some();
    let stays = |i| held.calls.in_place.as_ref().is_some_and(|p| p.has(i));
    let redundant =
        |i: usize| looked.is_some_and(|fields| fields.get(i) == Some(&true)) || stays(i);
    let mut written = Vec::new();
    for (i, (&e, (member, _))) in values(call, 1).iter().zip(&held.layout.value).enumerate() {
        if !redundant(i) {
            written.push((member, g.value(e)));
        }
    }
    if !is_known {
        let added = g.block(|g| {
            flow_add(g, held);
            if looked.is_some() {
                flow_used(g, held);
            }
        });
        let known = g.block(|g| held.stays_in_bounds(g));
        g.push(Stmt::If(C::not(held.is_known()), added, known));
        // The look-up counted as a use already.
        if looked.is_none() {
            flow_used(g, held);
        }
    }
    for (member, value) in written {
        g.store_local(held.member(member.clone()), value);
    }
}

/// Adds a flow of zeros, in the way of the flow that it evicts.
fn flow_add<T: StateTarget>(g: &mut Gen<'_, T>, held: &HeldLock) {
    // A checker need not know which way it is, only that it is in bounds.
    g.set(held.at.clone(), masked(T::anywhere(held.victim())));
    let tag = held.set.clone().arrow("tag").index(held.at.clone());
    g.set(tag, held.tag.clone());
    // The use that follows counts, even if the way was the last that was used.
    let used = held.set.clone().arrow("used").index(held.at.clone());
    g.set(
        used,
        C::bin(BinOp::Sub, held.set.clone().arrow("lru"), C::int(1)),
    );
    let way = held.set.clone().arrow("way").index(held.at.clone());
    let args = vec![
        way.addr(),
        C::SizeOf(CType::Struct(held.layout.way.clone())),
        held.key.clone(),
        C::int(held.layout.key.words.into()),
    ];
    g.push(Stmt::Expr(C::call("flow_begin", args)));
}

fn flow_remove<T: StateTarget>(g: &mut Gen<'_, T>, held: &HeldLock, call: &ExternCall) {
    let result = call.result.first().copied();
    let known = g.block(|g| {
        held.stays_in_bounds(g);
        let tag = held.set.clone().arrow("tag").index(held.at.clone());
        g.set(tag, C::int(0));
        g.set(held.at.clone(), C::id("FLOW_WAYS"));
        if let Some(place) = result {
            g.store(place, Value::Scalar(C::int(1)));
        }
    });
    let unknown = g.block(|g| {
        if let Some(place) = result {
            g.store(place, Value::Scalar(C::int(0)));
        }
    });
    g.push(Stmt::If(held.is_known(), known, unknown));
}

/// Emits the use of a flow's way: advances the set's LRU counter and stamps the way.
fn flow_used<T: StateTarget>(g: &mut Gen<'_, T>, held: &HeldLock) {
    let used = held.set.clone().arrow("used").index(held.at.clone());
    let lru = held.set.clone().arrow("lru");
    let args = vec![lru.addr(), used.addr()];
    g.push(Stmt::Expr(C::call("flow_used", args)));
    if let Some(now) = &held.now {
        let args = vec![held.member("seen").addr(), now.clone()];
        g.push(Stmt::Expr(C::call("flow_seen", args)));
    }
}
