//! Indexed and direct counters. Each processor has a copy, so that no count is lost and nobody waits.

use crate::errors;
use crate::target::StateTarget;
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType, UnOp};
use emit::Function;
use emit::Gen;
use emit::calls::values;
use emit::memory::declare;
use ir::{CtorValue, ExternCall, ExternInst, Program};
use layout::{CounterAbi, Map, MapKind};
use smol_str::SmolStr;

/// Most elements of a sparse counter, which uses few of many indices.
const SPARSE_LIMIT: u32 = 1 << 16;

/// Members of `struct packet_count`: packets and bytes.
const PACKETS: &str = "packets";
const BYTES: &str = "bytes";

/// Contents of a counter's element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    /// Number of packets.
    Packets,
    /// Number of bytes in the packets.
    Bytes,
    /// Numbers of packets and of bytes.
    PacketsAndBytes,
}

impl Unit {
    /// Returns the unit that a counter's constructor names.
    pub(crate) fn of(p: &Program, object: ExternInst) -> Unit {
        let mut args = p.externs[object].args.iter();
        let member = args.find_map(|(_, value)| match value {
            CtorValue::Member(id, index) => p.enums[*id].members.get(*index as usize),
            _ => None,
        });
        match member.map(SmolStr::as_str) {
            Some("bytes") => Unit::Bytes,
            Some("packets_and_bytes") => Unit::PacketsAndBytes,
            _ => Unit::Packets,
        }
    }

    /// Returns the type of an element.
    pub(crate) fn ty(self) -> CType {
        match self {
            Unit::Packets | Unit::Bytes => CType::U64,
            Unit::PacketsAndBytes => CType::Struct("packet_count".into()),
        }
    }

    /// Returns the packet's length if the unit needs it, else 0.
    pub(crate) fn length<T: StateTarget>(self, g: &mut Gen<'_, T>) -> C {
        match self {
            Unit::Packets => C::int(0),
            Unit::Bytes | Unit::PacketsAndBytes => g.packet_length(),
        }
    }

    /// Returns the size of an element, in bytes.
    pub(crate) fn size(self) -> u32 {
        match self {
            Unit::Packets | Unit::Bytes => 8,
            Unit::PacketsAndBytes => 16,
        }
    }

    /// Returns statements that count a packet of this length in an element. `element` is a variable that points to it.
    pub(crate) fn count(self, element: &SmolStr, length: C) -> Block {
        let element = || C::Ident(element.clone());
        let word = || C::Unary(UnOp::Deref, Box::new(element()));
        let add = |to: C, number: C| Stmt::Update(BinOp::Add, to, number);
        match self {
            Unit::Packets => vec![add(word(), C::int(1))],
            Unit::Bytes => vec![add(word(), length)],
            Unit::PacketsAndBytes => vec![
                add(element().arrow(PACKETS), C::int(1)),
                add(element().arrow(BYTES), length),
            ],
        }
    }
}

/// Emits a call of `CounterArray`: `increment` adds 1, `add` a number.
pub(crate) fn add<T: StateTarget>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall) {
    let Some(map) = counter_map(g, object, "max_index", Unit::Packets) else {
        return;
    };
    let mut args = g.arguments(call).into_iter();
    let index = args.next().unwrap_or(C::int(0));
    let by = args.next().unwrap_or(C::int(1));
    let (sparse, size) = shape(g, &map);
    if !sparse && T::counts_by_functions(g) {
        let function = function(g, &map);
        return g.push(Stmt::Expr(C::call(function, vec![index, by])));
    }
    let key = g.file.names.fresh("index");
    let otherwise = if let (true, Some(insert)) = (sparse, T::INSERT) {
        let first = g.file.names.fresh("first");
        let id = |n: &SmolStr| C::Ident(n.clone());
        let insert = vec![
            Stmt::decl(CType::U64, first.clone(), by.clone()),
            Stmt::Expr(insert(&map, id(&key).addr(), id(&first).addr())),
        ];
        vec![Stmt::If(
            C::bin(BinOp::Lt, id(&key), C::int(size)),
            insert,
            Block::new(),
        )]
    } else {
        Block::new()
    };
    let added = added(g, &map, &key, [index, by], otherwise);
    g.push(Stmt::Block(added));
}

/// Returns statements that add a number to the element at an index. They run `otherwise` if there is no such element.
/// `key` becomes the variable that holds the index.
fn added<T: StateTarget>(
    g: &mut Gen<'_, T>,
    map: &SmolStr,
    key: &SmolStr,
    [index, by]: [C; 2],
    otherwise: Block,
) -> Block {
    let slot = g.file.names.fresh("count");
    let mut block = found::<T>(map, key, index, &slot, CType::U64);
    let target = C::Unary(UnOp::Deref, Box::new(C::Ident(slot.clone())));
    let add = vec![Stmt::Update(BinOp::Add, target, by)];
    block.push(Stmt::If(C::Ident(slot), add, otherwise));
    block
}

