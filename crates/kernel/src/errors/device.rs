//! Network interfaces, namespaces, and programs on them.

use crate::attachment::Refused;
use diag::{Code, Diagnostic, system_message};
use net::interface::LinkType;
use std::io;

/// A program of ours that is at an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occupant {
    /// The instance's name.
    pub instance: String,
    /// The user who started it, if that is another one.
    pub of: Option<String>,
}

/// The interface has an XDP program already.
pub fn occupied(name: &str, prog_id: u32, ours: Option<&Occupant>) -> Box<Diagnostic> {
    const AT_TC: &str = "XDP takes one program at an interface, traffic control many: `--target tc-ingress` runs this one beside it";
    let (whose, else_) = match ours {
        Some(Occupant { instance, of: None }) => (
            format!("`{instance}`"),
            format!("or end that one with `onpath unload {instance}`"),
        ),
        Some(Occupant {
            instance,
            of: Some(user),
        }) => (
            format!("`{instance}`, which {user} runs"),
            format!("or ask {user} to end that one"),
        ),
        None => (
            "not one of Onpath's".to_owned(),
            format!(
                "`bpftool net` shows whose the other one is, and `ip link show dev {name}` how it is attached"
            ),
        ),
    };
    Diagnostic::failure(
        "E0781",
        format!(
            "interface `{name}` has an XDP program already (id {prog_id}), {whose}; nothing was changed"
        ),
        format!("{AT_TC}; {else_}"),
    )
}

const NO_ORDER: &str = "E0986";

/// The program beside which another one is to run at traffic control is not there.
pub fn no_neighbour(instance: &str, interface: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        NO_ORDER,
        format!(
            "`{instance}` has no program by tcx at this side of `{interface}`; nothing was changed"
        ),
        "`onpath ls` shows where programs run; without `--before` and `--after` a program runs after all that are there",
    )
}

/// Traffic control has no order of programs there.
pub fn no_order(interface: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        NO_ORDER,
        format!("`{interface}` has no order of programs at traffic control; nothing was changed"),
        "`--before` and `--after` take tcx links: Linux 6.6, and no `--clsact`",
    )
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
    Diagnostic::failure(
        "E0781",
        format!("{which} has an XDP program already; nothing was changed"),
        format!(
            "the kernel runs XDP at one of the two: run the program {there}, or end what runs there (`onpath ls`, `bpftool net`)"
        ),
    )
}

/// The kernel did not attach the program, natively or otherwise.
pub fn not_attached(name: &str, native: &Refused, generic: &Refused) -> Box<Diagnostic> {
    let remedy = native.remedy.as_deref().or(generic.remedy.as_deref());
    Diagnostic::failure("E0782", format!(
            "the program could not be attached to `{name}`: native XDP: {}; generic XDP: {}",
            native.reason, generic.reason
        ), remedy.unwrap_or(
        "the interface may be of a kind that has no XDP; programs of tc_model run at most kinds",
    ))
}

/// An instance of this name is loaded already.
pub fn instance_exists(name: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0783",
        format!("a program is loaded as `{name}` already"),
        format!("detach it with `onpath unload {name}`, or give this one another name"),
    )
}

/// Difference between a running instance and the one that is to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    what: String,
    /// Value of the running instance, and the one asked for.
    values: Option<[String; 2]>,
}

impl Difference {
    /// Makes a difference without values.
    pub fn new(what: &str) -> Difference {
        Difference {
            what: what.to_owned(),
            values: None,
        }
    }

    /// Makes a difference with the value of the running instance, and the one asked for.
    pub fn with_values(what: &str, runs: &str, wanted: &str) -> Difference {
        Difference {
            what: what.to_owned(),
            values: Some([runs.to_owned(), wanted.to_owned()]),
        }
    }

    fn text(&self) -> String {
        match &self.values {
            None => self.what.clone(),
            Some([runs, wanted]) => format!("{} ({runs}; asked for: {wanted})", self.what),
        }
    }
}

/// An instance of this name runs, and differs from the one that is to run.
pub fn instance_differs(name: &str, differences: &[Difference]) -> Box<Diagnostic> {
    let other: Vec<String> = differences.iter().map(Difference::text).collect();
    let only = |what: &str| differences.iter().all(|d| d.what.starts_with(what));
    let without_end = if only("interfaces") {
        format!("`onpath port` changes the interfaces of what runs (`--name {name}`); or ")
    } else if only("entries") {
        format!("`onpath table load` changes the entries of what runs (`--name {name}`); or ")
    } else {
        String::new()
    };
    Diagnostic::failure(
        "E0783",
        format!(
            "`{name}` runs already, with other {}",
            other.join(", other ")
        ),
        format!(
            "{without_end}end it with `onpath unload {name}` and repeat this, or give this one another name with `--name`"
        ),
    )
}

/// Instance that does not exist. `hidden` is true if one of this name may exist that cannot be seen from here.
pub fn no_instance(name: &str, present: &[String], hidden: bool) -> Box<Diagnostic> {
    let help = if present.is_empty() {
        match hidden {
            true => HIDDEN.to_owned(),
            false => format!("none is loaded; {LOADS_ONE}"),
        }
    } else {
        format!("loaded programs: {}", present.join(", "))
    };
    Diagnostic::failure("E0784", format!("no program is loaded as `{name}`"), help)
}

/// Missing instance: a command needs one, and none is loaded.
pub fn none_loaded(hidden: bool) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0784",
        "no program is loaded",
        if hidden { HIDDEN } else { LOADS_ONE },
    )
}

const LOADS_ONE: &str = "`onpath run PROG.p4 --dev IF --detach` loads one and leaves it running";

