//! Metrics about packets by group (`p4include/telemetry.p4`). Each object is an array that the control plane maps, in
//! which each processor has its own sets of groups. Nobody waits. Only updates of groups that find no free way are
//! lost.

mod kind;
mod layout;

pub(crate) use kind::MetricKind;

use crate::keys;
use crate::layouts::{KeyLayout, MetricLayout};
use crate::target::StateTarget;
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::calls::{declare, values};
use emit::record::Record;
use emit::{Event, Function, Gen};
use ir::{Expr, ExternCall, ExternInst};
use smol_str::SmolStr;

/// Emits `add`: of a value, an item or a weight, to the metric of a key's group.
pub(crate) fn add<T: StateTarget>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    kind: MetricKind,
    call: &ExternCall,
) {
    let Some(layout) = layout::layout(g, object, kind) else {
        return;
    };
    let block = g.block(|g| add_to(g, &layout, kind, call));
    g.push(Stmt::Block(block));
}

fn add_to<T: StateTarget>(
    g: &mut Gen<'_, T>,
    layout: &MetricLayout,
    kind: MetricKind,
    call: &ExternCall,
) {
    let added = match &layout.item {
        Some(item) => {
            let item_var = filled(g, item, values(call, 1), "item");
            hash(g, item, &item_var, "item_hash")
        }
        None => {
            let value = values(call, 1).first();
            let value = value.map_or(C::int(0), |&value| lower::scalar(g, value));
            declare(g, CType::U64, "value", value)
        }
    };
    if !T::metrics_by_functions(g, layout.key.words) {
        let key = filled(g, &layout.key, values(call, 0), "key");
        return add_there(g, layout, kind, key, added);
    }
    let (function, structure) = function(g, layout, kind);
    // The key may be long: a local variable is placed where there is room.
    let key = g.own_local("key", CType::U64.array(layout.key.words), None);
    for word in 0..layout.key.words {
        let word = key.clone().index(C::int(word.into()));
        g.push(Stmt::Assign(word, C::int(0)));
    }
    keys::fill(g, &layout.key, &key, values(call, 0));
    let key = key.cast(CType::Struct(structure).ptr());
    g.push(Stmt::Expr(C::call(function, vec![key, added])));
}

/// Member of a key's struct.
const WORD: &str = "word";

/// Returns the function that updates the metric of a key's group, and the struct of its key, made on first use. A
/// checker checks it once, and not on each path.
fn function<T: StateTarget>(
    g: &mut Gen<'_, T>,
    layout: &MetricLayout,
    kind: MetricKind,
) -> (SmolStr, SmolStr) {
    let map = &layout.map;
    if let Some(known) = T::shared(&mut g.file.own).metric_functions.get(map) {
        return known.clone();
    }
    let name = g.file.names.fresh(&format!("{map}_add"));
    let structure = g.file.names.fresh(&format!("{map}_key"));
    let (key, added) = (g.file.names.fresh("key"), g.file.names.fresh("added"));
    let mut record = Record::default();
    let words = layout.key.words;
    record.add(CType::U64.array(words), WORD, words * 8, 8, "");
    g.file.declare_struct(&structure, record.members);
    let body = g.block(|g| {
        let failed = vec![Stmt::Return(Some(C::int(1)))];
        g.push(Stmt::If(
            C::not(C::Ident(key.clone())),
            failed,
            Block::new(),
        ));
        let words = C::Ident(key.clone()).arrow(WORD);
        add_there(g, layout, kind, words, C::Ident(added.clone()));
        // Functions that are verified one by one must return a number.
        g.push(Stmt::Return(Some(C::int(0))));
    });
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result: CType::U32,
        params: vec![
            (CType::Struct(structure.clone()).ptr(), key),
            (CType::U64, added),
        ],
        body,
    });
    let made = (name, structure);
    let shared = T::shared(&mut g.file.own);
    shared.metric_functions.insert(map.clone(), made.clone());
    made
}

/// Emits the update of the metric of a key's group.
fn add_there<T: StateTarget>(
    g: &mut Gen<'_, T>,
    layout: &MetricLayout,
    kind: MetricKind,
    key: C,
    added: C,
) {
    let hashed = hash(g, &layout.key, &key, "key_hash");
    let sets = C::int(layout.sets.into());
    let index = C::call("metric_set_of", vec![hashed.clone(), sets]);
    let index = declare(g, CType::U32, "index", index);
    let set = T::find(&layout.map, index.addr());
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
    // An array has all its elements, but a checker needs the check.
    let there = g.block(|g| match kind {
        MetricKind::Top => {
            let mut args = place;
            args.push(added);
            g.push(Stmt::Expr(C::call("top_add", args)));
        }
        _ => {
            let at = declare(g, CType::U32, "at", C::call("metric_way", place));
            let lost = set.clone().arrow("head").member("lost");
            let lost = vec![Stmt::Update(BinOp::Add, lost, C::int(1))];
            let known = C::bin(BinOp::Lt, at.clone(), C::id("SET_WAYS"));
            let found = g.block(|g| {
                g.on(Event::Computed(&at));
                let last = C::bin(BinOp::Sub, C::id("SET_WAYS"), C::int(1));
                let masked = C::bin(BinOp::And, at.clone(), last);
                let metric = set.clone().arrow("way").index(masked).member("metric");
                let call = match kind {
                    MetricKind::Histogram => C::call("histogram_add", vec![metric, added]),
                    MetricKind::Distinct { precision } => C::call(
                        "distinct_add",
                        vec![metric, C::int(precision.into()), added],
                    ),
                    MetricKind::Tally | MetricKind::Top => {
                        C::call("tally_add", vec![metric.addr(), added])
                    }
                };
                g.push(Stmt::Expr(call));
            });
            g.push(Stmt::If(known, found, lost));
        }
    });
    g.push(Stmt::If(set.clone(), there, Block::new()));
}

/// Emits a key in a variable of its own.
fn filled<T: StateTarget>(g: &mut Gen<'_, T>, layout: &KeyLayout, key: &[Expr], wish: &str) -> C {
    let array = CType::U64.array(layout.words);
    let var = declare(g, array, wish, C::Init(Vec::new()));
    keys::fill(g, layout, &var, key);
    var
}

/// Emits the hash of a key, in a variable.
fn hash<T: StateTarget>(g: &mut Gen<'_, T>, layout: &KeyLayout, key: &C, wish: &str) -> C {
    let words = C::int(layout.words.into());
    let hashed = C::call("key_hash", vec![key.clone(), words]);
    declare(g, CType::U64, wish, hashed)
}
