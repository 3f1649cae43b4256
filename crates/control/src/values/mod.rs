//! Values written the way people write them, and back.
//!
//! A value is `80`, `0x1f`, `0b101`, `0o17` (underscores allowed), `10.0.0.1`, an IPv6 or a MAC
//! address, `true`/`false`, or a member of the enum or error type. A match adds `value/prefix`,
//! `value &&& mask`, `low..high` (or `low->high`), wildcards for digits (`0x12**`, `0b1*`), and `*` or
//! `_` for anything.

mod parse;
mod show;
#[cfg(test)]
mod tests;

pub use parse::{parse_match, parse_value};
pub use show::{has_form, show_match, show_scalar, show_value};

/// What is wrong with a value, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}
