//! Taking the lock of a key's set, and searching the key's place.

use super::{Calls, Held, anywhere, name_of};
use crate::emit::Gen;
use crate::emit::flow_state::Layout;
use crate::emit::values::Value;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use ir::{Expr, ExternInst};

impl Gen<'_> {
    /// Takes the lock of a key's set, for what `body` emits.
    pub(super) fn locked(
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
        let mtu = calls.need_mtu.then(|| self.ask_mtu());
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
            mtu,
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
}
