//! Atomic blocks and the calls of a flow state: one look-up of the set, its lock held for all of them.
//!
//! The key's place is searched once, when the lock is taken; from then on a variable says where the flow is
//! (`FLOW_WAYS` or more: it is not known), and each call works on that. Where the values stay in their place
//! ([`in_place`]), the flow is there from the look-up on, and a pointer leads to it.

mod in_place;
mod kept;
mod layout;

pub(super) use layout::Layout;

use super::Gen;
use super::values::Value;
use crate::errors::flow_state as refusals;
use crate::record;
use cgen::lower::limb_count;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use in_place::InPlace;
use ir::{Expr, ExternArg, ExternCall, ExternInst, Place, Var, atomic};
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
    calls: Calls,
}

/// What is known of the calls under a lock.
#[derive(Clone, Default)]
struct Calls {
    kept: Kept,
    in_place: Option<InPlace>,
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
    pub(super) fn flow_call(&mut self, object: ExternInst, call: &ExternCall, span: Span) {
        if let Some(held) = self.held.clone() {
            return self.locked_call(&held, call);
        }
        let Some(ExternArg::In(key)) = call.args.first() else {
            return self.not_lowered("a flow without key", span);
        };
        self.locked(object, key, Calls::default(), span, |g| {
            if let Some(held) = g.held.clone() {
                g.locked_call(&held, call);
            }
        });
    }

    /// Takes the lock of a key's set, for what `body` emits.
    fn locked(
        &mut self,
        object: ExternInst,
        key: &[Expr],
        calls: Calls,
        span: Span,
        body: impl FnOnce(&mut Self),
    ) {
        let Some(layout) = self.flow_layout(object, span) else {
            return;
        };
        let outer = std::mem::take(&mut self.out);
        let words = C::int(layout.words.into());
        let own = |g: &mut Self, wish: &str| C::Ident(g.names.fresh(wish));
        let (key_var, hash, tag) = (own(self, "key"), own(self, "hash"), own(self, "tag"));
        let (index, set, at) = (own(self, "index"), own(self, "set"), own(self, "at"));
        let declare = |ty: CType, var: &C, init: C| Stmt::Decl {
            ty,
            name: name_of(var),
            init: Some(init),
            align: None,
        };
        let keys = CType::U64.array(layout.words);
        self.push(declare(keys, &key_var, C::Init(Vec::new())));
        self.fill_flow_key(&layout, &key_var, key);
        let hashed = C::call("flow_hash", vec![key_var.clone(), words.clone()]);
        self.push(declare(CType::U64, &hash, hashed));
        let tagged = C::call("flow_tag", vec![hash.clone()]);
        self.push(declare(CType::U32, &tag, tagged));
        let mask = C::int((layout.sets - 1).into());
        let masked = C::bin(BinOp::And, hash, mask);
        self.push(declare(CType::U32, &index, masked));
        let now = (layout.idle > 0).then(|| {
            let now = own(self, "now");
            let time = self
                .timestamp()
                .unwrap_or_else(|| C::call("flow_now", Vec::new()));
            self.push(declare(CType::U64, &now, time));
            now
        });
        let map = C::Ident(layout.map.clone());
        let looked_up = C::call("bpf_map_lookup_elem", vec![map.addr(), index.addr()]);
        let set_type = CType::Struct(layout.set.clone()).ptr();
        self.push(declare(set_type, &set, looked_up));
        // Arrays have all their elements; the verifier has to be told.
        self.push(Stmt::goto_if(C::not(set.clone()), "reject"));
        self.push(Stmt::Decl {
            ty: CType::U32,
            name: name_of(&at),
            init: None,
            align: None,
        });
        let lock = set.clone().arrow("lock").addr();
        self.push(Stmt::Expr(C::call("bpf_spin_lock", vec![lock.clone()])));
        let found = C::call(
            "flow_find",
            vec![
                set.clone().arrow("tag"),
                tag.clone(),
                set.clone().arrow("way"),
                C::SizeOf(CType::Struct(layout.way.clone())),
                key_var.clone(),
                words,
            ],
        );
        self.set(at.clone(), anywhere(found));
        let held = Held {
            layout,
            key: key_var,
            tag,
            now,
            set,
            at,
            way: None,
            calls,
        };
        if let Some(now) = &held.now {
            let seen = held.member("seen");
            let idle = C::int(held.layout.idle);
            let aged = C::call("flow_aged", vec![seen, now.clone(), idle]);
            let more = Stmt::Update(BinOp::Add, held.at.clone(), C::id("FLOW_AGED"));
            let aged = C::bin(BinOp::LogicalAnd, held.is_known(), aged);
            self.push(Stmt::If(aged, vec![more], Block::new()));
        }
        self.held = Some(held);
        body(self);
        self.held = None;
        self.push(Stmt::Expr(C::call("bpf_spin_unlock", vec![lock])));
        let block = std::mem::replace(&mut self.out, outer);
        self.push(Stmt::Block(block));
        self.forget_computed();
    }

