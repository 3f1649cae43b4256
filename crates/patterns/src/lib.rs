//! Rules for the text of URLs: prefixes, words and regular expressions. Pattern sets (`p4include/payload.p4`) and lists have
//! them.
//!
//! [`Pattern`] is the text form of a rule. [`PatternRules`] is the reference for what every target finds in a [`UrlText`].
//! [`Automata`] are made of rules for programs in the data plane.

mod automaton;
mod image;
mod pattern;
mod rules;
mod text;

pub use image::{BLOCK, Image, MOST_STATES, TooLarge, blocks};
pub use pattern::{Fault, Pattern, Prefix};
pub use rules::{Found, PatternRules};
pub use text::UrlText;

pub use automaton::Automata;

#[cfg(test)]
mod tests;
