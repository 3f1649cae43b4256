//! Conditions of one direction of a relay, and counts of what it did.

use super::packet::TRANSPORT_TRAFFIC;
use std::collections::BTreeSet;
use std::time::Duration;

/// Choice among packets, which are numbered from 1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Pick {
    /// No packet.
    #[default]
    None,
    /// Packets with these numbers.
    List(BTreeSet<u64>),
    /// Packets whose numbers are multiples of this one; 0 selects none.
    Every(u64),
}

impl Pick {
    /// Chooses these packets.
    pub fn list(numbers: impl IntoIterator<Item = u64>) -> Pick {
        Pick::List(numbers.into_iter().collect())
    }

    /// Returns true if a packet is chosen.
    pub fn has(&self, number: u64) -> bool {
        match self {
            Pick::None => false,
            Pick::List(numbers) => numbers.contains(&number),
            Pick::Every(n) => *n > 0 && number.is_multiple_of(*n),
        }
    }
}

/// Treatment of packets in one direction of a relay. The default forwards them at once.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Time from a packet's arrival at the relay to its departure.
    pub delay: Duration,
    /// Packets that are dropped.
    pub loss: Pick,
    /// Packets that are held back until others have overtaken them.
    pub hold: Pick,
    /// Number of packets that overtake one that is held back.
    pub hold_by: u32,
    /// Packets that are sent twice.
    pub duplicate: Pick,
    /// Length of the longest packet that gets through, in bytes of the network layer.
    pub mtu: Option<u32>,
    /// True if the sender of a longer packet gets an ICMPv6 Packet Too Big.
    pub reports_mtu: bool,
    /// TCP's maximum segment size is lowered to this in each SYN.
    pub segment_size: Option<u16>,
    /// Tests if a packet is counted, and so may be chosen. Others are forwarded after the delay.
    pub counted: fn(&[u8]) -> bool,
    /// Number of packets to keep, as they were when they left.
    pub keep: usize,
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions {
            delay: Duration::ZERO,
            loss: Pick::None,
            hold: Pick::None,
            hold_by: 1,
            duplicate: Pick::None,
            mtu: None,
            reports_mtu: true,
            segment_size: None,
            counted: TRANSPORT_TRAFFIC,
            keep: 0,
        }
    }
}

/// Greatest number of delays that are kept.
pub(super) const MOST_DELAYS: usize = 1 << 20;

/// Counts of a relay in one direction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets that arrived and are counted; see [`Conditions::counted`].
    pub seen: u64,
    /// Counted packets that were dropped by choice.
    pub lost: u64,
    /// Counted packets that exceeded the MTU.
    pub too_big: u64,
    /// Counted packets that left, without copies.
    pub passed: u64,
    /// Counted packets that left after packets that arrived later.
    pub overtaken: u64,
    /// Copies that left.
    pub duplicated: u64,
    /// Packets of any kind that found the relay's queue full. They invalidate a test.
    pub overflowed: u64,
    /// Time from arrival to departure of each counted packet that left, in order of departure.
    pub delays: Vec<Duration>,
    /// The first packets that left, from the link layer on.
    pub kept: Vec<Vec<u8>>,
}

impl Counts {
    /// Returns the shortest time that a packet spent in the relay.
    pub fn least_delay(&self) -> Option<Duration> {
        self.delays.iter().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_chosen_by_number() {
        let chosen = |pick: Pick| (1..=9).filter(|n| pick.has(*n)).collect::<Vec<_>>();
        assert_eq!(chosen(Pick::None), [0; 0]);
        assert_eq!(chosen(Pick::list([2, 7])), [2, 7]);
        assert_eq!(chosen(Pick::Every(4)), [4, 8]);
        assert_eq!(chosen(Pick::Every(0)), [0; 0]);
    }
}
