//! Direct counters and meters of tables: elements of arrays, indexed by the entry's number. Changes of a table move no
//! element, so that packets can count meanwhile without losses.

use crate::counter::{Unit, count_at, found};
use crate::meter;
use crate::target::StateTarget;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use emit::Gen;
use emit::calls::places;
use emit::memory;
use emit::table::{DIRECT_COUNTER, DIRECT_METER, TableShape, property};
use ir::{ExternCall, ExternInst};
use layout::{DirectAbi, Map, MapKind};
use smol_str::SmolStr;

/// Direct counter and meter of a table.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    /// Map of counters, and their unit.
    counter: Option<(SmolStr, Unit)>,
    /// Map of meters, and the extern object that says what a packet costs.
    meter: Option<(SmolStr, ExternInst)>,
}

impl Direct {
    /// Declares the maps of direct counters and meters for `entries` entries. `None` if the table has none.
    pub(crate) fn declare<T: StateTarget>(
        g: &mut Gen<'_, T>,
        shape: &TableShape<'_>,
        entries: u64,
    ) -> Option<(Direct, DirectAbi)> {
        let entries = u32::try_from(entries).unwrap_or(u32::MAX);
        let object = |g: &Gen<'_, T>, ty| property(g.p, shape.data, ty).filter(|_| entries > 0);
        let counter = object(g, DIRECT_COUNTER).map(|object| {
            let unit = Unit::of(g.p, object);
            let name = g.file.names.fresh_short(shape.short, "_count", T::MAP_NAME);
            let (kind, size) = (MapKind::PerCoreArray, unit.size());
            let map = Map::new(name.as_str(), kind, 4, size, entries.into());
            memory::declare(g, map, Some((CType::U32, unit.ty())));
            (name, unit)
        });
        let meter = object(g, DIRECT_METER).map(|object| {
            let name = g.file.names.fresh_short(shape.short, "_meter", T::MAP_NAME);
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

    pub(crate) fn enter<T: StateTarget>(&self, g: &mut Gen<'_, T>, number: C) {
        // No array has the index before the first.
        let index = C::bin(BinOp::Sub, number, C::int(1));
        if let Some((map, unit)) = &self.counter {
            count_at(g, map, *unit, index.clone());
        }
        if let Some((map, object)) = &self.meter {
            let (key, slot) = (g.file.names.fresh("index"), g.file.names.fresh("meter"));
            let color = g.own_local("color", CType::U32, None);
            let mut block = found::<T>(map, &key, index, &slot, meter::ty());
            let cost = meter::cost(g, *object);
            block.push(Stmt::Assign(
                color.clone(),
                meter::color(C::Ident(slot), cost),
            ));
            g.push(Stmt::Block(block));
            g.target.held().entry_color = Some(color);
        }
    }
}

/// Emits `direct_meter.read`: the colour that the entry's meter gave, or green outside of its action.
pub(crate) fn color<T: StateTarget>(g: &mut Gen<'_, T>, call: &ExternCall) {
    if let Some(&place) = places(call, 0).first() {
        let color = g.target.held().entry_color.clone();
        meter::store(g, place, color.unwrap_or(C::int(0)));
    }
}
