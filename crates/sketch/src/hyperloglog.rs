//! Number of distinct values: HyperLogLog.

use crate::{Error, checked};

/// Estimate of the number of distinct values among those that were added.
///
/// With *precision* `p` it has `m = 2^p` registers of one byte, which start at zero. A value is added by its 64-bit
/// hash (see [`hash`](crate::hash())):
///
/// - the upper `p` bits are the register's index;
/// - the *rank* is 1 plus the number of leading zeros in the other `64 - p` bits; if all of them are zero, it is
///   `65 - p`;
/// - the register becomes the rank if that is larger.
///
/// The standard error of the estimate is `1.04 / sqrt(m)` at any number of values: 3.25 % for precision 10, 0.81 % for
/// 14 (P. Flajolet and others, *HyperLogLog*, 2007). The estimator is the improved one of O. Ertl, *New cardinality
/// estimation algorithms for HyperLogLog sketches*, 2017, section 3.3, which needs no correction for few values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HyperLogLog {
    precision: u32,
    registers: Vec<u8>,
}

impl HyperLogLog {
    /// Least precision.
    pub const LEAST: u32 = 4;
    /// Greatest precision.
    pub const GREATEST: u32 = 14;

    /// Returns an empty sketch. The precision is 4 to 14.
    pub fn new(precision: u32) -> Result<HyperLogLog, Error> {
        HyperLogLog::check(precision)?;
        Ok(HyperLogLog {
            precision,
            registers: vec![0; 1 << precision],
        })
    }

    /// Builds a sketch from the registers of another implementation, as many as the precision requires. An impossible
    /// rank counts as the greatest one.
    pub fn from_registers(precision: u32, registers: &[u8]) -> Result<HyperLogLog, Error> {
        HyperLogLog::check(precision)?;
        if registers.len() != 1 << precision {
            return Err(Error::Different);
        }
        let greatest = greatest_rank(precision);
        Ok(HyperLogLog {
            precision,
            registers: registers.iter().map(|&r| r.min(greatest)).collect(),
        })
    }

    fn check(precision: u32) -> Result<u64, Error> {
        let (least, greatest) = (HyperLogLog::LEAST, HyperLogLog::GREATEST);
        checked("precision", precision.into(), least.into(), greatest.into())
    }

    /// Returns the registers, by index.
    pub fn registers(&self) -> &[u8] {
        &self.registers
    }

    /// Returns the standard error of [`Self::estimate`], relative to the true number.
    pub fn standard_error(&self) -> f64 {
        1.04 / (self.registers.len() as f64).sqrt()
    }

    /// Adds a value by its hash.
    pub fn add(&mut self, hash: u64) {
        let index = (hash >> (64 - self.precision)) as usize;
        // A one after the last bit ends the count if all bits are zero.
        let rest = (hash << self.precision) | (1 << (self.precision - 1));
        let rank = rest.leading_zeros() as u8 + 1;
        let register = &mut self.registers[index];
        *register = rank.max(*register);
    }

    /// Adds the values of another sketch of the same precision: each register becomes the larger of both. The result is
    /// the same as if one sketch had seen all values.
    pub fn merge(&mut self, other: &HyperLogLog) -> Result<(), Error> {
        if self.precision != other.precision {
            return Err(Error::Different);
        }
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            *mine = (*mine).max(*theirs);
        }
        Ok(())
    }

    /// Estimates the number of distinct values; exactly 0 for none.
    pub fn estimate(&self) -> f64 {
        let m = self.registers.len() as f64;
        let greatest = usize::from(greatest_rank(self.precision));
        let mut with_rank = vec![0u32; greatest + 1];
        for &register in &self.registers {
            with_rank[usize::from(register)] += 1;
        }
        let saturated = f64::from(with_rank[greatest]);
        let mut z = m * tau(1.0 - saturated / m);
        for &count in with_rank[1..greatest].iter().rev() {
            z = 0.5 * (z + f64::from(count));
        }
        z += m * sigma(f64::from(with_rank[0]) / m);
        m * m / (2.0 * std::f64::consts::LN_2 * z)
    }
}

/// Returns the rank of a hash that is zero after the index.
fn greatest_rank(precision: u32) -> u8 {
    (65 - precision) as u8
}

/// Transforms the fraction of zero registers for the estimator: `x + sum of x^(2^k) * 2^(k-1)` for k from 1.
fn sigma(x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut power, mut factor, mut sum) = (x, 1.0, x);
    loop {
        power *= power;
        let before = sum;
        sum += power * factor;
        factor += factor;
        if sum == before {
            return sum;
        }
    }
}

/// Transforms the fraction of registers that are not saturated for the estimator:
/// `(1 - x - sum of (1 - x^(2^-k))^2 * 2^-k) / 3` for k from 1.
fn tau(x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut root, mut factor, mut sum) = (x, 1.0, 1.0 - x);
    loop {
        root = root.sqrt();
        factor *= 0.5;
        let before = sum;
        sum -= (1.0 - root) * (1.0 - root) * factor;
        if sum == before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_and_rank_are_the_hash_from_above() {
        let mut sketch = HyperLogLog::new(4).unwrap();
        sketch.add(0x3800_0000_0000_0000);
        sketch.add(0x3100_0000_0000_0000);
        sketch.add(0xf000_0000_0000_0000);
        sketch.add(0xe000_0000_0000_0001);
        let mut expected = [0; 16];
        expected[3] = 4;
        expected[15] = 61;
        expected[14] = 60;
        assert_eq!(sketch.registers(), expected);
    }

    #[test]
    fn none_is_none() {
        assert_eq!(HyperLogLog::new(10).unwrap().estimate(), 0.0);
    }

    #[test]
    fn saturated_registers_are_finite() {
        let full = HyperLogLog::from_registers(4, &[255; 16]).unwrap();
        assert_eq!(full.registers(), [61; 16]);
        assert!(full.estimate() > 1e18);
    }

    #[test]
    fn parameters_have_a_range() {
        let wrong = HyperLogLog::new(15).unwrap_err();
        assert_eq!(wrong.to_string(), "precision is 15; it has to be 4 to 14");
        assert!(HyperLogLog::new(3).is_err());
        let mut four = HyperLogLog::new(4).unwrap();
        let five = HyperLogLog::new(5).unwrap();
        assert_eq!(four.merge(&five), Err(Error::Different));
        assert_eq!(
            HyperLogLog::from_registers(4, &[0; 15]),
            Err(Error::Different)
        );
    }
}
