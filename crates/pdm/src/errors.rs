//! Diagnostics of `onpath pdm`, one function each.

use crate::filter::FilterError;
use diag::{Code, Diagnostic};
use std::path::Path;

/// A filter that cannot be parsed.
pub fn filter(wrong: FilterError) -> Box<Diagnostic> {
    Diagnostic::failure("E0960", wrong.what, wrong.help)
}

/// An interface without IPv6.
pub fn no_ipv6(interface: &str) -> Box<Diagnostic> {
    // A dot in the name would be taken for a separator.
    let between = if interface.contains('.') { "/" } else { "." };
    let setting = ["net", "ipv6", "conf", interface, "disable_ipv6"].join(between);
    Diagnostic::failure(
        "E0963",
        format!("IPv6 is disabled on `{interface}`, but the option is an IPv6 option"),
        format!("`sysctl {setting}=0` turns it on, unless the kernel was started without it"),
    )
}

/// An MTU that has no room for the option in a packet of the least size that IPv6 guarantees.
pub fn small_mtu(interface: &str, mtu: u32, needed: u32) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0964",
        format!("the MTU of `{interface}` is {mtu}; IPv6 with the option needs at least {needed}"),
        format!(
            "`ip link set dev {interface} mtu 1500` raises it, if the network that it leads to carries such packets"
        ),
    )
}

/// An interface that is already measured.
pub fn measured(interface: &str, instance: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0965",
        format!("`{interface}` is measured already, by `{instance}`; nothing was changed"),
        format!(
            "`onpath pdm --attach {instance}` shows what it measures, `onpath unload {instance}` ends it"
        ),
    )
}

/// A running program that is not a measurement.
pub fn no_measurement(instance: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0966",
        format!("`{instance}` is running, but it is not a measurement that this Onpath knows"),
        "`onpath pdm --dev IF --detach` starts one and leaves it running; `onpath ls` lists what runs",
    )
}

/// Help: measuring on a machine without clang.
const BUILT: &str = "run `onpath build programs/pdm/pdm.toml -o DIR` on a machine with clang, and \
                     `onpath pdm --built DIR` on this one";

/// Programs that cannot be compiled here, with the reason.
pub fn not_compiled(mut why: Box<Diagnostic>) -> Box<Diagnostic> {
    why.help = Some(match why.help {
        Some(help) => format!("{help}; or {BUILT}"),
        None => BUILT.into(),
    });
    why
}

/// A program in the folder of `--built` that cannot be read, with the reason.
pub fn not_read(mut why: Box<Diagnostic>) -> Box<Diagnostic> {
    if why.code == Code("E0930") {
        why.help = Some(BUILT.into());
    }
    why
}

/// A folder of programs that are not those of a measurement.
pub fn other_programs(folder: &Path) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0967",
        format!(
            "the programs in `{}` are not those that this Onpath measures with",
            folder.display()
        ),
        BUILT,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_of_an_interface_with_a_dot_is_one_that_sysctl_finds() {
        let help = |name| no_ipv6(name).help.unwrap_or_default();
        assert!(help("eth0").contains("`sysctl net.ipv6.conf.eth0.disable_ipv6=0`"));
        assert!(help("eth0.7").contains("`sysctl net/ipv6/conf/eth0.7/disable_ipv6=0`"));
    }
}
