//! `iptables -m string`: a rule for each name, in a chain that requests of the three protocols take.

use super::place::{Parts, Place};
use crate::error::Error;
use crate::firewall::network::INSIDE_DEVICE;
use std::fmt::Write;

/// Fills the chain in one transaction.
pub(super) fn start(place: &Place) -> Result<Parts, Error> {
    let mut rules = format!(
        "*filter\n:names - [0:0]\n\
         -A FORWARD -i {INSIDE_DEVICE} -p tcp -m multiport --dports 80,443 -j names\n\
         -A FORWARD -i {INSIDE_DEVICE} -p udp --dport 53 -j names\n"
    );
    for name in place.names {
        // Writing to a string does not fail. A name has the same bytes in TLS and HTTP; in DNS its labels follow lengths.
        let _ = writeln!(
            rules,
            "-A names -m string --algo bm --string {name} -j DROP"
        );
    }
    rules.push_str("COMMIT\n");
    let file = place.write("rules", &rules)?;
    place.output(&["sh", "-c", &format!("iptables-restore < {file}")])?;
    Ok(Parts::default())
}
