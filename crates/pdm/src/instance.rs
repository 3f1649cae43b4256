//! A measurement among all that is running.

use crate::reader::is_measurement;
use kernel::Record;
use kernel::pins::Interface;

/// The bundle that a measurement is.
pub const BUNDLE: &str = include_str!("../../../programs/pdm/pdm.toml");
/// How that is named in messages, and where its programs are looked for.
pub const BUNDLE_FILE: &str = "<onpath>/pdm/pdm.toml";
/// The program that puts the option on, by its name in the bundle.
pub const EGRESS: &str = "egress";
/// The program that reads it.
pub const INGRESS: &str = "ingress";

/// The longest name that a running program may have, in bytes.
const LONGEST: usize = 64;

/// The name of the measurement of an interface.
pub fn name(interface: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let name = interface.chars().map(|c| if fits(c) { c } else { '_' });
    "pdm-".chars().chain(name).take(LONGEST).collect()
}

/// The interface that is measured, if it is a measurement that is running.
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
