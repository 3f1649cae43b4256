//! Arithmetic on compile-time constants, of any size.

mod fold;

pub(crate) use fold::{Fault, binary, compare, unary};

use num_bigint::BigInt;
use num_traits::One;

/// Reduces `value` to a width: modulo 2^width and, if signed, into two's complement's range.
pub(crate) fn wrap(value: &BigInt, width: u32, signed: bool) -> BigInt {
    if width == 0 {
        return BigInt::ZERO;
    }
    let modulus = BigInt::one() << width;
    let low = ((value % &modulus) + &modulus) % &modulus;
    if signed && low.bit(u64::from(width) - 1) {
        low - modulus
    } else {
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_to_both_kinds() {
        assert_eq!(wrap(&BigInt::from(300), 8, false), BigInt::from(44));
        assert_eq!(wrap(&BigInt::from(-1), 8, false), BigInt::from(255));
        assert_eq!(wrap(&BigInt::from(200), 8, true), BigInt::from(-56));
        assert_eq!(wrap(&BigInt::from(-129), 8, true), BigInt::from(127));
        assert_eq!(wrap(&BigInt::from(5), 0, false), BigInt::ZERO);
    }
}
