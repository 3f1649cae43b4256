//! Network interfaces, namespaces, and programs on them.

use crate::attach::Refused;
use crate::interface::LinkType;
use diag::{Code, Diagnostic, Span, system_message};
use std::io;

/// There is no such interface.
pub fn no_interface(name: &str, present: &[String]) -> Box<Diagnostic> {
    let near = if present.is_empty() {
        String::from("`ip link` lists what there is")
    } else {
        format!("this network namespace has {}", present.join(", "))
    };
    Diagnostic::error(
        Code("E0780"),
        Span::NONE,
        format!("no network interface `{name}`"),
    )
    .help(near)
    .into()
}

/// The interface has an XDP program already.
pub fn occupied(name: &str, prog_id: u32, ours: Option<&str>) -> Box<Diagnostic> {
    let help = match ours {
        Some(instance) => format!("detach it with `onpath unload {instance}`"),
        None => format!(
            "another program put it there: `ip link set dev {name} xdp off` detaches it unless a link holds it; \
             `bpftool net` shows which"
        ),
    };
    Diagnostic::error(
        Code("E0781"),
        Span::NONE,
        format!(
            "interface `{name}` has an XDP program already (id {prog_id}); nothing was changed"
        ),
    )
    .help(help)
    .into()
}

/// A bridge, a bond or the like to which the interface belongs has an XDP program; its name, if it is known.
pub fn upper_occupied(name: &str, upper: Option<&str>) -> Box<Diagnostic> {
    let (which, there) = match upper {
        Some(upper) => (
            format!("interface `{upper}`, to which `{name}` belongs,"),
            format!("at `{upper}`"),
        ),
        None => (
            format!("an interface to which `{name}` belongs"),
            "there".to_string(),
        ),
    };
    Diagnostic::error(
        Code("E0781"),
        Span::NONE,
        format!("{which} has an XDP program already; nothing was changed"),
    )
    .help(format!(
        "the kernel runs XDP at one of the two: run the program {there}, or end what runs there (`onpath ls`, `bpftool net`)"
    ))
    .into()
}

/// The kernel did not attach the program, natively or otherwise.
pub fn not_attached(name: &str, native: &Refused, generic: &Refused) -> Box<Diagnostic> {
    let remedy = native.remedy.as_deref().or(generic.remedy.as_deref());
    Diagnostic::error(
        Code("E0782"),
        Span::NONE,
        format!(
            "the program could not be attached to `{name}`: native XDP: {}; generic XDP: {}",
            native.reason, generic.reason
        ),
    )
    .help(remedy.unwrap_or(
        "the interface may be of a kind that has no XDP; programs of tc_model run at most kinds",
    ))
    .into()
}

/// An instance of this name is loaded already.
pub fn instance_exists(name: &str) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0783"),
        Span::NONE,
        format!("a program is loaded as `{name}` already"),
    )
    .help(format!(
        "detach it with `onpath unload {name}`, or give this one another name"
    ))
    .into()
}

/// There is no instance of this name. `hidden`: there may be one that cannot be seen from here.
pub fn no_instance(name: &str, present: &[String], hidden: bool) -> Box<Diagnostic> {
    let help = if present.is_empty() {
        match hidden {
            true => HIDDEN.to_owned(),
            false => format!("none is loaded; {LOADS_ONE}"),
        }
    } else {
        format!("loaded programs: {}", present.join(", "))
    };
    Diagnostic::error(
        Code("E0784"),
        Span::NONE,
        format!("no program is loaded as `{name}`"),
    )
    .help(help)
    .into()
}

/// No instance is loaded at all, and a command needs one.
pub fn none_loaded(hidden: bool) -> Box<Diagnostic> {
    Diagnostic::error(Code("E0784"), Span::NONE, "no program is loaded")
        .help(if hidden { HIDDEN } else { LOADS_ONE })
        .into()
}

const LOADS_ONE: &str = "`onpath run PROG.p4 --dev IF --detach` loads one and leaves it running";

/// What to do where the machine's programs cannot be seen.
pub const HIDDEN: &str = "programs loaded elsewhere are not visible from this mount namespace (`ip netns exec` creates one \
                          for each command); use `nsenter --net=/run/netns/NAME onpath ...`";

/// What is pinned would end with this process.
pub fn does_not_stay() -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0779"),
        Span::NONE,
        "a detached program would end at once, together with this mount namespace; nothing was changed",
    )
    .help(
        "`ip netns exec` creates a mount namespace for each command; `nsenter --net=/run/netns/NAME onpath ...` does not",
    )
    .into()
}

/// More than one instance is loaded and none was named.
pub fn which_instance(present: &[String]) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0785"),
        Span::NONE,
        "several programs are loaded; specify one",
    )
    .help(format!("add `--name` and one of: {}", present.join(", ")))
    .into()
}

/// A name that cannot be a folder's name.
pub fn bad_instance_name(name: &str) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0786"),
        Span::NONE,
        format!("`{name}` cannot name an instance"),
    )
    .help("use letters, digits, `-` and `_`, up to 64 of them")
    .into()
}

/// A port for which the program's port map has no room.
pub fn bad_port(port: u32, ports: u32) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0787"),
        Span::NONE,
        format!("there is no room for port {port}: the program has {ports} ports at most"),
    )
    .help(format!("give it {ports} interfaces or fewer"))
    .into()
}

