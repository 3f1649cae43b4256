//! The interface between an extern and the target that runs the program.

use crate::stream_bytes::StreamBytes;
use ir::Bits;
use num_bigint::BigUint;
use patterns::PatternRules;
use rand_chacha::ChaCha8Rng;
use schema::NameRules;
use smol_str::SmolStr;
use std::sync::Arc;

/// An argument's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// Scalars in order, as [`ir::Value::to_bits`] gives them: bools 1 bit wide, members of enums and errors 32, a
    /// varbit in its present width. For an `out` argument, the present value.
    Values(Vec<Bits>),
    /// A header: validity and fields.
    Header {
        /// True if it is valid.
        valid: bool,
        /// Values of the fields.
        fields: Vec<Bits>,
    },
    /// A string.
    String(String),
    /// A member of an enum: its name, and its number as a value.
    Member(SmolStr, [Bits; 1]),
    /// Rules of a name set, which is given as an object.
    Names(Arc<NameRules>),
    /// Rules of a pattern set, which is given as an object.
    Patterns(Arc<PatternRules>),
    /// Bytes of streams, which are given as an object.
    Streams(Arc<StreamBytes>),
    /// Bytes of QUIC connections, which are given as an object.
    Quic(Arc<crate::Connections>),
    /// Omitted.
    Absent,
}

impl Arg {
    /// Returns the member of an enum with this number.
    pub fn member(name: impl Into<SmolStr>, number: u32) -> Arg {
        Arg::Member(name.into(), [Bits::new(32, number)])
    }
}

/// An extern's results. The caller truncates or extends a value to the width of its destination.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Reply {
    /// The returned value, split into scalars.
    pub result: Vec<Bits>,
    /// New values of `out` and `inout` arguments, by the argument's index. Arguments that are not listed keep their
    /// values.
    pub outs: Vec<(usize, Vec<Bits>)>,
}

impl Reply {
    /// Returns no results.
    pub fn none() -> Reply {
        Reply::default()
    }

    /// Returns a scalar result.
    pub fn value(bits: Bits) -> Reply {
        Reply {
            result: vec![bits],
            outs: Vec::new(),
        }
    }

    /// Returns a new value for one argument.
    pub fn out(arg: usize, values: Vec<Bits>) -> Reply {
        Reply {
            result: Vec::new(),
            outs: vec![(arg, values)],
        }
    }
}

/// Reason why an extern ends the packet's processing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `assert` or `assume` failed.
    AssertionFailed,
    /// The call does not have the shape of the extern's declaration: a compiler bug.
    Malformed,
}

/// Request of an extern to the architecture around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send the packet to the drop port, and to no multicast group.
    Drop,
    /// A checksum was not right.
    ChecksumError,
    /// Truncate the packet to this number of bytes when it leaves.
    Truncate(u64),
    /// Truncate the payload to this number of bytes when the packet leaves.
    TruncatePayload(u64),
    /// Let the packet leave as it came in.
    Unchanged,
    /// Replace bytes of the packet.
    Write {
        /// Offset of the first one in the packet.
        at: usize,
        /// The new bytes.
        bytes: Vec<u8>,
    },
    /// Make a copy when the block ends.
    Clone {
        /// Number of the clone session.
        session: u64,
        /// Number of the preserved field list.
        list: u64,
    },
    /// Resubmit the packet as it came in, when ingress ends.
    Resubmit {
        /// Number of the preserved field list.
        list: u64,
    },
    /// Recirculate the packet as it leaves, when egress ends.
    Recirculate {
        /// Number of the preserved field list.
        list: u64,
    },
    /// Send these values to the control plane.
    Digest {
        /// Receiver: the first argument of `digest`.
        receiver: u64,
        /// The values.
        data: Vec<Bits>,
        /// Number of the digest among the program's.
        number: u32,
    },
    /// Write a line to the log.
    Log(String),
    /// Send the packet, as it came in, to user space.
    PerfEvent(Vec<u8>),
}

