//! What the verifier has to process of a very long program, from excerpts of it.
//!
//! A program that is cut into functions is verified function by function, so what its longest body takes is about the sum over the body's
//! pieces: states of a parser, or statements of a control. Stretches of them, spread over the body, are compiled as programs of their own
//! ([`super::excerpt`]); from what these take it follows what all pieces take.

use super::Body;
use super::excerpt::{Excerpt, Pieces};
use ir::Program;

/// Of how many shares of a program a stretch is taken each, and in which order: the first ones are far from each other.
const SHARES: [u64; 6] = [1, 4, 2, 5, 0, 3];

/// How many standard errors of the mean the figure lies below it, by two stretches, three and so on: one in two hundred programs takes
/// less (Student's t).
const ERRORS: [f64; SHARES.len() - 1] = [63.66, 9.92, 5.84, 4.60, 4.03];

/// What a stretch takes in the program, of what it takes by itself: 0.92 at the least in what was measured
/// (`crates/driver/tests/forecast.rs`).
const ALONE: f64 = 0.8;

/// A stretch is not longer than this, in instructions as functions are, for clang's time. One that is less than a function shows less.
const LONGEST: u32 = 8_000;

/// The place of a stretch within its share of the program advances by this, so that no period of the program agrees with it.
const ADVANCE: f64 = 0.618_034;

/// Excerpts of a program.
#[derive(Debug)]
pub struct Sample {
    /// What all excerpts have in common, without a piece of the program.
    pub base: Program,
    /// The excerpts. Any number of the first ones, two at least, shows something.
    pub excerpts: Vec<Excerpt>,
    /// What they are excerpts of.
    pub of: Body,
    /// The size of all pieces, in the measure of [`Excerpt::size`].
    size: u64,
}

impl Sample {
    /// Of a program as the passes leave it for functions of about `part` instructions each. `None` if it is too short for that, or
    /// if its pieces depend on each other: stretches would not take what they take in the program.
    pub fn of(program: &Program, part: u32) -> Option<Sample> {
        if program.copies || program.stacks.values().any(|stack| stack.rolled) {
            return None;
        }
        // In the measure of pieces a program is half as long; see `super::LENGTH`.
        let length = u64::from(part.min(LONGEST)) / super::LENGTH;
        let pieces = Pieces::of(program, length / 2)?;
        let size = pieces.size();
        let share = size / SHARES.len() as u64;
        if share < 2 * length {
            return None;
        }
        let near = u64::from(part) / super::LENGTH;
        let excerpts = SHARES.map(|i| {
            let within = (i + 1) as f64 * ADVANCE;
            let free = (share - length) as f64;
            let from = i * share + (within.fract() * free) as u64;
            pieces.excerpt(from..from + length, near)
        });
        Some(Sample {
            base: pieces.excerpt(0..0, near).program,
            excerpts: excerpts.into(),
            of: pieces.of,
            size,
        })
    }

    /// Instructions of the body at the least, if the base takes this, and each of the first excerpts that.
    pub fn least(&self, base: u64, excerpts: &[u64]) -> u64 {
        let by_size: Vec<f64> = self
            .excerpts
            .iter()
            .zip(excerpts)
            .map(|(excerpt, &takes)| {
                let own = takes.saturating_sub(base + excerpt.added);
                own as f64 / excerpt.size.max(1) as f64
            })
            .collect();
        (below_mean(&by_size) * ALONE * self.size as f64) as u64
    }
}

/// What the mean of a population is not below, by a sample of it.
fn below_mean(values: &[f64]) -> f64 {
    let errors = values.len().checked_sub(2).and_then(|n| ERRORS.get(n));
    let Some(errors) = errors else {
        return 0.0;
    };
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let error = (squares / (count - 1.0) / count).sqrt();
    (mean - errors * error).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_is_certain_to_be_less() {
        assert_eq!(below_mean(&[5.0; 6]), 5.0);
        let varies = below_mean(&[4.0, 6.0, 4.0, 6.0, 4.0, 6.0]);
        assert!(3.0 < varies && varies < 4.0, "{varies}");
        assert_eq!(below_mean(&[1.0, 30.0, 1.0, 1.0, 1.0, 1.0]), 0.0);
        assert_eq!(below_mean(&[7.0]), 0.0);
    }

    #[test]
    fn few_have_to_agree_more() {
        let most = |count: usize| below_mean(&[5.0, 5.01].repeat(3)[..count]);
        assert!(most(2) < 4.8 && most(4) > 4.98 && most(6) > most(4));
    }
}
