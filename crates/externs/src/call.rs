//! The interface between an extern and the target that runs the program.

use ir::Bits;
use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use smol_str::SmolStr;

/// An argument's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// Scalars in order, as [`ir::Value::to_bits`] gives them: bools 1 bit wide, members of enums and
    /// errors 32, a varbit as wide as it is now. For an `out` argument, what is there now.
    Values(Vec<Bits>),
    /// A header: validity and fields.
    Header {
        /// Whether it is valid.
        valid: bool,
        /// Its fields.
        fields: Vec<Bits>,
    },
    /// A string.
    String(String),
    /// A member of an enum: its name, and its number as a value.
    Member(SmolStr, [Bits; 1]),
    /// Left out.
    Absent,
}

impl Arg {
    /// The member of an enum with this number.
    pub fn member(name: impl Into<SmolStr>, number: u32) -> Arg {
        Arg::Member(name.into(), [Bits::new(32, number)])
    }
}

/// An extern's results. The caller truncates or extends a value to the width of its destination.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Reply {
    /// The returned value, split into scalars.
    pub result: Vec<Bits>,
    /// New values of `out` and `inout` arguments, by the argument's index. What is not listed stays
    /// as it was.
    pub outs: Vec<(usize, Vec<Bits>)>,
}

impl Reply {
    /// Nothing.
    pub fn none() -> Reply {
        Reply::default()
    }

    /// A returned scalar.
    pub fn value(bits: Bits) -> Reply {
        Reply {
            result: vec![bits],
            outs: Vec::new(),
        }
    }

    /// A new value for one argument.
    pub fn out(arg: usize, values: Vec<Bits>) -> Reply {
        Reply {
            result: Vec::new(),
            outs: vec![(arg, values)],
        }
    }
}

/// Why an extern ends the packet's processing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `assert` or `assume` failed.
    AssertionFailed,
    /// The call has not the shape of the extern's declaration: a compiler bug.
    Malformed,
}

/// What an extern needs from the architecture around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send the packet to the drop port, and to no multicast group.
    Drop,
    /// A checksum was not right.
    ChecksumError,
    /// Cut the packet to so many bytes when it leaves.
    Truncate(u64),
    /// Make a copy when the block ends.
    Clone {
        /// Where the copy goes.
        session: u64,
        /// The number of the field list that it keeps.
        list: u64,
    },
    /// Let the packet begin anew as it came in, when ingress ends.
    Resubmit {
        /// The number of the field list that it keeps.
        list: u64,
    },
    /// Let the packet begin anew as it leaves, when egress ends.
    Recirculate {
        /// The number of the field list that it keeps.
        list: u64,
    },
    /// Send these values to the control plane.
    Digest {
        /// Whom it is for.
        receiver: u64,
        /// The values.
        data: Vec<Bits>,
        /// Which of the program's digests it is.
        number: u32,
    },
    /// A line for the log.
    Log(String),
    /// The packet, as it came in, to user space.
    PerfEvent(Vec<u8>),
}

/// What an extern sees of the world.
#[derive(Debug)]
pub struct Env<'a> {
    /// Nanoseconds of a monotonic clock.
    pub now: u64,
    /// The source of random numbers.
    pub rng: &'a mut ChaCha8Rng,
    /// The random numbers of `random32`, which every target in a test is given alike.
    pub numbers: &'a mut crate::Numbers,
    /// The packet as it came in.
    pub packet: &'a [u8],
    /// Where the parser stopped, in bytes; at most the packet's length.
    pub parsed: usize,
    /// The colour that the meter of the table entry whose action runs gave the packet.
    pub direct_color: Option<crate::meter::Color>,
    /// What the extern asks for, in order.
    pub effects: &'a mut Vec<Effect>,
}

/// The last byte of a packet that reading its payload may begin at: the kernel's XDP loads none from further on.
pub(crate) const LAST_BEGIN: u64 = 0xffff;

impl Env<'_> {
    /// The bytes that the parser left.
    pub fn payload(&self) -> &[u8] {
        &self.packet[self.parsed.min(self.packet.len())..]
    }

    /// The bytes from an offset of the payload on; none if they begin behind [`LAST_BEGIN`] of the packet.
    pub fn payload_from(&self, offset: u64) -> &[u8] {
        let from = self.parsed as u64 + offset;
        let from = usize::try_from(from).ok().filter(|_| from <= LAST_BEGIN);
        let bytes = from.and_then(|from| self.packet.get(from..));
        bytes.unwrap_or_default()
    }
}

/// The scalars of an argument.
pub(crate) fn values(args: &[Arg], at: usize) -> Result<&[Bits], Fault> {
    match args.get(at) {
        Some(Arg::Values(values)) => Ok(values),
        Some(Arg::Header { fields, .. }) => Ok(fields),
        Some(Arg::Member(_, number)) => Ok(number),
        _ => Err(Fault::Malformed),
    }
}

/// The one scalar of an argument.
pub(crate) fn scalar(args: &[Arg], at: usize) -> Result<&Bits, Fault> {
    match values(args, at)? {
        [one] => Ok(one),
        _ => Err(Fault::Malformed),
    }
}

/// The one scalar of an argument as an index; one that does not fit is past every array's end.
pub(crate) fn index(args: &[Arg], at: usize) -> Result<u64, Fault> {
    Ok(scalar(args, at)?.to_u64().unwrap_or(u64::MAX))
}

/// The name of a member given as an argument.
pub(crate) fn member(args: &[Arg], at: usize) -> Result<&str, Fault> {
    match args.get(at) {
        Some(Arg::Member(name, _)) => Ok(name),
        _ => Err(Fault::Malformed),
    }
}

/// Values one after the other without gaps, most significant bit first, the last byte filled with
/// zeros: what every hash and checksum reads.
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

    /// Runs `body` with a world at second 0 and a packet, and gives what was asked of it.
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

    /// One scalar argument.
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
