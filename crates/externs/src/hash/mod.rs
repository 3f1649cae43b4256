//! `v1model`: hashes.
//!
//! ```p4
//! extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);
//! ```
//!
//! `base + hash(data) mod max`, and `base` where `max` is 0. The algorithms are those of bmv2: the data's
//! fields are packed without gaps and filled with zeros to whole bytes.

mod crc;

use crate::call::{Arg, Env, Fault, Reply, member, packed, scalar, values};
use crate::csum_replace::fold;
use crate::{Extern, Meaning};
use ir::Bits;
use num_bigint::BigUint;
use num_traits::Zero;

/// `hash`
pub const EXTERN: Extern = Extern {
    name: "hash",
    meaning: Meaning::Function(hash),
};

/// A member of `HashAlgorithm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Algorithm {
    /// Reflected, polynomial 0x04c11db7, begun with and complemented by all ones. `crc32_custom` is the
    /// same: its parameters have their initial values, which nothing changes.
    Crc32,
    /// Reflected, polynomial 0x8005, begun with 0. `crc16_custom` likewise.
    Crc16,
    /// A new random number at each call of `hash`. For a selector or a checksum, a number that spreads well and is the
    /// same for the same data.
    Random,
    /// The first 8 bytes (or fewer) as a number.
    Identity,
    /// The Internet checksum (RFC 1071).
    Csum16,
    /// Exclusive or of all 16-bit words; an odd last byte is the high one.
    Xor16,
}

impl Algorithm {
    /// Returns the algorithm of a member of `HashAlgorithm`.
    pub fn of_member(name: &str) -> Option<Algorithm> {
        Some(match name {
            "crc32" | "crc32_custom" => Algorithm::Crc32,
            "crc16" | "crc16_custom" => Algorithm::Crc16,
            "random" => Algorithm::Random,
            "identity" => Algorithm::Identity,
            "csum16" => Algorithm::Csum16,
            "xor16" => Algorithm::Xor16,
            _ => return None,
        })
    }

    /// Returns the hash of values, packed.
    pub fn compute(self, data: &[Bits]) -> u64 {
        self.compute_bytes(&packed(data))
    }

    /// Returns the hash of bytes.
    pub fn compute_bytes(self, bytes: &[u8]) -> u64 {
        match self {
            Algorithm::Crc32 => crc::crc32(bytes).into(),
            Algorithm::Crc16 => crc::crc16(bytes).into(),
            Algorithm::Random => scattered(bytes),
            Algorithm::Identity => bytes
                .iter()
                .take(8)
                .fold(0, |value, &byte| value << 8 | u64::from(byte)),
            Algorithm::Csum16 => (!fold(words(bytes).map(u64::from).sum())).into(),
            Algorithm::Xor16 => words(bytes).fold(0, |a, b| a ^ b).into(),
        }
    }
}

/// Splits bytes into 16-bit words in network order, an odd last byte filled with zeros.
fn words(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes
        .chunks(2)
        .map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
}

/// Computes FNV-1a over 64 bits.
fn scattered(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn hash(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let width = scalar(args, 0)?.width();
    let algorithm = Algorithm::of_member(member(args, 1)?).ok_or(Fault::Malformed)?;
    let (base, max) = (scalar(args, 2)?.value(), scalar(args, 4)?.value());
    let hashed = match algorithm {
        Algorithm::Random => u64::from(env.numbers.draw()) << 32 | u64::from(env.numbers.draw()),
        _ => algorithm.compute(values(args, 3)?),
    };
    let offset = if max.is_zero() {
        BigUint::zero()
    } else {
        BigUint::from(hashed) % max
    };
    Ok(Reply::out(0, vec![Bits::new(width, base + offset)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn algorithms_give_their_published_values() {
        let digits = b"123456789";
        assert_eq!(Algorithm::Crc32.compute_bytes(digits), 0xcbf4_3926);
        assert_eq!(Algorithm::Crc16.compute_bytes(digits), 0xbb3d);
        // RFC 1071, section 3.
        let rfc = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Algorithm::Csum16.compute_bytes(&rfc), !0xddf2u16 as u64);
        assert_eq!(Algorithm::Identity.compute_bytes(&[1, 2]), 0x0102);
        assert_eq!(
            Algorithm::Identity.compute_bytes(&[1, 2, 3, 4, 5, 6, 7, 8, 9]),
            0x0102_0304_0506_0708
        );
        assert_eq!(Algorithm::Xor16.compute_bytes(&[1, 2, 3]), 0x0202);
    }

    fn run(base: u64, data: u64, max: u64) -> Bits {
        let algorithm = Arg::member("identity", 0);
        let args = [
            arg(16, 0),
            algorithm,
            arg(16, base),
            arg(8, data),
            arg(16, max),
        ];
        let reply = with_env(&[], 0, |env| hash(&args, env)).0.unwrap();
        reply.outs[0].1[0].clone()
    }

    #[test]
    fn the_result_lies_from_base_on_and_below_base_and_max() {
        assert_eq!(run(100, 7, 5), Bits::new(16, 102u32));
        assert_eq!(run(100, 7, 0), Bits::new(16, 100u32));
        assert_eq!(run(0xffff, 7, 8), Bits::new(16, 6u32));
    }
}