/// Environment of an extern: clock, random numbers, the packet, and its requests.
#[derive(Debug)]
pub struct Env<'a> {
    /// Nanoseconds of a monotonic clock.
    pub now: u64,
    /// The source of random numbers.
    pub rng: &'a mut ChaCha8Rng,
    /// Random numbers of `random32`, the same for every target in a test.
    pub numbers: &'a mut crate::Numbers,
    /// The packet as it came in.
    pub packet: &'a [u8],
    /// Offset at which the parser stopped, in bytes; at most the packet's length.
    pub parsed: usize,
    /// Colour that the direct meter of the entry whose action runs gave the packet.
    pub direct_color: Option<crate::meter::Color>,
    /// Requests of the extern, in order.
    pub effects: &'a mut Vec<Effect>,
}

/// Largest offset into the packet at which reading its payload may begin: the kernel's XDP loads nothing from further
/// on.
pub(crate) const LAST_BEGIN: u64 = 0xffff;

impl Env<'_> {
    /// Returns the bytes after the parser.
    pub fn payload(&self) -> &[u8] {
        &self.packet[self.parsed.min(self.packet.len())..]
    }

    /// Returns the bytes from an offset of the payload on; none if they begin after [`LAST_BEGIN`] of the packet.
    pub fn payload_from(&self, offset: u64) -> &[u8] {
        let from = self.parsed as u64 + offset;
        let from = usize::try_from(from).ok().filter(|_| from <= LAST_BEGIN);
        let bytes = from.and_then(|from| self.packet.get(from..));
        bytes.unwrap_or_default()
    }
}

/// Returns the scalars of an argument.
pub(crate) fn values(args: &[Arg], at: usize) -> Result<&[Bits], Fault> {
    match args.get(at) {
        Some(Arg::Values(values)) => Ok(values),
        Some(Arg::Header { fields, .. }) => Ok(fields),
        Some(Arg::Member(_, number)) => Ok(number),
        _ => Err(Fault::Malformed),
    }
}

/// Returns the one scalar of an argument.
pub(crate) fn scalar(args: &[Arg], at: usize) -> Result<&Bits, Fault> {
    match values(args, at)? {
        [one] => Ok(one),
        _ => Err(Fault::Malformed),
    }
}

/// Returns the one scalar of an argument as an index; one that does not fit is past every array's end.
pub(crate) fn index(args: &[Arg], at: usize) -> Result<u64, Fault> {
    Ok(scalar(args, at)?.to_u64().unwrap_or(u64::MAX))
}

/// Returns the name of a member given as an argument.
pub(crate) fn member(args: &[Arg], at: usize) -> Result<&str, Fault> {
    match args.get(at) {
        Some(Arg::Member(name, _)) => Ok(name),
        _ => Err(Fault::Malformed),
    }
}

/// Packs values without gaps, most significant bit first, and fills the last byte with zeros. Every hash and checksum
/// reads this.
pub(crate) fn packed(values: &[Bits]) -> Vec<u8> {
    let width: u32 = values.iter().map(Bits::width).sum();
    if values.iter().all(|v| v.width().is_multiple_of(8)) {
        return values.iter().flat_map(Bits::to_bytes).collect();
    }
    let mut whole = BigUint::default();
    for value in values {
        whole = (whole << value.width()) | value.value();
    }
    let filled = width.next_multiple_of(8);
    Bits::new(filled, whole << (filled - width)).to_bytes()
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    /// Runs `body` with an environment at second 0 and a packet, and returns the requests too.
    pub(crate) fn with_env<T>(
        packet: &[u8],
        parsed: usize,
        body: impl FnOnce(&mut Env<'_>) -> T,
    ) -> (T, Vec<Effect>) {
        let mut effects = Vec::new();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut numbers = crate::Numbers::new([1, 2, 3]);
        let result = body(&mut Env {
            now: 0,
            rng: &mut rng,
            numbers: &mut numbers,
            packet,
            parsed,
            direct_color: None,
            effects: &mut effects,
        });
        (result, effects)
    }

    /// Makes an argument of one scalar.
    pub(crate) fn arg(width: u32, value: u64) -> Arg {
        Arg::Values(vec![Bits::new(width, value)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_packed_without_gaps_and_filled_at_the_end() {
        let values = [Bits::new(4, 0x4u32), Bits::new(4, 5u32), Bits::new(3, 7u32)];
        assert_eq!(packed(&values), [0x45, 0xe0]);
        assert_eq!(packed(&[Bits::new(16, 0x0102u32)]), [1, 2]);
        assert_eq!(packed(&[]), [0u8; 0]);
    }
}
