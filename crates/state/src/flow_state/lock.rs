//! Locking of a key's set, and search for the key's way.

use super::layout::flow_layout;
use crate::held::{Calls, HeldLock};
use crate::keys;
use crate::target::{LOCK, LateInput, StateTarget, Used};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::Gen;
use ir::{Expr, ExternInst};
use smol_str::SmolStr;

/// Emits `body` under the lock of a flow's set. A late input is read before the lock is taken.
pub(crate) fn locked<T: StateTarget>(
    g: &mut Gen<'_, T>,
    (object, key): (ExternInst, &[Expr]),
    calls: Calls,
    late: Option<LateInput<T>>,
    body: impl FnOnce(&mut Gen<'_, T>),
) {
    let Some(layout) = flow_layout(g, object) else {
        return;
    };
    let outer = std::mem::take(&mut g.out);
    let words = C::int(layout.key.words.into());
    let own = |g: &mut Gen<'_, T>, wish: &str| C::Ident(g.file.names.fresh(wish));
    let (key_var, hash, tag) = (own(g, "key"), own(g, "hash"), own(g, "tag"));
    let (index, set, at) = (own(g, "index"), own(g, "set"), own(g, "at"));
    let declare = |ty: CType, var: &C, init: C| Stmt::Decl {
        ty,
        name: name_of(var),
        init: Some(init),
        align: None,
    };
    let keys = CType::U64.array(layout.key.words);
    g.push(declare(keys, &key_var, C::Init(Vec::new())));
    keys::fill(g, &layout.key, &key_var, key);
    let hashed = C::call("key_hash", vec![key_var.clone(), words.clone()]);
    g.push(declare(CType::U64, &hash, hashed));
    let tagged = C::call("key_tag", vec![hash.clone()]);
    g.push(declare(CType::U32, &tag, tagged));
    let mask = C::int((layout.sets - 1).into());
    let masked = C::bin(BinOp::And, hash, mask);
    g.push(declare(CType::U32, &index, masked));
    let now = (layout.idle > 0).then(|| {
        let now = own(g, "now");
        let time = T::flow_time(g);
        g.push(declare(CType::U64, &now, time));
        now
    });
    let input = late.map(|read| read(g));
    let looked_up = T::find(&layout.map, index.clone().addr());
    let set_type = CType::Struct(layout.set.clone()).ptr();
    g.push(declare(set_type, &set, looked_up));
    // Arrays have all their elements, but a checker needs the check.
    g.push(Stmt::goto_if(C::not(set.clone()), "reject"));
    g.push(Stmt::Decl {
        ty: CType::U32,
        name: name_of(&at),
        init: None,
        align: None,
    });
    let lock = set.clone().arrow(LOCK).addr();
    T::note(g, Used::Flows);
    g.push(Stmt::Expr(T::take_lock(lock.clone())));
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
    g.set(at.clone(), T::anywhere(found));
    let held = HeldLock {
        layout,
        key: key_var,
        tag,
        now,
        set,
        at,
        way: None,
        input,
        calls,
    };
    if let Some(now) = &held.now {
        let seen = held.member("seen");
        let idle = C::int(held.layout.idle);
        let aged = C::call("flow_aged", vec![seen, now.clone(), idle]);
        let more = Stmt::Update(BinOp::Add, held.at.clone(), C::id("FLOW_AGED"));
        let kept = g.block(|g| held.stays_in_bounds(g));
        let outdated = match kept.is_empty() {
            true => {
                let aged = C::bin(BinOp::LogicalAnd, held.is_known(), aged);
                Stmt::If(aged, vec![more], Block::new())
            }
            false => {
                let mut inside = kept;
                inside.push(Stmt::If(aged, vec![more], Block::new()));
                Stmt::If(held.is_known(), inside, Block::new())
            }
        };
        g.push(outdated);
    }
    g.target.held().flow = Some(held);
    body(g);
    g.target.held().flow = None;
    g.push(Stmt::Expr(T::give_lock_back(lock)));
    let block = std::mem::replace(&mut g.out, outer);
    g.push(Stmt::Block(block));
    g.kill_computed();
}

fn name_of(var: &C) -> SmolStr {
    match var {
        C::Ident(name) => name.clone(),
        _ => SmolStr::default(),
    }
}
