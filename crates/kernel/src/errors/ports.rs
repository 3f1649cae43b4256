//! Ports of running programs that cannot be changed as asked.

use crate::attachment::Refused;
use control::StoreError;
use diag::Diagnostic;
use std::path::Path;

/// The port has an interface.
pub fn taken(port: u32, interface: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0776",
        format!("port {port} is `{interface}` already; nothing was changed"),
        format!(
            "`onpath port replace {port} IF` gives it another interface; or use another number"
        ),
    )
}

/// The interface has a port.
pub fn has_port(interface: &str, port: u32) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0776",
        format!("`{interface}` is port {port} already; nothing was changed"),
        format!("remove it first with `onpath port remove {port}`"),
    )
}

/// Port that the program does not have.
pub fn no_port(port: u32, known: &[u32]) -> Box<Diagnostic> {
    let mut known = known.to_vec();
    known.sort_unstable();
    let known: Vec<String> = known.iter().map(u32::to_string).collect();
    Diagnostic::failure(
        "E0777",
        format!("there is no port {port}; nothing was changed"),
        format!("there are: {}", known.join(", ")),
    )
}

/// Removal of the last interface at which the program runs.
pub fn last_port(port: u32, interface: &str, instance: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0778",
        format!(
            "port {port} (`{interface}`) is the only interface at which the program runs; nothing was changed"
        ),
        format!(
            "give it another interface with `onpath port replace {port} IF`, add another port first, or end the program with \
             `onpath unload {instance}`"
        ),
    )
}

/// User of a port: a multicast group or clone session that sends copies of packets to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum User {
    Group(u16),
    Session(u32),
}

/// A multicast group or a clone session uses the port.
pub(crate) fn in_use(port: u32, user: User) -> Box<Diagnostic> {
    let (title, short, command, number) = match user {
        User::Group(group) => ("multicast group", "group", "group", u32::from(group)),
        User::Session(session) => ("clone session", "session", "mirror", session),
    };
    Diagnostic::failure(
        "E0778",
        format!("{title} {number} has port {port}; nothing was changed"),
        format!(
            "give the {short} other ports with `onpath {command} set {number} PORT,...`, or remove it with `onpath {command} \
             remove {number}`"
        ),
    )
}

/// The interface is in another network namespace than those that the program has.
pub fn elsewhere(interface: &str, other: &str, netns: u64, path: Option<&Path>) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0778",
        format!(
            "the program has `{other}` in another network namespace (number {netns}), where its packets cannot leave by \
             this `{interface}`; nothing was changed"
        ),
        match path {
            Some(path) => format!(
                "add an interface of that namespace: `onpath --netns {} port add ...`",
                path.display()
            ),
            None => "add an interface of that namespace, which has no name and no process in it as far as this process sees"
                .to_string(),
        },
    )
}

/// The program runs by native XDP, and an interface would need generic XDP.
pub fn other_mode(
    instance: &str,
    running: &str,
    other: &str,
    refused: &Refused,
) -> Box<Diagnostic> {
    let Refused { reason, remedy } = refused;
    let again = format!(
        "`onpath unload {instance}` and run it with all its interfaces: then it runs by generic XDP at each"
    );
    Diagnostic::failure(
        "E0778",
        format!(
            "`{instance}` runs by native XDP at `{running}`, from where its packets would not reach `{other}` ({reason}); \
             nothing was changed"
        ),
        match remedy {
            Some(remedy) => format!("{remedy}; or {again}"),
            None => again,
        },
    )
}

/// The instance ends with the command that started it, or has changed settings of its interfaces.
pub fn bound(instance: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0778",
        format!(
            "`{instance}` has changed settings of its interfaces, or ends with the command that started it (`onpath pdm`, \
             `onpath query`, `onpath run --adjust`): its ports cannot change while it runs"
        ),
        "unload it, and start it anew with the ports that it is to have".to_string(),
    )
}

/// The program's maps could not be changed.
pub fn not_changed(port: u32, error: &StoreError) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0766",
        format!("port {port} could not be changed: {error}"),
        "run it as the user who loaded the program, usually root".to_string(),
    )
}
