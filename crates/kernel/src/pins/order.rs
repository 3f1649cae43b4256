//! Order of instances at traffic control, when one of them is attached again.

use super::{Interface, Pins, Record};
use crate::attachment::{TcOrder, side};
use crate::sys::{self, Side};
use bpf::abi::Hook;
use std::cmp::Reverse;

impl Pins {
    /// Returns the position of a program at an interface that it gets while it runs. The recorded position holds if
    /// the program that it refers to is there. Otherwise the position is on the right side of those programs that
    /// refer to this one. Otherwise it is last.
    pub(super) fn order_at(&self, ifindex: u32, record: &Record, member: usize) -> TcOrder {
        let member = &record.members[member];
        let by_filter = member.interfaces.iter().any(|at| at.filter.is_some());
        let Some(side) = side(member.hook).filter(|_| !by_filter) else {
            return TcOrder::Last;
        };
        if record.order == TcOrder::NearestWire {
            return TcOrder::NearestWire;
        }
        if let Some(beside) = record.order.beside()
            && self.place_of(beside, ifindex, side).is_some()
        {
            return record.order.clone();
        }
        let (mut earlier, mut later) = (Vec::new(), Vec::new());
        for name in self.names().unwrap_or_default() {
            let order = self.record(&name).map(|other| other.order);
            let Some(place) = self.place_of(&name, ifindex, side) else {
                continue;
            };
            match order {
                Ok(TcOrder::Before(beside)) if beside == record.instance => {
                    earlier.push((Reverse(place), name));
                }
                Ok(TcOrder::After(beside)) if beside == record.instance => {
                    later.push((place, name))
                }
                _ => {}
            }
        }
        let before = later.into_iter().min();
        match earlier.into_iter().min() {
            Some((_, last)) => TcOrder::After(last),
            None => before.map_or(TcOrder::Last, |(_, first)| TcOrder::Before(first)),
        }
    }

    /// Returns the index of an instance's program among those at a side of an interface of this thread's network
    /// namespace; the first is 0.
    fn place_of(&self, instance: &str, ifindex: u32, side: Side) -> Option<usize> {
        let own = self.tc_link(instance, ifindex, side).ok()??;
        let own = own.program().ok()?;
        let all = sys::tcx_on(ifindex, side).ok()?;
        all.iter().position(|program| *program == own)
    }

    /// Tests whether a program is on the wrong side of the program that its position refers to. This happens when they
    /// are attached again, with others between them.
    pub fn is_misplaced(&self, record: &Record, hook: Hook, at: &Interface) -> bool {
        let place = |instance: &str| self.tc_place(instance, hook, at);
        let places = record.order.beside().and_then(|beside| {
            let (own, _) = place(&record.instance)?;
            Some((own, place(beside)?.0))
        });
        places.is_some_and(|(own, beside)| match record.order {
            TcOrder::Last | TcOrder::NearestWire => false,
            TcOrder::Before(_) => own > beside,
            TcOrder::After(_) => own < beside,
        })
    }
}
