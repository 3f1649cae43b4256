//! Second implementation of RFC 8250, which computes the option's contents in wide arithmetic.

use super::packet::Packet;
use rand::Rng;
use std::collections::HashMap;

/// Fields of an option in its order: scales, PSNTP, PSNLR, DTLR, DTLS.
pub(crate) type Fields = [u64; 6];

/// This host's state of a flow, with times in nanoseconds.
#[derive(Default)]
struct HostFlow {
    sent: Option<(u64, u16)>,
    received: Option<(u64, u16)>,
    /// Time from the packet sent before the last received one to that packet.
    delta: u64,
    /// Next sequence number of the other host.
    foreign: u16,
}

/// State of all flows of this host.
#[derive(Default)]
pub(crate) struct Account(HashMap<(u8, u8, u16, u16), HostFlow>);

impl Account {
    /// Returns an option of the other host, and records that this host receives it now.
    pub(crate) fn foreign(&mut self, packet: &Packet, random: &mut impl Rng, now: u64) -> Fields {
        let flow = self.0.entry(packet.flow()).or_default();
        let answered = flow.sent.map_or(0, |(_, psn)| psn);
        let fields: Fields = [
            random.random_range(0..50),
            0,
            flow.foreign.into(),
            answered.into(),
            random.random_range(0..0x1_0000),
            0,
        ];
        if packet.option_at().is_some() {
            if let Some((time, _)) = flow.sent {
                flow.delta = now - time;
            }
            flow.received = Some((now, flow.foreign));
            flow.foreign = flow.foreign.wrapping_add(random.random_range(0..3));
        }
        fields
    }

    /// Returns the expected option of a packet that is sent now. A flow's first sequence number is random, so it is
    /// read from the packet at `at`.
    pub(crate) fn sent(&mut self, packet: &Packet, bytes: &[u8], at: usize, now: u64) -> Fields {
        let flow = self.0.entry(packet.flow()).or_default();
        let psn = match flow.sent {
            Some((_, psn)) => psn.wrapping_add(1),
            None => u16::from_be_bytes([bytes[at + 4], bytes[at + 5]]),
        };
        flow.sent = Some((now, psn));
        let (since, psnlr) = flow
            .received
            .map_or((0, 0), |(time, psn)| (now - time, psn));
        let (dtlr, scale_dtlr) = scaled(since);
        let (dtls, scale_dtls) = scaled(flow.delta);
        [scale_dtlr, scale_dtls, psn.into(), psnlr.into(), dtlr, dtls]
    }
}

/// Returns the 16 most significant bits of a time in attoseconds, and the number of bits by which they were shifted.
fn scaled(nanoseconds: u64) -> (u64, u64) {
    let attoseconds = u128::from(nanoseconds) * 1_000_000_000;
    let scale = (128 - attoseconds.leading_zeros()).saturating_sub(16);
    ((attoseconds >> scale) as u64, scale.into())
}

/// Returns the bytes of an option.
pub(crate) fn option(fields: Fields) -> [u8; 12] {
    let [scale_dtlr, scale_dtls, psntp, psnlr, dtlr, dtls] = fields;
    let mut option = [
        0x0f,
        10,
        scale_dtlr as u8,
        scale_dtls as u8,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    for (target, field) in option[4..]
        .chunks_exact_mut(2)
        .zip([psntp, psnlr, dtlr, dtls])
    {
        target.copy_from_slice(&(field as u16).to_be_bytes());
    }
    option
}
