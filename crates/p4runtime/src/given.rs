//! The parts of an id: the prefix, and the number as `@id` gives it.

/// Kind of object that an id denotes: the upper 8 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Prefix {
    Action = 0x01,
    Table = 0x02,
    ValueSet = 0x03,
    ActionProfile = 0x11,
    Counter = 0x12,
    DirectCounter = 0x13,
    Meter = 0x14,
    DirectMeter = 0x15,
    Register = 0x16,
    Digest = 0x17,
    /// First of the prefixes that are free for vendors' own externs.
    FlowState = 0x81,
}

impl Prefix {
    /// Returns the prefix for objects of an extern; `None` if they are unknown to the control plane.
    pub fn of_extern(name: &str) -> Option<Prefix> {
        Some(match name {
            "counter" | "CounterArray" => Prefix::Counter,
            "direct_counter" => Prefix::DirectCounter,
            "meter" => Prefix::Meter,
            "direct_meter" => Prefix::DirectMeter,
            "register" => Prefix::Register,
            "action_profile" | "action_selector" => Prefix::ActionProfile,
            "flow_state" => Prefix::FlowState,
            _ => return None,
        })
    }

    /// Returns the users' word for objects of the kind, in the plural.
    pub fn plural(self) -> &'static str {
        match self {
            Prefix::Action => "actions",
            Prefix::Table => "tables",
            Prefix::ValueSet => "value sets",
            Prefix::ActionProfile => "action profiles",
            Prefix::Counter => "counters",
            Prefix::DirectCounter => "direct counters",
            Prefix::Meter => "meters",
            Prefix::DirectMeter => "direct meters",
            Prefix::Register => "registers",
            Prefix::Digest => "digests",
            Prefix::FlowState => "flow states",
        }
    }
}

/// Mask of the lower 24 bits, which hold the number.
pub const NUMBER: u32 = 0x00ff_ffff;

/// Returns the id that the values of an `@id` give: a number as P4 writes it, also with a base or a width (`8w5`).
/// `None` unless there is exactly one value and it is a number of 32 bits.
pub fn given(values: &[impl AsRef<str>]) -> Option<u32> {
    match values {
        [text] => number(text.as_ref()),
        _ => None,
    }
}

/// Parses an unsigned number of 32 bits at most.
fn number(text: &str) -> Option<u32> {
    let (width, digits) = match text.split_once('w') {
        Some((width, digits)) => (width.parse::<u32>().ok()?, digits),
        None => (u32::BITS, text),
    };
    let (base, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0d" | "0D") => (10, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, digits),
    };
    let digits = digits.replace('_', "");
    if !digits.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
        return None;
    }
    let value = u32::from_str_radix(&digits, base).ok()?;
    let fits = width >= u32::BITS || value >> width == 0;
    fits.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_any_of_p4s_forms() {
        let read = |text: &str| number(text);
        for text in [
            "5", "0x5", "0X0_5", "0d5", "0o5", "0b101", "8w5", "8w0x05", "3w5",
        ] {
            assert_eq!(read(text), Some(5), "{text}");
        }
        assert_eq!(read("0xffffffff"), Some(u32::MAX));
        assert_eq!(read("40w5"), Some(5));
        for text in [
            "",
            "x",
            "-5",
            "+5",
            "2w5",
            "8s5",
            "0x",
            "4294967296",
            "5.",
            "w5",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
