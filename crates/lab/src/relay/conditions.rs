//! What happens to packets in one direction, and what has happened.

use super::packet::TRANSPORT_TRAFFIC;
use std::collections::BTreeSet;
use std::time::Duration;

/// A choice among packets, which are counted from 1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Pick {
    /// No packet.
    #[default]
    None,
    /// These.
    List(BTreeSet<u64>),
    /// Each whose number this divides; 0 is none.
    Every(u64),
}

impl Pick {
    /// These packets.
    pub fn list(numbers: impl IntoIterator<Item = u64>) -> Pick {
        Pick::List(numbers.into_iter().collect())
    }

    /// Whether a packet is chosen.
    pub fn has(&self, number: u64) -> bool {
        match self {
            Pick::None => false,
            Pick::List(numbers) => numbers.contains(&number),
            Pick::Every(n) => *n > 0 && number.is_multiple_of(*n),
        }
    }
}

/// What a relay does to the packets of one direction. The default forwards them at once.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// From a packet's arrival at the relay to its departure.
    pub delay: Duration,
    /// Packets that do not get through.
    pub loss: Pick,
    /// Packets that are held back until others have overtaken them.
    pub hold: Pick,
    /// How many overtake a packet that is held back.
    pub hold_by: u32,
    /// Packets that are sent twice.
    pub duplicate: Pick,
    /// The longest packet that gets through, in bytes of the network layer.
    pub mtu: Option<u32>,
    /// Whether the sender of a longer one gets an ICMPv6 Packet Too Big.
    pub reports_mtu: bool,
    /// What TCP's maximum segment size is lowered to in each SYN.
    pub segment_size: Option<u16>,
    /// Which packets are counted, and so may be chosen. Others are passed on after the delay.
    pub counted: fn(&[u8]) -> bool,
    /// How many packets that got through are kept as they were.
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

/// Most delays that are kept.
pub(super) const MOST_DELAYS: usize = 1 << 20;

/// What a relay did in one direction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets that came and are counted; see [`Conditions::counted`].
    pub seen: u64,
    /// Of these: chosen to be lost.
    pub lost: u64,
    /// Of these: too big for the path.
    pub too_big: u64,
    /// Of these: left, copies not counted.
    pub passed: u64,
    /// Of these: left after packets that came later.
    pub overtaken: u64,
    /// Copies that left.
    pub duplicated: u64,
    /// Packets of any kind that found the relay's queue full. They invalidate a test.
    pub overflowed: u64,
    /// From arrival to departure, of each counted packet that left, in that order.
    pub delays: Vec<Duration>,
    /// The first packets that left, from the link layer on.
    pub kept: Vec<Vec<u8>>,
}

impl Counts {
    /// The shortest time that a packet spent in the relay.
    pub fn least_delay(&self) -> Option<Duration> {
        self.delays.iter().min().copied()
    }

    /// The mean time that packets spent in the relay.
    pub fn mean_delay(&self) -> Option<Duration> {
        let count = u32::try_from(self.delays.len()).ok().filter(|n| *n > 0)?;
        Some(self.delays.iter().sum::<Duration>() / count)
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