    fn fill_flow_key(&mut self, layout: &Layout, var: &C, key: &[Expr]) {
        let put = |at: u32, value: C, bytes: u32| {
            let args = vec![var.clone(), C::int(at.into()), value, C::int(bytes.into())];
            Stmt::Expr(C::call("flow_put", args))
        };
        for (&e, &(at, bytes)) in key.iter().zip(&layout.key) {
            if bytes == 0 {
                continue;
            }
            match self.value(e) {
                Value::Scalar(value) => self.push(put(at, value, bytes)),
                Value::Limbs(limbs) => {
                    let mut end = at + bytes;
                    for limb in limbs {
                        let size = (end - at).min(8);
                        end -= size;
                        self.push(put(end, limb, size));
                    }
                }
                Value::Slice(..) => {}
            }
        }
    }

    fn locked_call(&mut self, held: &Held, call: &ExternCall) {
        match call.name.as_str() {
            "lookup" => self.flow_lookup(held, call),
            "update" => self.flow_update(held, call),
            _ => self.flow_remove(held, call),
        }
    }

    fn flow_lookup(&mut self, held: &Held, call: &ExternCall) {
        if held.calls.in_place.is_some() {
            return self.flow_take_place(held, call);
        }
        let known = self.block(|g| {
            g.flow_used(held);
            g.flow_load(held, call);
            if let Some(&hit) = call.result.first() {
                g.store(hit, Value::Scalar(C::int(1)));
            }
        });
        let unknown = self.block(|g| {
            for (&place, (_, form)) in places(call).iter().zip(&held.layout.value) {
                g.store(place, zero(form.width));
            }
            if let Some(&hit) = call.result.first() {
                g.store(hit, Value::Scalar(C::int(0)));
            }
        });
        self.push(Stmt::If(held.is_known(), known, unknown));
    }

    /// A look-up after which the flow is there for sure.
    fn flow_take_place(&mut self, held: &Held, call: &ExternCall) {
        if let Some(&hit) = call.result.first() {
            self.store(hit, Value::Scalar(held.is_known()));
        }
        let added = self.block(|g| g.flow_add(held));
        self.push(Stmt::If(C::not(held.is_known()), added, Block::new()));
        // The compiler is to keep the pointer, not what it was made of.
        let barrier = |var: &C| Stmt::Expr(C::call("barrier_var", vec![var.clone()]));
        self.push(barrier(&held.at));
        self.set(held.at.clone(), masked(held.at.clone()));
        let way = C::Ident(self.names.fresh("way"));
        let place = held.set.clone().arrow("way").index(held.at.clone());
        self.push(Stmt::Decl {
            ty: CType::Struct(held.layout.way.clone()).ptr(),
            name: name_of(&way),
            init: Some(place.addr()),
            align: None,
        });
        self.push(barrier(&way));
        let held = Held {
            way: Some(way),
            ..held.clone()
        };
        self.flow_used(&held);
        self.flow_load(&held, call);
        self.held = Some(held);
    }

    /// The fields of a flow that is there, into a look-up's variables.
    fn flow_load(&mut self, held: &Held, call: &ExternCall) {
        let stays = |i| held.calls.in_place.as_ref().is_some_and(|p| p.has(i));
        for (i, &place) in places(call).iter().enumerate() {
            if i < held.layout.value.len() && !stays(i) {
                let value = held.field(i);
                self.store(place, value);
            }
        }
    }

    /// What the flow's place has of a variable that is a field kept there; `None` for any other.
    pub(super) fn in_place(&self, var: Var) -> Option<(C, record::Form)> {
        let held = self.held.as_ref()?;
        held.way.as_ref()?;
        let field = *held.calls.in_place.as_ref()?.fields.get(&var)?;
        let (member, form) = held.layout.value.get(field)?;
        Some((held.member(member.clone()), *form))
    }

    /// Fields that are read once the lock is given back go to their variables.
    fn leave_place(&mut self) {
        let Some(held) = &mut self.held else {
            return;
        };
        // From here on the variables are variables again.
        let there = held.clone();
        held.way = None;
        let Some(in_place) = &there.calls.in_place else {
            return;
        };
        for &var in &in_place.wanted_after {
            if let Some(&field) = in_place.fields.get(&var) {
                self.store(Place::Var(var), there.field(field));
            }
        }
    }

