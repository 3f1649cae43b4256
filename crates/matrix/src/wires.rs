//! Wires of a guest that tests drivers: each connects two interfaces of the guest, as `scripts/try-drivers` describes.
//! They are in a network namespace of QEMU's own, and end with it.

use std::process::Command;

const SCRIPT: &str = include_str!("wires.sh");

/// Wires, in the order of the numbers in their addresses: the name (see the script), the flags of its taps in QEMU, and
/// the devices at its ends, with their flags.
const WIRES: [(&str, &str, &str); 4] = [
    // Two processors need two queues, and two more for XDP.
    ("many-q", ",queues=4", "virtio-net-pci,mq=on,vectors=10"),
    ("one", "", "virtio-net-pci"),
    ("fixed", "", "virtio-net-pci,ctrl_guest_offloads=off"),
    ("e1000e", "", "e1000e"),
];

/// Names of a wire's ends.
const ENDS: [&str; 2] = ["a", "b"];

/// Returns a command that makes the wires and starts a program in their network namespace, by its name. Arguments
/// follow.
pub(crate) fn start(program: &str) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--net", "sh", "-c", SCRIPT, "wires"])
        .args(WIRES.map(|(name, ..)| name))
        .args(["--", program]);
    command
}

/// Returns QEMU's arguments for the interfaces.
pub(crate) fn arguments() -> Vec<String> {
    let mut all = Vec::new();
    for (number, (name, tap, device)) in (1..).zip(WIRES) {
        for end in ENDS {
            let (id, address) = (
                format!("{name}{end}"),
                format!("02:00:00:00:{number:02x}:0{end}"),
            );
            all.extend([
                "-netdev".to_string(),
                format!("tap,id={id},ifname={id},script=no,downscript=no,vhost=off{tap}"),
                "-device".to_string(),
                format!("{device},netdev={id},mac={address}"),
            ]);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wire_has_an_interface_at_both_ends() {
        let all = arguments();
        assert_eq!(all.len(), WIRES.len() * ENDS.len() * 4);
        assert!(all.contains(&"e1000e,netdev=e1000eb,mac=02:00:00:00:04:0b".to_string()));
        // Names of interfaces have at most 15 bytes.
        assert!(WIRES.iter().all(|(name, ..)| name.len() < 15));
    }

    #[test]
    fn every_wire_is_a_bridge_between_two_taps() {
        for (wire, ..) in WIRES {
            let script = format!("ip -o link show master {wire} up type tun");
            let mut command = start("sh");
            let output = command.args(["-c", &script]).output().expect("runs");
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "needs root: {errors}");
            let lines = String::from_utf8_lossy(&output.stdout).lines().count();
            assert_eq!(lines, ENDS.len(), "{wire}");
        }
    }
}
