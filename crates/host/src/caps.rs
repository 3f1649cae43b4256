//! The capabilities of this process, by name.

use nix::unistd::{Uid, User};

/// Capabilities that Onpath may need, with their numbers in `capability.h`.
const NAMED: [(&str, u32); 6] = [
    ("CAP_NET_ADMIN", 12),
    ("CAP_NET_RAW", 13),
    ("CAP_SYS_ADMIN", 21),
    ("CAP_SYS_RESOURCE", 24),
    ("CAP_PERFMON", 38),
    ("CAP_BPF", 39),
];

/// Capabilities for loading and attaching a program.
pub const RUN: [&str; 3] = ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"];

/// Capabilities for capturing packets.
pub const CAPTURE: [&str; 1] = ["CAP_NET_RAW"];

/// Returns the effective capabilities of this process, among those that Onpath may need.
pub fn effective() -> Vec<&'static str> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    held(&status)
}

/// Returns those of `needed` that this process lacks. `CAP_SYS_ADMIN` includes `CAP_BPF` and `CAP_PERFMON`.
pub fn missing(needed: &[&'static str]) -> Vec<&'static str> {
    let have = effective();
    let stands_in = have.contains(&"CAP_SYS_ADMIN");
    needed
        .iter()
        .copied()
        .filter(|cap| !have.contains(cap))
        .filter(|cap| !(stands_in && matches!(*cap, "CAP_BPF" | "CAP_PERFMON")))
        .collect()
}

/// Returns the name of the user of this process; under `sudo`, of the user who called it.
pub fn user() -> Option<String> {
    let by_sudo = std::env::var("SUDO_USER")
        .ok()
        .filter(|user| !user.is_empty());
    by_sudo.or_else(|| Some(User::from_uid(Uid::current()).ok()??.name))
}

/// Returns true if this process is in a user namespace of its own. Its capabilities are not those of the machine then.
pub fn in_user_namespace() -> bool {
    // `user_namespaces(7)`: where no namespace was made, all users are mapped to themselves.
    std::fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| !maps_all(&map))
}

fn maps_all(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn held(status: &str) -> Vec<&'static str> {
    let mask = status
        .lines()
        .find_map(|l| l.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0);
    NAMED
        .iter()
        .filter(|(_, bit)| mask >> bit & 1 == 1)
        .map(|(name, _)| *name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_user_namespace_maps_all_users_to_themselves() {
        assert!(maps_all("         0          0 4294967295\n"));
        assert!(!maps_all("         0       1000          1\n"));
    }

    #[test]
    fn the_mask_of_the_status_file_is_read_by_bit() {
        assert_eq!(
            held("Name:\tx\nCapEff:\t0000008000001000\n"),
            ["CAP_NET_ADMIN", "CAP_BPF"]
        );
        assert!(held("nothing").is_empty());
    }
}
