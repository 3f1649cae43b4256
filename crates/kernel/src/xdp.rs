//! Attaching a program to an interface by XDP.

use crate::attach::{Attached, Holder, Mode, Refused};
use crate::sys::{Link, Prog, XdpMode, driver_words, xdp_on};
use crate::{Pins, caps, errors, link_settings};
use diag::Diagnostic;
use nix::unistd::{SysconfVar, sysconf};
use std::io;

/// Fails if an interface has an XDP program, naming the one of ours that it is if it is one.
pub(crate) fn check_free(pins: &Pins, name: &str, ifindex: u32) -> Result<(), Box<Diagnostic>> {
    let Ok(Some(seen)) = xdp_on(ifindex) else {
        return Ok(());
    };
    let ours = pins.on_interface(ifindex).map(|record| record.instance);
    Err(errors::device::occupied(
        name,
        seen.prog_id,
        ours.as_deref(),
    ))
}

/// Attaches a program to an interface that has none: natively, or where the driver refuses that, in
/// the network stack. Nothing is changed if it fails.
pub(crate) fn attach(prog: &Prog, name: &str, ifindex: u32) -> Result<Attached, Box<Diagnostic>> {
    check_free(&Pins::default(), name, ifindex)?;
    let native = match Link::attach_xdp(prog, ifindex, XdpMode::Native) {
        Ok(link) => {
            return Ok(Attached {
                holder: Holder::Link(link),
                mode: Mode::Native,
                better_refused: None,
            });
        }
        Err(error) => error,
    };
    if let Some(diagnostic) = not_worth_a_second_try(&native, name, ifindex) {
        return Err(diagnostic);
    }
    // Once it is attached by the other method, the driver has another reason.
    let native = why(prog, ifindex, name, XdpMode::Native, &native);
    match Link::attach_xdp(prog, ifindex, XdpMode::Generic) {
        Ok(link) => Ok(Attached {
            holder: Holder::Link(link),
            mode: Mode::Generic,
            better_refused: Some(native),
        }),
        Err(generic) => Err(
            not_worth_a_second_try(&generic, name, ifindex).unwrap_or_else(|| {
                let generic = why(prog, ifindex, name, XdpMode::Generic, &generic);
                errors::device::not_attached(name, &native, &generic)
            }),
        ),
    }
}

/// Why an interface refuses a program.
fn why(prog: &Prog, ifindex: u32, name: &str, mode: XdpMode, error: &io::Error) -> Refused {
    let mtu = link_settings::read(ifindex)
        .ok()
        .map(|settings| settings.mtu);
    explain(error, driver_words(prog, ifindex, mode), name, mtu)
}

fn explain(error: &io::Error, words: Option<String>, name: &str, mtu: Option<u32>) -> Refused {
    let errno = error.raw_os_error();
    let is_about_mtu = errno == Some(libc::ERANGE)
        || words
            .as_deref()
            .is_some_and(|w| w.to_ascii_lowercase().contains("mtu"));
    if is_about_mtu {
        let mtu = mtu.map_or_else(String::new, |mtu| format!(" (`{name}` has {mtu})"));
        let words = words.unwrap_or_else(|| String::from("the MTU is too large"));
        return Refused {
            reason: format!("{words}{mtu}"),
            remedy: Some(format!(
                "native XDP needs each packet to fit into one memory page; on a veth pair that limits the MTU to {} \
                 at both ends: `ip link set dev {name} mtu {}`",
                veth_limit(),
                veth_limit()
            )),
        };
    }
    let known = match errno {
        Some(libc::EOPNOTSUPP) => Some("its driver has no XDP of this kind"),
        Some(libc::ENOMEM) => Some("the driver has no memory left for it"),
        _ => None,
    };
    let reason = words.or_else(|| known.map(String::from));
    Refused {
        reason: reason.unwrap_or_else(|| diag::system_message(error)),
        remedy: None,
    }
}

/// The largest MTU at which the veth driver runs XDP programs: a page without the headroom, the Ethernet header and the
/// kernel's own data after the packet (`struct skb_shared_info`).
fn veth_limit() -> usize {
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

/// Refusals that have nothing to do with the driver.
fn not_worth_a_second_try(error: &io::Error, name: &str, ifindex: u32) -> Option<Box<Diagnostic>> {
    match error.raw_os_error() {
        Some(libc::EPERM) => Some(errors::load::not_permitted(
            &format!("attach a program to `{name}`"),
            &caps::missing(&caps::RUN),
        )),
        Some(libc::ENODEV) => Some(errors::device::interface_gone(name)),
        Some(libc::EBUSY | libc::EEXIST) => {
            let checked = check_free(&Pins::default(), name, ifindex);
            Some(
                checked
                    .err()
                    .unwrap_or_else(|| errors::device::occupied(name, 0, None)),
            )
        }
        _ => None,
    }
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
}
