//! Order of instances at traffic control, when one of them is attached again.

use super::{Interface, Pins, Record};
use crate::attachment::{TcOrder, side};
use crate::sys::{self, Side};
use bpf::abi::Hook;

impl Pins {
    /// Returns the position of a program at an interface that it gets while it runs: after the last of those programs
    /// that belong before it, or else before the first of those that belong after it, or else last. Instances whose
    /// programs are not there count too: through them the order of others follows.
    pub(super) fn order_at(&self, ifindex: u32, record: &Record, member: usize) -> TcOrder {
        let member = &record.members[member];
        let by_filter = member.interfaces.iter().any(|at| at.filter.is_some());
        let Some(side) = side(member.hook).filter(|_| !by_filter) else {
            return TcOrder::Last;
        };
        if record.order == TcOrder::NearestWire {
            return TcOrder::NearestWire;
        }
        let records = self.names().unwrap_or_default().into_iter();
        let pairs: Vec<_> = records
            .filter_map(|name| pair(self.record(&name).ok()?.order, name))
            .collect();
        let place = |name: &String| self.place_of(name, ifindex, side);
        let earlier = reached(
            &record.instance,
            pairs.iter().map(|(first, then)| (then, first)),
        );
        if let Some(last) = earlier
            .into_iter()
            .filter(|name| place(name).is_some())
            .max_by_key(place)
        {
            return TcOrder::After(last);
        }
        let later = reached(
            &record.instance,
            pairs.iter().map(|(first, then)| (first, then)),
        );
        let first = later
            .into_iter()
            .filter(|name| place(name).is_some())
            .min_by_key(place);
        first.map_or(TcOrder::Last, TcOrder::Before)
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

/// Returns the instances that an order names, the earlier one first.
fn pair(order: TcOrder, own: String) -> Option<(String, String)> {
    match order {
        TcOrder::Before(beside) => Some((own, beside)),
        TcOrder::After(beside) => Some((beside, own)),
        TcOrder::Last | TcOrder::NearestWire => None,
    }
}

/// Returns the instances that steps lead to from one of them, itself left out.
fn reached<'a>(
    from: &'a String,
    steps: impl Iterator<Item = (&'a String, &'a String)>,
) -> Vec<String> {
    let steps: Vec<_> = steps.collect();
    let mut found = vec![from];
    let mut done = 0;
    while let Some(at) = found.get(done).copied() {
        for (_, to) in steps.iter().filter(|(origin, _)| *origin == at) {
            if !found.contains(to) {
                found.push(to);
            }
        }
        done += 1;
    }
    found.into_iter().skip(1).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_over_instances_between_and_in_circles() {
        let names = ["a", "b", "c", "d"].map(String::from);
        let [a, b, c, d] = &names;
        let steps = || [(a, b), (b, c), (c, a), (c, d)].into_iter();
        assert_eq!(reached(a, steps()), ["b", "c", "d"]);
        assert_eq!(reached(c, steps()), ["a", "d", "b"]);
        assert!(reached(d, steps()).is_empty());
    }
}
