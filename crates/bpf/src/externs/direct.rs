//! What is kept for each entry of a table: an element of an array at the entry's number. Changes of a table move no element, so
//! that packets may count meanwhile and nothing is lost.

use crate::abi::{MapAbi, MapKind};
use crate::maps::MAP_NAME;
use crate::target::{Bpf, Gen};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::table::{DIRECT_COUNTER, DIRECT_METER, property};
use ir::{ExternInst, TableData};
use layout::DirectAbi;
use smol_str::SmolStr;
use state::counter::{Unit, found};
use state::meter;

/// What is kept for the entries of a table.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    /// The map of counters, and what they count.
    counter: Option<(SmolStr, Unit)>,
    /// The map of meters, and what a packet costs.
    meter: Option<(SmolStr, ExternInst)>,
}

/// Declares what is kept for so many entries of a table; `None` if it is nothing.
pub(crate) fn declare(
    g: &mut Gen<'_>,
    data: &TableData,
    short: &str,
    entries: u64,
) -> Option<(Direct, DirectAbi)> {
    let entries = u32::try_from(entries).unwrap_or(u32::MAX);
    let counter = property(g.p, data, DIRECT_COUNTER).filter(|_| entries > 0);
    let counter = counter.map(|object| {
        let unit = Unit::of(g.p, object);
        let name = g.file.names.fresh_short(short, "_count", MAP_NAME);
        let abi = MapAbi {
            name: name.to_string(),
            kind: MapKind::PercpuArray,
            key_size: 4,
            value_size: unit.size(),
            max_entries: entries,
            no_prealloc: false,
            mmapable: false,
        };
        let maps = &mut g.file.own.maps;
        maps.declare(abi, Some((CType::U32, unit.ty())));
        (name, unit)
    });
    let meter = property(g.p, data, DIRECT_METER).filter(|_| entries > 0);
    let meter = meter.map(|object| {
        let name = g.file.names.fresh_short(short, "_meter", MAP_NAME);
        meter::declare(g, &name, entries);
        (name, object)
    });
    let abi = DirectAbi {
        entries,
        counter: counter.as_ref().map(|(map, _)| map.to_string()),
        meter: meter.as_ref().map(|(map, _)| map.to_string()),
    };
    let any = counter.is_some() || meter.is_some();
    any.then_some((Direct { counter, meter }, abi))
}

/// A packet has found the entry of this number; 0 is the default action, for which nothing is kept.
pub(crate) fn enter(g: &mut Gen<'_>, direct: &Direct, number: C) {
    // No array has the index in front of the first.
    let index = C::bin(BinOp::Sub, number, C::int(1));
    if let Some((map, unit)) = &direct.counter {
        let (key, slot) = (g.file.names.fresh("index"), g.file.names.fresh("count"));
        let length = unit.length(g);
        let mut block = found::<Bpf>(map, &key, index.clone(), &slot, unit.ty());
        block.push(Stmt::If(
            C::Ident(slot.clone()),
            unit.count(&slot, length),
            Block::new(),
        ));
        g.push(Stmt::Block(block));
    }
    if let Some((map, object)) = &direct.meter {
        let (key, slot) = (g.file.names.fresh("index"), g.file.names.fresh("meter"));
        let color = g.own_local("color", CType::U32, None);
        let mut block = found::<Bpf>(map, &key, index, &slot, meter::ty());
        let cost = meter::cost(g, *object);
        block.push(Stmt::Assign(
            color.clone(),
            meter::color(C::Ident(slot), cost),
        ));
        g.push(Stmt::Block(block));
        g.target.entry_color = Some(color);
    }
}
