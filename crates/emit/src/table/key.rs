//! Keys: built once, in the order of bytes that the map compares.

use super::super::values::Value;
use crate::abi::{ByteOrder, KeyAbi};
use crate::emit::Gen;
use crate::record::{Form, Record};
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use ir::{Expr, Program};
use smol_str::SmolStr;

/// A key's struct.
#[derive(Clone, Debug)]
pub struct KeyLayout {
    /// Its struct's name.
    pub name: SmolStr,
    /// For each P4 key, its member and form.
    pub fields: Vec<(SmolStr, Form)>,
    /// As user space is told.
    pub abi: KeyAbi,
    /// The record, for structs around it.
    pub record: Record,
}

/// One P4 key to look up: its control-plane name, width, and whether it comes last and in network order
/// because it has a prefix.
pub struct KeyPart {
    /// Its name.
    pub name: String,
    /// Bits.
    pub width: u32,
    /// It has a prefix.
    pub prefix: bool,
}

/// Lays a key out, after `head` bytes of other members if any.
pub fn layout(name: SmolStr, parts: &[KeyPart], mut record: Record) -> KeyLayout {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let form = |part: &KeyPart| {
        let network = part.width > 64 || part.prefix || matches!(part.width, 8 | 16 | 32 | 48 | 64);
        let order = if network {
            ByteOrder::Network
        } else {
            ByteOrder::Host
        };
        Form::new(part.width, order)
    };
    order.sort_by_key(|&i| {
        (
            parts[i].prefix,
            std::cmp::Reverse((form(&parts[i]).align, form(&parts[i]).size)),
        )
    });
    let mut names = crate::names::Names::default();
    let mut fields = vec![(SmolStr::default(), Form::new(1, ByteOrder::Host)); parts.len()];
    let mut offsets = vec![0; parts.len()];
    for &i in &order {
        let member = names.fresh(&short(&parts[i].name));
        let form = form(&parts[i]);
        let note = if form.order == ByteOrder::Network && form.size > 1 {
            "network order"
        } else {
            ""
        };
        offsets[i] = record.add_form(form, member.clone(), note);
        fields[i] = (member, form);
    }
    record.finish();
    let abi = KeyAbi {
        size: record.size,
        fields: parts
            .iter()
            .zip(&fields)
            .zip(&offsets)
            .map(|((part, (_, form)), &at)| form.abi(&part.name, at))
            .collect(),
    };
    KeyLayout {
        name,
        fields,
        abi,
        record,
    }
}

fn short(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    let from = parts.len().saturating_sub(2);
    parts[from..].join("_")
}

/// The parts of a table's key.
pub fn parts(p: &Program, keys: &[ir::Key]) -> Vec<KeyPart> {
    keys.iter()
        .map(|k| KeyPart {
            name: k.name.to_string(),
            width: p.ty(k.expr).width(),
            prefix: k.kind == ir::MatchKind::Lpm,
        })
        .collect()
}

impl Gen<'_> {
    /// Declares a key's variable, all bytes zero, and fills it in.
    pub(super) fn build_key(&mut self, layout: &KeyLayout, exprs: &[Expr]) -> C {
        let name = self.names.fresh("key");
        self.push(Stmt::Decl {
            ty: Type::Struct(layout.name.clone()),
            name: name.clone(),
            init: Some(C::Init(Vec::new())),
            align: Some(8),
        });
        let key = C::Ident(name);
        self.fill_key(&key, layout, exprs);
        key
    }

    /// Fills in a key's members.
    pub(super) fn fill_key(&mut self, key: &C, layout: &KeyLayout, exprs: &[Expr]) {
        for (&e, (member, form)) in exprs.iter().zip(&layout.fields) {
            if form.width == 0 {
                continue;
            }
            let place = key.clone().member(member.clone());
            let value = self.value(e);
            match value {
                Value::Scalar(value) => match (form.order, form.size) {
                    (ByteOrder::Host, _) | (_, 1) => self.set(place, value),
                    (_, 6) => {
                        self.push(Stmt::Expr(C::call("store_be48", vec![place, value])));
                    }
                    (_, size) => {
                        let name = format!("store_be{}", size * 8);
                        self.push(Stmt::Expr(C::call(name, vec![place.addr(), value])));
                    }
                },
                Value::Limbs(limbs) => {
                    let n = limbs.len();
                    for (i, limb) in limbs.into_iter().enumerate() {
                        let word = place.clone().index(C::int((n - 1 - i) as u64));
                        self.push(Stmt::Expr(C::call("store_be64", vec![word.addr(), limb])));
                    }
                }
                Value::Slice(..) => {}
            }
        }
    }

    /// The value of an array map's index.
    pub(super) fn index_key(&mut self, e: Expr) -> C {
        lower::scalar(self, e)
    }
}

/// `&name`
pub fn address(e: &C) -> C {
    e.clone().addr()
}

/// `a & b` word by word, of structs of `words` 4-byte words.
pub fn and_words(dst: C, a: C, b: C, words: u32) -> Vec<Stmt> {
    let word = |base: &C, i: u32, wide: bool| {
        let ty = Type::Named(if wide { "any64" } else { "any32" }.into()).ptr();
        let address = C::bin(
            BinOp::Add,
            base.clone().cast(Type::U8.ptr()),
            C::int((i * 4).into()),
        );
        C::Unary(cgen::tree::UnOp::Deref, Box::new(address.cast(ty)))
    };
    let mut out = Vec::new();
    let mut i = 0;
    while i < words {
        let wide = words - i >= 2;
        let value = C::bin(BinOp::And, word(&a, i, wide), word(&b, i, wide));
        out.push(Stmt::Assign(word(&dst, i, wide), value));
        i += if wide { 2 } else { 1 };
    }
    out
}