    fn flow_update(&mut self, held: &Held, call: &ExternCall) {
        let looked = held.calls.kept.get(&std::ptr::from_ref(call));
        let is_there = held.way.is_some();
        let stays = |i| held.calls.in_place.as_ref().is_some_and(|p| p.has(i));
        let kept = |i: usize| looked.is_some_and(|kept| kept.get(i) == Some(&true)) || stays(i);
        let values = match call.args.get(1) {
            Some(ExternArg::In(values)) => &values[..],
            _ => &[],
        };
        let mut written = Vec::new();
        for (i, (&e, (member, _))) in values.iter().zip(&held.layout.value).enumerate() {
            if !kept(i) {
                written.push((member, self.value(e)));
            }
        }
        if !is_there {
            let added = self.block(|g| {
                g.flow_add(held);
                if looked.is_some() {
                    g.flow_used(held);
                }
            });
            self.push(Stmt::If(C::not(held.is_known()), added, Block::new()));
            // The look-up counted as a use.
            if looked.is_none() {
                self.flow_used(held);
            }
        }
        for (member, value) in written {
            self.write_flow(held.member(member.clone()), value);
        }
    }

    /// A flow of zeros, in the place of another.
    fn flow_add(&mut self, held: &Held) {
        // The verifier need not know which place it is, but that it is one.
        self.set(held.at.clone(), masked(anywhere(held.victim())));
        let tag = held.set.clone().arrow("tag").index(held.at.clone());
        self.set(tag, held.tag.clone());
        let way = held.set.clone().arrow("way").index(held.at.clone());
        let args = vec![
            way.addr(),
            C::SizeOf(CType::Struct(held.layout.way.clone())),
            held.key.clone(),
            C::int(held.layout.words.into()),
        ];
        self.push(Stmt::Expr(C::call("flow_begin", args)));
    }

    fn flow_remove(&mut self, held: &Held, call: &ExternCall) {
        let result = call.result.first().copied();
        let known = self.block(|g| {
            let tag = held.set.clone().arrow("tag").index(held.at.clone());
            g.set(tag, C::int(0));
            g.set(held.at.clone(), C::id("FLOW_WAYS"));
            if let Some(place) = result {
                g.store(place, Value::Scalar(C::int(1)));
            }
        });
        let unknown = self.block(|g| {
            if let Some(place) = result {
                g.store(place, Value::Scalar(C::int(0)));
            }
        });
        self.push(Stmt::If(held.is_known(), known, unknown));
    }

    /// Notes that a flow's place was used just now.
    fn flow_used(&mut self, held: &Held) {
        let used = held.set.clone().arrow("used").index(held.at.clone());
        let clock = held.set.clone().arrow("clock");
        self.push(Stmt::Update(BinOp::Add, clock.clone(), C::int(1)));
        self.set(used, clock);
        if let Some(now) = &held.now {
            self.set(held.member("seen"), now.clone());
        }
    }

    /// Stores to a member of a flow's place.
    pub(super) fn write_flow(&mut self, member: C, value: Value) {
        match value {
            Value::Scalar(value) => self.set(member, value),
            Value::Limbs(limbs) => {
                for (i, limb) in limbs.into_iter().enumerate() {
                    self.set(member.clone().index(C::int(i as u64)), limb);
                }
            }
            Value::Slice(..) => {}
        }
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

/// The variables of a look-up, a field each.
fn places(call: &ExternCall) -> &[Place] {
    match call.args.get(1) {
        Some(ExternArg::Out(places)) => places,
        _ => &[],
    }
}

/// A place's number, that it is one.
fn masked(at: C) -> C {
    let last = C::bin(BinOp::Sub, C::id("FLOW_WAYS"), C::int(1));
    C::bin(BinOp::And, at, last)
}

/// A place, of which the verifier does not know which it is: it would go each further way for each place.
fn anywhere(place: C) -> C {
    let nothing = C::call("unknown_zero", vec![C::id("ctx")]);
    C::bin(BinOp::Add, place, nothing)
}

fn zero(width: u32) -> Value {
    if width > 64 {
        Value::Limbs(vec![C::int(0); limb_count(width) as usize])
    } else {
        Value::Scalar(C::int(0))
    }
}

fn name_of(var: &C) -> SmolStr {
    match var {
        C::Ident(name) => name.clone(),
        _ => SmolStr::default(),
    }
}
