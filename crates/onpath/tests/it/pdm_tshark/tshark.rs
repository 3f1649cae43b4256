//! Packets as tshark reports them.

use super::account::Fields;
use std::io::Write;
use std::process::Command;

/// Fields that tshark prints: those of the option in its order, then the states of the packet and of its checksums.
const ASKED: [&str; 10] = [
    "ipv6.opt.pdm.scale_dtlr",
    "ipv6.opt.pdm.scale_dtls",
    "ipv6.opt.pdm.psn_this_pkt",
    "ipv6.opt.pdm.psn_last_recv",
    "ipv6.opt.pdm.delta_last_recv",
    "ipv6.opt.pdm.delta_last_sent",
    "_ws.malformed",
    "tcp.checksum.status",
    "udp.checksum.status",
    "icmpv6.checksum.status",
];

/// Lets tshark read packets. Returns the printed fields of each packet.
pub(crate) fn read<'a>(packets: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<String>> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    // The classic format: Ethernet, at most 64 KiB of a packet.
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 0xffff, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for (number, packet) in packets.enumerate() {
        let length = packet.len() as u32;
        for word in [number as u32, 0, length, length] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(packet);
    }
    file.write_all(&bytes).expect("packets in a file");
    let mut tshark = Command::new("tshark");
    tshark.arg("-n").arg("-r").arg(file.path());
    tshark.args([
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "udp.check_checksum:TRUE",
    ]);
    tshark.args([
        "-o",
        "ipv6.defragment:FALSE",
        "-T",
        "fields",
        "-E",
        "separator=;",
    ]);
    for field in ASKED {
        tshark.args(["-e", field]);
    }
    let output = tshark
        .output()
        .expect("tshark: it is in Debian's package of that name");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.split(';').map(str::to_owned).collect())
        .collect()
}

/// Compares its report on a packet with the expected one. It can check the checksum only of a complete packet.
pub(crate) fn compare(
    line: &[String],
    expected: Option<&Fields>,
    whole: bool,
) -> Result<(), String> {
    let (option, rest) = line.split_at_checked(6).ok_or("too few fields")?;
    let [malformed, sums @ ..] = rest else {
        return Err("too few fields".into());
    };
    if !malformed.is_empty() {
        return Err("malformed".into());
    }
    let good = |sum: &&String| *sum == "1" || *sum == "Good";
    let reported = sums.iter().filter(|sum| !sum.is_empty());
    if whole && (reported.clone().count() != 1 || !reported.clone().all(|sum| good(&sum))) {
        return Err("no right checksum".into());
    }
    match expected {
        None if option.iter().all(String::is_empty) => Ok(()),
        None => Err("an option that should not be there".into()),
        Some(fields) => {
            let found: Result<Vec<u64>, _> = option.iter().map(|field| field.parse()).collect();
            match found {
                Ok(found) if found == fields => Ok(()),
                found => Err(format!("{found:?} instead of {fields:?}")),
            }
        }
    }
}
