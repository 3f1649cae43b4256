//! Requests without an answer so far. The kind of a request decides whether its answer has a body.

/// Requests of a connection, in their order: the kind of each ([`payload::Next::kind_of`]). A program on the path keeps
/// the same state (`stream_awaited` in `p4include/streams.p4`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Awaited {
    /// Kinds, two bits each, the first request in the lowest bits. Requests that do not fit have the kind 0.
    kinds: u64,
    number: u32,
    /// True if a request of a kind other than 0 did not fit.
    lost: bool,
}

const BITS: u32 = 2;
const _: () = assert!(payload::MOST_ANSWERS < 1 << BITS);

impl Awaited {
    /// Appends later requests. Returns false if one with a kind other than 0 does not fit; it then counts as one of
    /// kind 0.
    pub(crate) fn add(&mut self, later: Awaited) -> bool {
        let at = BITS.saturating_mul(self.number);
        let placed = later.kinds.checked_shl(at).unwrap_or(0);
        self.kinds |= placed;
        self.number = self.number.saturating_add(later.number);
        let fits = placed.checked_shr(at).unwrap_or(0) == later.kinds;
        fits && !later.lost
    }

    /// Appends a request.
    pub(crate) fn ask(&mut self, kind: usize) {
        self.lost |= !self.add(Awaited {
            kinds: kind as u64,
            number: 1,
            lost: false,
        });
    }

    /// Removes the first request, whose answer arrives, and returns its kind; 0 if there is none.
    pub(crate) fn answer(&mut self) -> usize {
        let first = self.kinds & ((1 << BITS) - 1);
        self.kinds >>= BITS;
        self.number = self.number.saturating_sub(1);
        first as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.number == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_beyond_the_room_are_counted_and_of_no_kind() {
        let one = |kind| {
            let mut one = Awaited::default();
            one.ask(kind);
            one
        };
        let mut awaited = Awaited::default();
        assert!((0..31).all(|_| awaited.add(one(0))) && awaited.add(one(2)));
        assert!(awaited.add(one(0)) && !awaited.add(one(1)));
        let mut asks = one(0);
        (0..32).for_each(|_| asks.ask(1));
        assert!(!Awaited::default().add(asks));
        let answered: Vec<usize> = (0..34).map(|_| awaited.answer()).collect();
        let mut expected = vec![0; 34];
        expected[31] = 2;
        assert_eq!(answered, expected);
        assert!(awaited.is_empty() && awaited.answer() == 0);
    }
}
