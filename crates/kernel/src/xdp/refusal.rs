//! Refusals of XDP programs by drivers: the reason, in the driver's own words where it has any, and the setting that
//! would change it.

use super::driver::Driver;
use crate::attachment::Refused;
use crate::port::Port;
use crate::sys;
use host::linux::kernel_version;
use net::link_settings;
use std::io;

/// Property of an interface that keeps its driver from running XDP programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    /// The interface's packets are too large.
    Mtu,
    /// The host of a virtual machine merges packets, and the machine cannot turn that off.
    HostOffloads,
    /// The device merges packets.
    Offloads,
    /// The interface has too few queues, or too many.
    Queues,
}

impl Cause {
    /// Returns the cause that a driver's words name.
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

    /// Returns advice on the setting that removes the cause, for the interface of this name.
    fn remedy(self, name: &str, driver: Driver) -> String {
        match self {
            Cause::Mtu => {
                let one_page = "native XDP needs each packet to fit into one memory page";
                match (driver, driver.mtu_limit()) {
                    (Driver::Veth, Some(limit)) => format!(
                        "{one_page}; on a veth pair that limits the MTU to {limit} at both ends: `ip link set dev {name} \
                         mtu {limit}`"
                    ),
                    (_, Some(limit)) => format!(
                        "{one_page}; here that limits the MTU to {limit}: `ip link set dev {name} mtu {limit}`"
                    ),
                    (_, None) => format!("{one_page}: `ip link set dev {name} mtu 1500`, or as much as the driver takes"),
                }
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

/// An interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interface<'a> {
    /// Interface's name.
    pub name: &'a str,
    /// Interface's index.
    pub index: u32,
    /// Interface's driver.
    pub driver: Driver,
    /// Interface's MTU in bytes, if it is known.
    pub mtu: Option<u32>,
}

impl<'a> Interface<'a> {
    /// Returns the interface of a port, as it is now.
    pub(super) fn of(port: &'a Port) -> Interface<'a> {
        Interface {
            name: &port.name,
            index: port.index,
            driver: Driver::of(&port.name),
            mtu: link_settings::read(port.index).ok().map(|found| found.mtu),
        }
    }
}

/// Explains an error from an interface's driver.
pub(super) fn explain(error: &io::Error, words: Option<String>, at: Interface<'_>) -> Refused {
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
    let reason = reason.unwrap_or_else(|| diag::system_message(error));
    refused(reason, cause, at)
}

fn refused(mut reason: String, cause: Option<Cause>, at: Interface<'_>) -> Refused {
    let Interface {
        name, driver, mtu, ..
    } = at;
    if let (Some(Cause::Mtu), Some(mtu)) = (cause, mtu) {
        reason += &format!(" (`{name}` has {mtu})");
    }
    Refused {
        reason,
        remedy: cause.map(|cause| cause.remedy(name, driver)),
    }
}

/// Returns the reason why a program must not stay at an interface although its driver takes it. virtio_net accepts
/// MTUs at which some packets no longer reach the program, and drops those packets.
pub(super) fn loses_packets(at: Interface<'_>) -> Option<Refused> {
    let limit = at.driver.mtu_limit()?;
    let loses = at.driver == Driver::VirtioNet && at.mtu? as usize > limit;
    loses.then(|| {
        let reason = format!("it would drop packets of more than {limit} bytes");
        refused(reason, Some(Cause::Mtu), at)
    })
}

/// Returns the reason why an interface takes no packets that native XDP programs redirect to it, unless the kernel
/// reports that it takes them.
pub(super) fn takes_none(at: Interface<'_>) -> Option<Refused> {
    let takes = sys::takes_redirected(at.index).unwrap_or(false);
    (!takes).then(|| takes_none_by(at, kernel_version()))
}

fn takes_none_by(at: Interface<'_>, kernel: (u32, u32)) -> Refused {
    let run_there = || {
        format!(
            "let the program run at `{}` too instead of only sending there",
            at.name
        )
    };
    let (reason, remedy) = match at.driver {
        _ if kernel < (6, 3) => (
            "before Linux 6.3 the kernel does not report whether it takes any",
            run_there(),
        ),
        Driver::Veth => (
            "the other end of the veth pair has neither an XDP program nor GRO",
            format!(
                "attach a program to the other end of `{}` first, or turn on its GRO (`ethtool -K ... gro on`)",
                at.name
            ),
        ),
        Driver::VirtioNet => (
            "virtio_net takes them only where a program runs natively",
            run_there(),
        ),
        Driver::Other => ("its driver takes none, or none as it is now", run_there()),
    };
    Refused {
        reason: reason.to_owned(),
        remedy: Some(remedy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(errno: i32, words: Option<&str>) -> Refused {
        let error = io::Error::from_raw_os_error(errno);
        explain(&error, words.map(String::from), eth0(Driver::Veth, 9000))
    }

    fn eth0(driver: Driver, mtu: u32) -> Interface<'static> {
        Interface {
            name: "eth0",
            index: 0,
            driver,
            mtu: Some(mtu),
        }
    }

    #[test]
    fn virtio_net_is_not_left_where_it_loses_packets() {
        let at = |driver, mtu| loses_packets(eth0(driver, mtu));
        assert_eq!(at(Driver::VirtioNet, 1500), None);
        assert_eq!(at(Driver::VirtioNet, 3486), None);
        assert_eq!(at(Driver::Veth, 3506), None);
        assert_eq!(at(Driver::Other, 9000), None);
        let refused = at(Driver::VirtioNet, 3487).expect("it drops");
        assert_eq!(
            refused.reason,
            "it would drop packets of more than 3486 bytes (`eth0` has 3487)"
        );
        let remedy = refused.remedy.expect("there is one");
        assert!(
            remedy.contains("`ip link set dev eth0 mtu 3486`"),
            "{remedy}"
        );
    }

    #[test]
    fn an_interface_that_takes_no_packets_is_explained_by_its_driver() {
        let by = |driver, kernel| takes_none_by(eth0(driver, 1500), kernel);
        let remedy = |refused: Refused| refused.remedy.expect("there is one");
        for driver in [Driver::Veth, Driver::VirtioNet, Driver::Other] {
            assert!(by(driver, (6, 1)).reason.starts_with("before Linux 6.3 "));
        }
        let veth = by(Driver::Veth, (6, 3));
        assert!(veth.reason.contains("the veth pair"), "{veth:?}");
        assert!(remedy(veth).contains("`ethtool -K ... gro on`"));
        let virtio = by(Driver::VirtioNet, (6, 3));
        assert!(virtio.reason.starts_with("virtio_net "), "{virtio:?}");
        assert!(remedy(virtio).contains("run at `eth0` too"));
        assert!(remedy(by(Driver::Other, (6, 12))).contains("run at `eth0` too"));
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
