//! Running programs that are a measurement.

use crate::reader::is_measurement;
use kernel::Record;
use kernel::pins::Interface;

/// Bundle of a measurement.
pub const BUNDLE: &str = include_str!("../../../programs/pdm/pdm.toml");
/// Name of the bundle in messages, and path by which its programs are found.
pub const BUNDLE_FILE: &str = "<onpath>/pdm/pdm.toml";
/// Name in the bundle of the program that adds the option.
pub const EGRESS: &str = "egress";
/// Name in the bundle of the program that reads the option.
pub const INGRESS: &str = "ingress";

/// Longest name of a running program, in bytes.
const LONGEST: usize = 64;

/// Returns the name of an interface's measurement.
pub fn name(interface: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let name = interface.chars().map(|c| if fits(c) { c } else { '_' });
    "pdm-".chars().chain(name).take(LONGEST).collect()
}

/// Returns the measured interface, if the running programs are a measurement.
pub fn interface(record: &Record) -> Option<&Interface> {
    let (egress, ingress) = (record.member(EGRESS)?, record.member(INGRESS)?);
    let at = egress.interfaces.first()?;
    is_measurement(&egress.schema, &ingress.schema).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_what_a_folder_may_have() {
        assert_eq!(name("eth0"), "pdm-eth0");
        assert_eq!(name("eth0.100"), "pdm-eth0_100");
        assert_eq!(name("wlan/\u{fc}"), "pdm-wlan__");
    }
}
