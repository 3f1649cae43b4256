//! Suricata inline: packets go to its queue, and a dataset has the names, exactly.

use super::place::{Parts, Place};
use crate::error::Error;
use crate::firewall::messages::Kind;

const CONFIGURATION: &str = "/etc/suricata/suricata.yaml";

pub(super) fn start(place: &Place) -> Result<Parts, Error> {
    let encoded: Vec<String> = place.names.iter().map(|name| base64(name)).collect();
    let list = place.write("names.lst", &(encoded.join("\n") + "\n"))?;
    let sizes = format!("memcap 1gb, hashsize {}", place.names.len().max(1024) * 2);
    let rule = |number: usize, (protocol, buffer): (&str, &str)| {
        format!(
            "drop {protocol} any any -> any any (msg:\"name\"; {buffer}; dataset:isset,names,type string,load {list},{sizes}; sid:{};)\n",
            number + 1,
            sizes = sizes.replace(", ", ","),
        )
    };
    let buffers = [
        ("tls", "tls.sni"),
        ("http", "http.host"),
        ("dns", "dns.query"),
    ];
    let rules: String = buffers
        .into_iter()
        .enumerate()
        .map(|(number, buffer)| rule(number, buffer))
        .collect();
    let rules = place.write("names.rules", &rules)?;
    let ports = [Kind::Tls, Kind::Http].map(|kind| kind.port().to_string());
    place.output(&[
        "iptables",
        "-A",
        "FORWARD",
        "-p",
        "tcp",
        "-m",
        "multiport",
        "--ports",
        &ports.join(","),
        "-j",
        "NFQUEUE",
        "--queue-num",
        "0",
    ])?;
    place.output(&[
        "iptables",
        "-A",
        "FORWARD",
        "-p",
        "udp",
        "--dport",
        "53",
        "-j",
        "NFQUEUE",
        "--queue-num",
        "0",
    ])?;
    let mut process = place.start(&[
        "suricata",
        "-c",
        CONFIGURATION,
        "-S",
        &rules,
        "-l",
        &place.folder.display().to_string(),
        "-q",
        "0",
        "--set",
        "outputs=[]",
        "--set",
        "unix-command.enabled=no",
    ])?;
    process.wait(|text| text.contains("Engine started"))?;
    Ok(Parts {
        process: Some(process),
        ..Parts::default()
    })
}

/// Encodes a text, as datasets of strings have it.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for bytes in text.as_bytes().chunks(3) {
        let at = |n: usize| u32::from(bytes.get(n).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            encoded.push(match digit <= bytes.len() {
                true => char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize]),
                false => '=',
            });
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded() {
        assert_eq!(base64("a.example"), "YS5leGFtcGxl");
        assert_eq!(base64("ab"), "YWI=");
        assert_eq!(base64("a"), "YQ==");
    }
}