/// Returns the function that adds to an element, made on first use. A checker checks it once. Inline, it would compare
/// the key's memory as each path left it.
fn function<T: StateTarget>(g: &mut Gen<'_, T>, map: &SmolStr) -> SmolStr {
    if let Some(known) = T::shared(&mut g.file.own).counter_functions.get(map) {
        return known.clone();
    }
    let name = g.file.names.fresh(&format!("{map}_add"));
    let [index, by] = ["index", "by"].map(|wish| g.file.names.fresh(wish));
    let key = g.file.names.fresh("key");
    let args = [&index, &by].map(|name| C::Ident(name.clone()));
    let mut body = added(g, map, &key, args, Block::new());
    // Functions that are verified one by one must return a number.
    body.push(Stmt::Return(Some(C::int(0))));
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result: CType::U32,
        params: vec![(CType::U32, index), (CType::U64, by)],
        body,
    });
    let functions = &mut T::shared(&mut g.file.own).counter_functions;
    functions.insert(map.clone(), name.clone());
    name
}

/// Emits a call of `counter`, which counts a packet, its bytes, or both.
pub(crate) fn count<T: StateTarget>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall) {
    let unit = Unit::of(g.p, object);
    let Some(map) = counter_map(g, object, "size", unit) else {
        return;
    };
    let index = index(g, call, 0);
    count_at(g, &map, unit, index);
}

/// Emits the counting of the packet in a map's element at an index, if the element exists.
pub(crate) fn count_at<T: StateTarget>(g: &mut Gen<'_, T>, map: &SmolStr, unit: Unit, index: C) {
    let (key, slot) = (g.file.names.fresh("index"), g.file.names.fresh("count"));
    let length = unit.length(g);
    let mut block = found::<T>(map, &key, index, &slot, unit.ty());
    block.push(Stmt::If(
        C::Ident(slot.clone()),
        unit.count(&slot, length),
        Block::new(),
    ));
    g.push(Stmt::Block(block));
}

/// Converts an index argument to the key of an array. A value too wide for the key becomes its greatest number, at
/// which no array has an element.
pub(crate) fn index<T: StateTarget>(g: &mut Gen<'_, T>, call: &ExternCall, at: usize) -> C {
    let index = values(call, at).first();
    index.map_or(C::int(0), |&index| index_of(g, index))
}

/// Converts an index value likewise.
pub(crate) fn index_of<T: StateTarget>(g: &mut Gen<'_, T>, index: ir::Expr) -> C {
    let width = g.p.ty(index).width();
    let value = match width {
        0..=64 => lower::scalar(g, index),
        _ => {
            let limbs = lower::wide(g, index);
            let limb = |i: u32| limbs.clone().index(C::int(i.into()));
            let above = (1..lower::limb_count(width))
                .map(limb)
                .reduce(|a, b| C::bin(BinOp::Or, a, b));
            C::choose(above.unwrap_or(C::int(0)), C::int(u32::MAX.into()), limb(0))
        }
    };
    if width <= 32 {
        return value;
    }
    let most = C::int(u32::MAX.into());
    C::choose(C::bin(BinOp::Gt, value.clone(), most.clone()), most, value)
}

/// Returns declarations of a key, and of a pointer to its element.
pub(crate) fn found<T: StateTarget>(
    map: &SmolStr,
    key: &SmolStr,
    index: C,
    slot: &SmolStr,
    ty: CType,
) -> Block {
    let element = T::find(map, C::Ident(key.clone()).addr());
    vec![
        Stmt::decl(CType::U32, key.clone(), index),
        Stmt::decl(ty.ptr(), slot.clone(), element),
    ]
}

/// Returns true if only the indices in use have elements (a sparse counter), and the number of indices.
fn shape<T: StateTarget>(g: &mut Gen<'_, T>, map: &SmolStr) -> (bool, u64) {
    let kept = T::kept(&mut g.file.own);
    let declared = kept.map(map);
    let sparse = declared.is_some_and(|map| map.kind == MapKind::PerCoreHash);
    let mut counters = kept.contents.counters.iter();
    let size = counters.find(|c| c.map == map.as_str());
    (sparse, size.map_or(0, |c| c.size))
}

fn counter_map<T: StateTarget>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    argument: &str,
    unit: Unit,
) -> Option<SmolStr> {
    let index = object.as_u32();
    if let Some(known) = T::kept(&mut g.file.own)
        .contents
        .counters
        .iter()
        .find(|c| c.index == index)
    {
        return Some(known.map.as_str().into());
    }
    let data = &g.p.externs[object];
    let size = data
        .int_arg(argument)
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| *n > 0);
    let Some(size) = size else {
        g.refuse(errors::counter_size(&data.name, data.span));
        return None;
    };
    let sparse = data
        .args
        .iter()
        .any(|(n, v)| n == "sparse" && *v == ir::CtorValue::Bool(true))
        && T::INSERT.is_some();
    let name = g.file.names.fresh_short(&data.name, "", T::MAP_NAME);
    let (kind, entries) = match sparse {
        true => (MapKind::PerCoreHash, size.min(SPARSE_LIMIT)),
        false => (MapKind::PerCoreArray, size),
    };
    let mut map = Map::new(name.as_str(), kind, 4, unit.size(), entries.into());
    map.on_demand = sparse;
    declare(g, map, Some((CType::U32, unit.ty())));
    T::kept(&mut g.file.own).contents.counters.push(CounterAbi {
        index,
        name: data.name.to_string(),
        map: name.to_string(),
        size: size.into(),
    });
    Some(name)
}
