//! Locking of a key's set, and search for the key's way.

use super::layout::flow_layout;
use crate::held::{Calls, HeldLock};
use crate::keys;
use crate::target::{LOCK, LateInput, StateTarget, Used};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::Gen;
use ir::{Expr, ExternInst};
use layout::{Map, MapKind};
use smol_str::SmolStr;

/// Number of hashes that a processor keeps, and words before the key in an element (`onpath/keys.h`).
const KEPT_HASHES: u64 = 256;
const KEPT_KEY: u32 = 2;

/// Use of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SetUse {
    /// Look-up only: the lock is taken only if the set changes meanwhile. The body may run twice.
    Read,
    /// Change of keys or values.
    Change,
}

/// Emits `body` under the lock of a flow's set. A late input is read before the lock is taken.
pub(crate) fn locked<T: StateTarget>(
    g: &mut Gen<'_, T>,
    (object, key): (ExternInst, &[Expr]),
    (set_use, calls): (SetUse, Calls),
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
    let kept = own(g, "kept");
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
    let slot = own(g, "slot");
    let element = C::call("key_slot", vec![key_var.clone(), words.clone()]);
    g.push(declare(CType::U32, &slot, element));
    let hashes = hashes(g, layout.key.words);
    let element = T::find(&hashes, slot.addr());
    g.push(declare(CType::U64.ptr(), &kept, element));
    // Arrays have all their elements, but a checker needs the check.
    g.push(Stmt::goto_if(C::not(kept.clone()), "reject"));
    let args = vec![kept.clone(), key_var.clone(), words.clone()];
    let hashed = C::call("key_hash_kept", args);
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
    g.push(Stmt::goto_if(C::not(set.clone()), "reject"));
    g.push(Stmt::Decl {
        ty: CType::U32,
        name: name_of(&at),
        init: None,
        align: None,
    });
    T::note(g, Used::Flows);
    let (lock, changes) = (
        set.clone().arrow(LOCK).addr(),
        set.clone().arrow("changes").addr(),
    );
    let found = C::call(
        "flow_find",
        vec![
            kept.clone(),
            set.clone().arrow("tag"),
            tag.clone(),
            set.clone().arrow("way"),
            C::SizeOf(CType::Struct(layout.way.clone())),
            key_var.clone(),
            words,
        ],
    );
    let held = HeldLock {
        layout,
        key: key_var,
        kept,
        tag,
        now,
        set,
        at,
        way: None,
        input,
        calls,
    };
    let inside = g.block(|g| {
        g.set(held.at.clone(), T::anywhere(found));
        age(g, &held);
        g.target.held().flow = Some(held);
        body(g);
        g.target.held().flow = None;
    });
    match set_use {
        SetUse::Read => read(g, (lock, changes), inside),
        SetUse::Change => {
            let change = Stmt::Expr(C::call("flow_change", vec![changes]));
            g.push(Stmt::Expr(T::take_lock(lock.clone())));
            g.push(change.clone());
            g.out.extend(inside);
            g.push(change);
            g.push(Stmt::Expr(T::give_lock_back(lock)));
        }
    }
    let block = std::mem::replace(&mut g.out, outer);
    g.push(Stmt::Block(block));
    g.kill_computed();
}

/// Emits a look-up: without the lock, and once more with it if the set changed meanwhile.
fn read<T: StateTarget>(g: &mut Gen<'_, T>, (lock, changes): (C, C), mut inside: Block) {
    let (count, locked) = (g.file.names.fresh("changes"), g.file.names.fresh("locked"));
    let (count, locked) = (C::Ident(count), C::Ident(locked));
    let before = C::call("flow_changes", vec![changes.clone()]);
    // A checker must know if the lock is held, so the compiler must not compute it from the count. Both are whole words,
    // which it also knows after they were saved on the stack.
    g.push(Stmt::decl(CType::U64, name_of(&count), before));
    g.push(Stmt::decl(CType::U64, name_of(&locked), C::int(0)));
    let keep = || Stmt::Expr(C::call("barrier_var", vec![locked.clone()]));
    g.push(keep());
    let odd = C::bin(BinOp::And, count.clone(), C::int(1));
    let take = vec![
        Stmt::Assign(locked.clone(), C::int(1)),
        keep(),
        Stmt::Expr(T::take_lock(lock.clone())),
    ];
    let mut again = vec![Stmt::If(odd, take, Block::new())];
    again.append(&mut inside);
    let give = vec![Stmt::Expr(T::give_lock_back(lock)), Stmt::Break];
    again.push(Stmt::If(locked, give, Block::new()));
    let same = C::call("flow_unchanged", vec![changes, count.clone()]);
    again.push(Stmt::If(same, vec![Stmt::Break], Block::new()));
    again.push(Stmt::Assign(count, C::int(1)));
    g.push(Stmt::Loop(again));
}

/// Emits the end of a flow that was idle too long.
fn age<T: StateTarget>(g: &mut Gen<'_, T>, held: &HeldLock) {
    let Some(now) = &held.now else {
        return;
    };
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

/// Returns the map with the hashes that processors keep of keys of so many words, which is declared on first use.
fn hashes<T: StateTarget>(g: &mut Gen<'_, T>, words: u32) -> SmolStr {
    if let Some(known) = T::shared(&mut g.file.own).hashes.get(&words) {
        return known.clone();
    }
    let map = g
        .file
        .names
        .fresh_short("hashes", &format!("_{words}"), T::MAP_NAME);
    let element = words + KEPT_KEY;
    let declared = Map::new(
        map.as_str(),
        MapKind::PerCoreArray,
        4,
        8 * element,
        KEPT_HASHES,
    );
    emit::memory::declare(g, declared, None);
    T::shared(&mut g.file.own).hashes.insert(words, map.clone());
    map
}

fn name_of(var: &C) -> SmolStr {
    match var {
        C::Ident(name) => name.clone(),
        _ => SmolStr::default(),
    }
}
