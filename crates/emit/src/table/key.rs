//! Keys: built once, in a byte order in which they can be compared.

use crate::emitter::Gen;
use crate::names::Names;
use crate::record::{MemberLayout, Record};
use crate::target::Target;
use crate::values::Value;
use cgen::tree::{Expr as C, Stmt, Type};
use ir::{Expr, Program};
use layout::ByteOrder;
use smol_str::SmolStr;

/// A key's struct.
#[derive(Clone, Debug)]
pub struct KeyLayout {
    /// Its struct's name.
    pub name: SmolStr,
    /// Member and layout of each P4 key.
    pub fields: Vec<(SmolStr, MemberLayout)>,
    /// Offset of each key in the record, in bytes.
    pub offsets: Vec<u32>,
    /// The record itself.
    pub record: Record,
}

/// One P4 key to look up. A key with a prefix comes last, in network order.
pub struct KeyPart {
    /// Its name.
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// True if it has a prefix.
    pub prefix: bool,
}

impl KeyPart {
    /// Returns the same key without a prefix, to be looked up as a whole.
    pub fn without_prefix(&self) -> KeyPart {
        KeyPart {
            name: self.name.clone(),
            width: self.width,
            prefix: false,
        }
    }
}

/// Lays a key out, after the other members of the record, if any. Names of members are taken from `names`.
pub fn layout(mut names: Names, name: SmolStr, parts: &[KeyPart], mut record: Record) -> KeyLayout {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let form = |part: &KeyPart| {
        let network = part.width > 64 || part.prefix || matches!(part.width, 8 | 16 | 32 | 48 | 64);
        let order = if network {
            ByteOrder::Network
        } else {
            ByteOrder::Host
        };
        MemberLayout::new(part.width, order)
    };
    order.sort_by_key(|&i| {
        (
            parts[i].prefix,
            std::cmp::Reverse((form(&parts[i]).align, form(&parts[i]).size)),
        )
    });
    let mut fields = vec![(SmolStr::default(), MemberLayout::new(1, ByteOrder::Host)); parts.len()];
    let mut offsets = vec![0; parts.len()];
    for &i in &order {
        let member = names.fresh(&short(&parts[i].name));
        let form = form(&parts[i]);
        let note = if form.order == ByteOrder::Network && form.size > 1 {
            "network order"
        } else {
            ""
        };
        offsets[i] = record.add_value(form, member.clone(), note);
        fields[i] = (member, form);
    }
    record.finish();
    KeyLayout {
        name,
        fields,
        offsets,
        record,
    }
}

fn short(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    let from = parts.len().saturating_sub(2);
    parts[from..].join("_")
}

/// Returns the keys that are matched: all except those that only feed an action selector's hash.
pub fn matched(keys: &[ir::Key]) -> impl Iterator<Item = &ir::Key> {
    let all = keys.iter();
    all.filter(|key| key.kind != ir::MatchKind::Selector)
}

/// Returns the parts of a table's key that are matched.
pub fn parts(p: &Program, keys: &[ir::Key]) -> Vec<KeyPart> {
    matched(keys)
        .map(|k| KeyPart {
            name: k.name.to_string(),
            width: p.ty(k.expr).width(),
            prefix: k.kind == ir::MatchKind::Lpm,
        })
        .collect()
}

impl<T: Target> Gen<'_, T> {
    /// Declares a key's variable, all bytes zero, and fills it in.
    pub fn build_key(&mut self, layout: &KeyLayout, exprs: &[Expr]) -> C {
        let name = self.file.names.fresh("key");
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
    fn fill_key(&mut self, key: &C, layout: &KeyLayout, exprs: &[Expr]) {
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
}
