//! Taking the lock of a key's set, and finding the key's way.

use super::layout::flow_layout;
use super::{Calls, HeldLock, anywhere, ask_mtu, name_of};
use crate::keys;
use crate::target::Gen;
use crate::uses::{Construct, needs};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use ir::{Expr, ExternInst};

/// Takes the lock of a key's set, for what `body` emits.
pub(super) fn locked(
    g: &mut Gen<'_>,
    object: ExternInst,
    key: &[Expr],
    calls: Calls,
    body: impl FnOnce(&mut Gen<'_>),
) {
    let Some(layout) = flow_layout(g, object) else {
        return;
    };
    let outer = std::mem::take(&mut g.out);
    let words = C::int(layout.key.words.into());
    let own = |g: &mut Gen<'_>, wish: &str| C::Ident(g.file.names.fresh(wish));
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
        let time = g.target.hook.timestamp(g).unwrap_or_else(|| {
            needs(g, Construct::IdleTime);
            C::call("flow_now", Vec::new())
        });
        g.push(declare(CType::U64, &now, time));
        now
    });
    let mtu = calls.need_mtu.then(|| ask_mtu(g));
    let map = C::Ident(layout.map.clone());
    let looked_up = C::call("bpf_map_lookup_elem", vec![map.addr(), index.addr()]);
    let set_type = CType::Struct(layout.set.clone()).ptr();
    g.push(declare(set_type, &set, looked_up));
    // Arrays have all their elements; the verifier needs the check.
    g.push(Stmt::goto_if(C::not(set.clone()), "reject"));
    g.push(Stmt::Decl {
        ty: CType::U32,
        name: name_of(&at),
        init: None,
        align: None,
    });
    let lock = set.clone().arrow("lock").addr();
    needs(g, Construct::FlowState);
    g.push(Stmt::Expr(C::call("bpf_spin_lock", vec![lock.clone()])));
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
    g.set(at.clone(), anywhere(found));
    let held = HeldLock {
        layout,
        key: key_var,
        tag,
        now,
        set,
        at,
        way: None,
        mtu,
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
    g.target.held = Some(held);
    body(g);
    g.target.held = None;
    g.push(Stmt::Expr(C::call("bpf_spin_unlock", vec![lock])));
    let block = std::mem::replace(&mut g.out, outer);
    g.push(Stmt::Block(block));
    g.kill_computed();
}