/// A port number that the program's architecture has no room for.
pub fn no_such_port(port: u32, below: u32) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0787"),
        Span::NONE,
        format!("port {port} is none that the program can name"),
    )
    .help(format!(
        "v1model numbers ports with 9 bits, and {below} drops: use port numbers below {below}"
    ))
    .into()
}

/// A network namespace or a device for a test could not be made.
pub fn no_test_network(what: &str, error: &io::Error) -> Box<Diagnostic> {
    let why = system_message(error);
    Diagnostic::error(Code("E0788"), Span::NONE, format!("the test network could not be made: {what}: {why}"))
        .help("it needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN); `--fast` needs no network, `--target interp` no rights")
    .into()
}

/// The kernel did not attach the program to traffic control, by tcx (if that was tried) or by a filter.
pub fn tc_not_attached(name: &str, tcx: Option<&Refused>, filter: &Refused) -> Box<Diagnostic> {
    let tried = tcx.map_or_else(String::new, |refused| format!("tcx: {}; ", refused.reason));
    let remedy = filter
        .remedy
        .as_deref()
        .or(tcx.and_then(|refused| refused.remedy.as_deref()));
    Diagnostic::error(
        Code("E0793"),
        Span::NONE,
        format!(
            "the program could not be attached to `{name}`: {tried}clsact: {}",
            filter.reason
        ),
    )
    .help(remedy.unwrap_or(
        "tcx takes Linux 6.6, filters CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS; `onpath doctor` reports what this \
         kernel has",
    ))
    .into()
}

/// The interface was there, and is not any more.
pub fn interface_gone(name: &str) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0794"),
        Span::NONE,
        format!("interface `{name}` went away meanwhile; nothing was changed"),
    )
    .help("`ip link` lists what there is")
    .into()
}

/// Packets of the interface have no Ethernet header, which tc programs take for granted.
pub fn no_ethernet(name: &str, link_type: LinkType) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0800"),
        Span::NONE,
        format!(
            "packets of interface `{name}` have no Ethernet header (link type {}), and tc programs begin with one; \
             nothing was changed",
            link_type.0
        ),
    )
    .help(format!(
        "`ip link show dev {name}` shows its kind; Ethernet, Wi-Fi, tap, gretap and vxlan interfaces have \
         Ethernet headers, tun, ipip, gre and wireguard ones have none"
    ))
    .into()
}

/// Settings of an interface could not be read, changed or restored.
pub fn link_settings(name: &str, error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0795"),
        Span::NONE,
        format!(
            "the settings of interface `{name}` could not be changed: {}",
            system_message(error)
        ),
    )
    .help("it takes CAP_NET_ADMIN; `ip -details link show` shows them")
    .into()
}

/// Settings of an interface that a program had changed could not be restored after it was detached.
pub fn link_settings_left(name: &str, error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0795"),
        Span::NONE,
        format!(
            "the program was detached, but the settings of interface `{name}` could not be restored: {}",
            system_message(error)
        ),
    )
    .help("it takes CAP_NET_ADMIN; the next `onpath` command that may do so, such as `onpath ls` as root, restores them")
    .into()
}

/// The several attachments of an instance could not be made one.
pub fn not_one(error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0796"),
        Span::NONE,
        format!(
            "a BPF file system for the program's pins could not be mounted: {}",
            system_message(error)
        ),
    )
    .help(
        "it takes CAP_SYS_ADMIN, no security policy against mounts, and fewer of them than `sysctl fs.mount-max` allows; one program at one interface needs none",
    )
    .into()
}

/// Another command of ours does not end.
pub fn busy() -> Box<Diagnostic> {
    Diagnostic::error(
        BUSY,
        Span::NONE,
        "another onpath command is loading or removing programs, and does not end",
    )
    .help("look for it with `pgrep -a onpath`")
    .into()
}

const BUSY: Code = Code("E0797");

/// Whether a diagnostic is [`busy`].
pub fn is_busy(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == BUSY
}

/// Filters of a command that was killed could not be removed.
pub fn filters_left(error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0798"),
        Span::NONE,
        format!(
            "filters that a killed command left behind could not be removed: {}",
            system_message(error)
        ),
    )
    .help("they let packets pass; removing them takes CAP_NET_ADMIN and CAP_SYS_ADMIN")
    .into()
}

/// An instance of several programs, and none of them or an unknown one was named.
pub fn which_member(instance: &str, named: Option<&str>, members: &[&str]) -> Box<Diagnostic> {
    let message = match named {
        Some(name) => format!("`{instance}` has no program `{name}`"),
        None => format!("`{instance}` has several programs; specify one"),
    };
    let whole: Vec<String> = members.iter().map(|m| format!("{instance}/{m}")).collect();
    Diagnostic::error(Code("E0799"), Span::NONE, message)
        .help(format!("add `--name` and one of: {}", whole.join(", ")))
        .into()
}

/// The name belongs to programs that another mount namespace holds.
pub fn elsewhere(name: &str) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E0789"),
        Span::NONE,
        format!("`{name}` was loaded from another mount namespace, such as a container's"),
    )
    .help("unload it there; `onpath unload --all` detaches it from here")
    .into()
}
