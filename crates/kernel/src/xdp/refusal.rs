//! Why a driver does not run an XDP program, in its own words where it has any, and which setting would change that.

use crate::attach::Refused;
use nix::unistd::{SysconfVar, sysconf};
use std::io;

/// What of an interface keeps its driver from running XDP programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    /// Its packets are too large.
    Mtu,
    /// The host of a virtual machine merges packets, and the machine cannot tell it not to.
    HostOffloads,
    /// The device merges packets.
    Offloads,
    /// It has too few queues, or too many.
    Queues,
}

impl Cause {
    /// The cause that a driver's words name.
    fn of(words: &str) -> Option<Cause> {
        let lower = words.to_ascii_lowercase();
        let mut parts = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let has = |of: &[&str]| parts.clone().any(|word| of.contains(&word));
        if has(&["mtu"]) {
            return Some(Cause::Mtu);
        }
        if has(&["gro_hw", "lro", "hw_gro"]) {
            // virtio_net's words.
            let is_hosts = lower.contains("host is implementing");
            return Some(match is_hosts {
                true => Cause::HostOffloads,
                false => Cause::Offloads,
            });
        }
        let is_queue = |word: &str| {
            ["queue", "ring", "channel"].contains(&word.strip_suffix('s').unwrap_or(word))
        };
        parts.any(is_queue).then_some(Cause::Queues)
    }

    /// Which setting of the interface of this name changes that.
    fn remedy(self, name: &str) -> String {
        match self {
            Cause::Mtu => {
                let limit = mtu_limit();
                format!(
                    "native XDP needs each packet to fit into one memory page; veth and virtio_net limit the MTU to \
                     {limit} for that, at both ends of a veth pair: `ip link set dev {name} mtu {limit}`"
                )
            }
            Cause::HostOffloads => "the host of this virtual machine has to change the device: `ctrl_guest_offloads=on` \
                                    of QEMU's virtio-net lets the driver turn this off, `guest_csum=off,guest_tso4=off,\
                                    guest_tso6=off,guest_ecn=off,guest_ufo=off` does without"
                .into(),
            Cause::Offloads => format!("`ethtool -K {name} lro off rx-gro-hw off` turns it off"),
            Cause::Queues => format!(
                "`ethtool -l {name}` shows its queues, and `ethtool -L` changes them: most drivers want one more to send \
                 with for each processor, veth as many to receive with as the other end has to send (`ethtool -L` \
                 there, `tx 1`)"
            ),
        }
    }
}

/// Explains an error from the driver of the interface `name`, which has this MTU in bytes.
pub(super) fn explain(
    error: &io::Error,
    words: Option<String>,
    name: &str,
    mtu: Option<u32>,
) -> Refused {
    let errno = error.raw_os_error();
    let named = words.as_deref().and_then(Cause::of);
    let cause = named.or((errno == Some(libc::ERANGE)).then_some(Cause::Mtu));
    let known = match errno {
        Some(libc::ERANGE) => Some("the MTU is too large"),
        Some(libc::EOPNOTSUPP) => Some("its driver has no XDP of this kind"),
        Some(libc::ENOMEM) => Some("the driver has no memory left for it"),
        _ => None,
    };
    let reason = words.or_else(|| known.map(String::from));
    let mut reason = reason.unwrap_or_else(|| diag::system_message(error));
    if let (Some(Cause::Mtu), Some(mtu)) = (cause, mtu) {
        reason += &format!(" (`{name}` has {mtu})");
    }
    Refused {
        reason,
        remedy: cause.map(|cause| cause.remedy(name)),
    }
}

/// The largest MTU at which veth and virtio_net run XDP programs: a page without the headroom, the Ethernet header and
/// the kernel's own data after the packet (`struct skb_shared_info`).
fn mtu_limit() -> usize {
    const HEADROOM: usize = 256;
    const ETHERNET: usize = 14;
    const BEHIND: usize = 320;
    let page = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
    page.and_then(|page| usize::try_from(page).ok())
        .unwrap_or(4096)
        - HEADROOM
        - ETHERNET
        - BEHIND
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(errno: i32, words: Option<&str>) -> Refused {
        let error = io::Error::from_raw_os_error(errno);
        explain(&error, words.map(String::from), "eth0", Some(9000))
    }

    #[test]
    fn an_mtu_is_given_with_what_to_do() {
        let refused = explained(libc::ERANGE, None);
        assert_eq!(refused.reason, "the MTU is too large (`eth0` has 9000)");
        let remedy = refused.remedy.expect("there is one");
        assert!(remedy.contains("`ip link set dev eth0 mtu "), "{remedy}");
        let refused = explained(libc::EINVAL, Some("MTU too large for linear XDP"));
        assert_eq!(
            refused.reason,
            "MTU too large for linear XDP (`eth0` has 9000)"
        );
    }

    #[test]
    fn other_refusals_have_words_and_no_numbers() {
        let reason = |errno, words| explained(errno, words).reason;
        assert_eq!(
            reason(libc::EOPNOTSUPP, None),
            "its driver has no XDP of this kind"
        );
        assert_eq!(reason(libc::EOPNOTSUPP, Some("LRO is on")), "LRO is on");
        assert_eq!(reason(libc::EINVAL, None), "Invalid argument");
    }

    #[test]
    fn what_drivers_say_leads_to_the_setting_to_change() {
        let remedy = |words| {
            let remedy = explained(libc::EOPNOTSUPP, Some(words)).remedy;
            remedy.unwrap_or_default()
        };
        let host = remedy(
            "virtio_net: Can't set XDP while host is implementing GRO_HW/CSUM, disable GRO_HW/CSUM first",
        );
        assert!(host.contains("`ctrl_guest_offloads=on`"), "{host}");
        for words in ["XDP is not supported with LRO on", "HW_GRO is on"] {
            assert!(
                remedy(words).contains("`ethtool -K eth0 lro off"),
                "{words}"
            );
        }
        for words in [
            "veth: XDP expects number of rx queues not less than peer tx queues",
            "virtio_net: Too few free TX rings available",
            "the Rx/Tx channel count should be at most half of the maximum allowed channel count",
        ] {
            assert!(remedy(words).contains("`ethtool -l eth0`"), "{words}");
        }
        let virtio = remedy("virtio_net: MTU too large to enable XDP without frags");
        assert!(virtio.contains("mtu 3506`"), "{virtio}");
        // No ring, no queue: parts of other words.
        assert_eq!(remedy("Underlying driver does not support XDP"), "");
        assert_eq!(remedy("the string is too long"), "");
    }
}
