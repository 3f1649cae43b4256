//! Figures about packets by group (`p4include/telemetry.p4`): for each object an array that user space maps, in which each processor
//! has sets of groups of its own. Nobody waits, and nothing is lost but what belongs to groups that find no place.

mod kind;
mod layout;

pub(crate) use kind::Kind;
pub(crate) use layout::Layout;

use crate::calls::{declare, values};
use crate::keys::{self, KeyLayout};
use crate::target::Gen;
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use ir::{Expr, ExternCall, ExternInst};

/// `add`: of a value, an item or a weight, to the figure of a key's group.
pub(crate) fn add(g: &mut Gen<'_>, object: ExternInst, kind: Kind, call: &ExternCall, span: Span) {
    let Some(layout) = layout::layout(g, object, kind, span) else {
        return;
    };
    let block = g.block(|g| add_to(g, &layout, kind, call));
    g.push(Stmt::Block(block));
}

fn add_to(g: &mut Gen<'_>, layout: &Layout, kind: Kind, call: &ExternCall) {
    let added = match &layout.item {
        Some(item) => hash(g, item, values(call, 1), "item").1,
        None => {
            let value = values(call, 1).first();
            let value = value.map_or(C::int(0), |&value| lower::scalar(g, value));
            declare(g, CType::U64, "value", value)
        }
    };
    let (key, hashed) = hash(g, &layout.key, values(call, 0), "key");
    let sets = C::int(layout.sets.into());
    let index = C::call("figure_set_of", vec![hashed.clone(), sets]);
    let index = declare(g, CType::U32, "index", index);
    let map = C::Ident(layout.map.clone());
    let set = C::call("bpf_map_lookup_elem", vec![map.addr(), index.addr()]);
    let set = declare(g, CType::Struct(layout.set.clone()).ptr(), "set", set);

    let head = set.clone().arrow("head").addr();
    let words = C::int(layout.key.words.into());
    let place = vec![
        head,
        set.clone().arrow("way"),
        C::SizeOf(CType::Struct(layout.way.clone())),
        C::call("key_tag", vec![hashed]),
        key,
        words,
    ];
    // An array has all its elements; the verifier needs the check.
    let there = g.block(|g| match kind {
        Kind::Top => {
            let mut args = place;
            args.push(added);
            g.push(Stmt::Expr(C::call("top_add", args)));
        }
        _ => {
            let at = declare(g, CType::U32, "at", C::call("figure_way", place));
            let lost = set.clone().arrow("head").member("lost");
            let lost = vec![Stmt::Update(BinOp::Add, lost, C::int(1))];
            let known = C::bin(BinOp::Lt, at.clone(), C::id("SET_WAYS"));
            let found = g.block(|g| {
                g.push(crate::target::barrier(&at));
                let last = C::bin(BinOp::Sub, C::id("SET_WAYS"), C::int(1));
                let masked = C::bin(BinOp::And, at.clone(), last);
                let figure = set.clone().arrow("way").index(masked).member("figure");
                let call = match kind {
                    Kind::Histogram => C::call("histogram_add", vec![figure, added]),
                    Kind::Distinct { precision } => C::call(
                        "distinct_add",
                        vec![figure, C::int(precision.into()), added],
                    ),
                    Kind::Tally | Kind::Top => C::call("tally_add", vec![figure.addr(), added]),
                };
                g.push(Stmt::Expr(call));
            });
            g.push(Stmt::If(known, found, lost));
        }
    });
    g.push(Stmt::If(set.clone(), there, Block::new()));
}

/// A key in a variable of its own, and its hash in another.
fn hash(g: &mut Gen<'_>, layout: &KeyLayout, key: &[Expr], wish: &str) -> (C, C) {
    let array = CType::U64.array(layout.words);
    let var = declare(g, array, wish, C::Init(Vec::new()));
    keys::fill(g, layout, &var, key);
    let hashed = C::call("key_hash", vec![var.clone(), C::int(layout.words.into())]);
    let hashed = declare(g, CType::U64, &format!("{wish}_hash"), hashed);
    (var, hashed)
}
