//! Values as people write them: parsing and formatting.
//!
//! A value is `80`, `0x1f`, `0b101`, `0o17` (underscores allowed), `10.0.0.1`, an IPv6 or a MAC address,
//! `true`/`false`, or a member of the enum or error type. A match can also be `value/prefix`, `value &&& mask`,
//! `low..high` (or `low->high`), a number with wildcards for digits (`0x12**`, `0b1*`), and `*` or `_` for anything.

mod parse;
mod show;
#[cfg(test)]
mod tests;

pub use parse::{parse_match, parse_value};
pub use show::{has_form, show_match, show_scalar, show_value};

/// Error in a value, with advice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueError {
    /// Description of the fault.
    pub message: String,
    /// Advice on a correct value.
    pub help: String,
}
