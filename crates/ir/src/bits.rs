//! Fixed-width integers of any width, used by all phases of the compiler.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Zero};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A pattern of `width` bits, in two's complement. Operations, not values, are signed or unsigned.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits {
    width: u32,
    value: BigUint,
}

impl Bits {
    /// Returns the low `width` bits of `value`.
    pub fn new(width: u32, value: impl Into<BigUint>) -> Bits {
        let mut value = value.into();
        if value.bits() > u64::from(width) {
            value &= mask(width);
        }
        Bits { width, value }
    }

    /// Returns the low `width` bits of `value` in two's complement.
    pub fn from_int(width: u32, value: &BigInt) -> Bits {
        match value.sign() {
            Sign::Minus => {
                let modulus = BigInt::one() << width;
                let reduced = ((value % &modulus) + &modulus) % &modulus;
                Bits::new(width, reduced.magnitude().clone())
            }
            _ => Bits::new(width, value.magnitude().clone()),
        }
    }

    /// Returns zero.
    pub fn zero(width: u32) -> Bits {
        Bits {
            width,
            value: BigUint::zero(),
        }
    }

    /// Returns a value with all bits set.
    pub fn ones(width: u32) -> Bits {
        Bits {
            width,
            value: mask(width),
        }
    }

    /// Returns a value of one bit.
    pub fn from_bool(value: bool) -> Bits {
        Bits::new(1, u32::from(value))
    }

    /// Returns a value from bytes in network order. It is right-aligned; excess high bits are dropped.
    pub fn from_bytes(width: u32, bytes: &[u8]) -> Bits {
        Bits::new(width, BigUint::from_bytes_be(bytes))
    }

    /// Returns the width in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the unsigned value.
    pub fn value(&self) -> &BigUint {
        &self.value
    }

    /// Returns the value in two's complement.
    pub fn to_signed(&self) -> BigInt {
        if self.width > 0 && self.value.bit(u64::from(self.width) - 1) {
            BigInt::from(self.value.clone()) - (BigInt::one() << self.width)
        } else {
            BigInt::from(self.value.clone())
        }
    }

    /// Returns the value, in two's complement if `signed`.
    pub fn to_int(&self, signed: bool) -> BigInt {
        if signed {
            self.to_signed()
        } else {
            BigInt::from(self.value.clone())
        }
    }

    /// Returns the unsigned value, if it fits.
    pub fn to_u64(&self) -> Option<u64> {
        u64::try_from(&self.value).ok()
    }

    /// Returns true if all bits are 0.
    pub fn is_zero(&self) -> bool {
        self.value.is_zero()
    }

    /// Returns the bytes in network order, right-aligned; `width` is rounded up to whole bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let len = self.width.div_ceil(8) as usize;
        let digits = if self.value.is_zero() {
            Vec::new()
        } else {
            self.value.to_bytes_be()
        };
        let mut bytes = vec![0; len - digits.len()];
        bytes.extend(digits);
        bytes
    }

    /// Returns bits `hi` down to `lo`, where `lo <= hi < width`.
    pub fn slice(&self, hi: u32, lo: u32) -> Bits {
        Bits::new(hi - lo + 1, &self.value >> lo)
    }

    /// Returns a mask of `length` high ones and low zeros; all ones if `length` is the width or more.
    pub fn prefix_mask(width: u32, length: u32) -> Bits {
        let ones = Bits::ones(width);
        Bits::new(width, ones.value << width.saturating_sub(length))
    }

    /// Returns the number of ones of a prefix mask; `None` if the value is not a prefix mask.
    pub fn prefix_length(&self) -> Option<u32> {
        let length = u32::try_from(self.value.count_ones()).ok()?;
        (*self == Bits::prefix_mask(self.width, length)).then_some(length)
    }

    /// Returns the concatenation of `self` and `low`, the low bits.
    pub fn concat(&self, low: &Bits) -> Bits {
        Bits::new(
            self.width + low.width,
            (&self.value << low.width) | &low.value,
        )
    }
}

/// Returns `width` ones.
fn mask(width: u32) -> BigUint {
    (BigUint::one() << width) - BigUint::one()
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}w{:#x}", self.width, self.value)
    }
}

/// Serialized as a width and a value in P4 syntax: `16w0x800`.
impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}w{:#x}", self.width, self.value))
    }
}

impl<'de> Deserialize<'de> for Bits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Bits, D::Error> {
        let text = String::deserialize(from)?;
        let parts = text.split_once("w0x").and_then(|(width, digits)| {
            let value = BigUint::parse_bytes(digits.as_bytes(), 16)?;
            Some((width.parse::<u32>().ok()?, value))
        });
        match parts {
            Some((width, value)) if value.bits() <= u64::from(width) => Ok(Bits { width, value }),
            _ => Err(D::Error::custom(format!(
                "`{text}` is no value with a width"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_to_their_width() {
        assert_eq!(Bits::new(4, 0x1fu32), Bits::new(4, 0xfu32));
        assert_eq!(Bits::from_int(8, &BigInt::from(-1)), Bits::ones(8));
        assert_eq!(Bits::from_int(8, &BigInt::from(-256)), Bits::zero(8));
        assert_eq!(Bits::new(8, 0x80u32).to_signed(), BigInt::from(-128));
        assert_eq!(Bits::zero(0).to_signed(), BigInt::from(0));
    }

    #[test]
    fn bytes_are_in_network_order_and_as_many_as_the_width_needs() {
        assert_eq!(Bits::new(12, 0xabcu32).to_bytes(), [0x0a, 0xbc]);
        assert_eq!(Bits::from_bytes(12, &[0x1a, 0xbc]), Bits::new(12, 0xabcu32));
        assert_eq!(Bits::zero(0).to_bytes(), [0u8; 0]);
    }

    #[test]
    fn prefixes_are_ones_then_zeros() {
        let bits = |value: u32| Bits::new(8, value);
        for (length, mask) in [(0, 0), (1, 0x80), (3, 0xe0), (8, 0xff)] {
            assert_eq!(Bits::prefix_mask(8, length), bits(mask));
            assert_eq!(bits(mask).prefix_length(), Some(length));
        }
        assert_eq!(Bits::prefix_mask(8, 9), bits(0xff));
        assert_eq!(bits(0x70).prefix_length(), None);
        assert_eq!(bits(0xe1).prefix_length(), None);
        assert_eq!(Bits::prefix_mask(0, 0).prefix_length(), Some(0));
    }

    #[test]
    fn slices_and_concatenation_are_inverse() {
        let whole = Bits::new(13, 0x1a5bu32);
        assert_eq!(whole.slice(12, 5).concat(&whole.slice(4, 0)), whole);
    }
}