/// Help where programs of the machine may be invisible to this process.
pub const HIDDEN: &str = "programs loaded elsewhere are not visible from this mount namespace (`ip netns exec` creates one \
                          for each command); use `onpath --netns NAME ...`";

/// A detached program would end with this process, because its mount namespace does.
pub fn does_not_stay() -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0779",
        "a detached program would end at once, together with this mount namespace; nothing was changed",
        "`ip netns exec` creates a mount namespace for each command; `onpath --netns NAME ...` does not",
    )
}

/// More than one instance is loaded and none was named.
pub fn which_instance(present: &[String]) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0785",
        "several programs are loaded; specify one",
        format!("add `--name` and one of: {}", present.join(", ")),
    )
}

/// A name that cannot be a folder's name.
pub fn bad_instance_name(name: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0786",
        format!("`{name}` cannot name an instance"),
        "use letters, digits, `-` and `_`, up to 64 of them",
    )
}

/// A port for which the program's port map has no room.
pub fn bad_port(port: u32, ports: u32) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0787",
        format!("there is no room for port {port}: the program has {ports} ports at most"),
        format!("give it {ports} interfaces or fewer"),
    )
}

/// A port number that the program's architecture has no room for.
pub fn no_such_port(port: u32, below: u32) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0787",
        format!("port {port} is none that the program can name"),
        format!(
            "v1model numbers ports with 9 bits, and {below} drops: use port numbers below {below}"
        ),
    )
}

/// A network namespace or a device for a test could not be made.
pub fn no_test_network(what: &str, error: &io::Error) -> Box<Diagnostic> {
    let why = system_message(error);
    Diagnostic::failure(
        "E0788",
        format!("the test network could not be made: {what}: {why}"),
        "it needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN); `--fast` needs no network, `--target interp` no rights",
    )
}

/// The kernel did not attach the program to traffic control, by tcx (if that was tried) or by a filter.
pub fn tc_not_attached(name: &str, tcx: Option<&Refused>, filter: &Refused) -> Box<Diagnostic> {
    let tried = tcx.map_or_else(String::new, |refused| format!("tcx: {}; ", refused.reason));
    let remedy = filter
        .remedy
        .as_deref()
        .or(tcx.and_then(|refused| refused.remedy.as_deref()));
    Diagnostic::failure("E0793", format!(
            "the program could not be attached to `{name}`: {tried}clsact: {}",
            filter.reason
        ), remedy.unwrap_or(
        "tcx takes Linux 6.6, filters CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS; `onpath doctor` reports what this \
         kernel has",
    ))
}

/// The interface has gone away since it was found.
pub fn interface_gone(name: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0794",
        format!("interface `{name}` went away meanwhile; nothing was changed"),
        "`ip link` lists what there is",
    )
}

/// Packets of the interface have no Ethernet header, which tc programs take for granted.
pub fn no_ethernet(name: &str, link_type: LinkType) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0800",
        format!(
            "packets of interface `{name}` have no Ethernet header (link type {}), and tc programs begin with one; \
             nothing was changed",
            link_type.0
        ),
        format!(
            "`ip link show dev {name}` shows its kind; Ethernet, Wi-Fi, tap, gretap and vxlan interfaces have \
         Ethernet headers, tun, ipip, gre and wireguard ones have none"
        ),
    )
}

/// Settings of an interface could not be read, changed or restored.
pub fn link_settings(name: &str, error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0795",
        format!(
            "the settings of interface `{name}` could not be changed: {}",
            system_message(error)
        ),
        "it takes CAP_NET_ADMIN; `ip -details link show` shows them",
    )
}

/// Settings of an interface that a program had changed could not be restored after it was detached.
pub fn link_settings_left(name: &str, error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0795",
        format!(
            "the program was detached, but the settings of interface `{name}` could not be restored: {}",
            system_message(error)
        ),
        "it takes CAP_NET_ADMIN; the next `onpath` command that may do so, such as `onpath ls` as root, restores them",
    )
}

/// The several attachments of an instance could not be made one.
pub fn not_one(error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0796",
        format!(
            "a BPF file system for the program's pins could not be mounted: {}",
            system_message(error)
        ),
        "it takes CAP_SYS_ADMIN, no security policy against mounts, and fewer of them than `sysctl fs.mount-max` allows; one program at one interface needs none",
    )
}

/// Another command of ours does not end.
pub fn busy() -> Box<Diagnostic> {
    Diagnostic::failure(
        BUSY,
        "another onpath command is loading or removing programs, and does not end",
        "look for it with `pgrep -a onpath`",
    )
}

const BUSY: &str = "E0797";

/// Returns true if a diagnostic is [`busy`].
pub fn is_busy(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == Code(BUSY)
}

/// Filters of a command that was killed could not be removed.
pub fn filters_left(error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0798",
        format!(
            "filters that a killed command left behind could not be removed: {}",
            system_message(error)
        ),
        "they let packets pass; removing them takes CAP_NET_ADMIN and CAP_SYS_ADMIN",
    )
}

/// An instance has several programs, and none of them or an unknown one was named.
pub fn which_member(instance: &str, named: Option<&str>, members: &[&str]) -> Box<Diagnostic> {
    let message = match named {
        Some(name) => format!("`{instance}` has no program `{name}`"),
        None => format!("`{instance}` has several programs; specify one"),
    };
    let whole: Vec<String> = members.iter().map(|m| format!("{instance}/{m}")).collect();
    Diagnostic::failure(
        "E0799",
        message,
        format!("add `--name` and one of: {}", whole.join(", ")),
    )
}

/// The name belongs to programs that another mount namespace holds.
pub fn elsewhere(name: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0789",
        format!("`{name}` was loaded from another mount namespace, such as a container's"),
        "unload it there; `onpath unload --all` detaches it from here",
    )
}
