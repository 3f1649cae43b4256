//! Diagnostics about missing network interfaces and namespaces, and packets that cannot be captured.

pub mod capture;

use diag::{Diagnostic, system_message};
use std::io;
use std::path::Path;

/// Interface that does not exist here. `elsewhere` has the named network namespaces that have one of its name.
pub fn no_interface(name: &str, present: &[String], elsewhere: &[String]) -> Box<Diagnostic> {
    let near = match (elsewhere, present) {
        ([one], _) => format!("the network namespace `{one}` has it: add `--netns {one}`"),
        ([first, ..], _) => format!(
            "these network namespaces have one: {}; `--netns {first}` chooses the first",
            elsewhere.join(", ")
        ),
        ([], []) => String::from("`ip link` lists what there is"),
        ([], present) => format!("this network namespace has {}", present.join(", ")),
    };
    Diagnostic::failure("E0780", format!("no network interface `{name}`"), near)
}

/// The command cannot enter a network namespace. `present` has the names that exist.
pub fn not_entered(name: &Path, present: &[String], error: &io::Error) -> Box<Diagnostic> {
    let name = diag::shown(&name.to_string_lossy()).into_owned();
    let help = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "it needs CAP_SYS_ADMIN: run the command as root".to_owned()
        }
        _ if present.is_empty() => {
            "no namespace has a name for `ip netns`; give a path, such as /proc/PID/ns/net"
                .to_owned()
        }
        _ => format!(
            "`ip netns` has {}; or give a path, such as /proc/PID/ns/net",
            present.join(", ")
        ),
    };
    Diagnostic::failure(
        "E0711",
        format!(
            "the network namespace `{name}` cannot be entered: {}",
            system_message(error)
        ),
        help,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_is_named_beside_what_there_is_not() {
        let refused = no_interface("eth7", &["lo".into(), "eth0".into()], &[]);
        assert_eq!(refused.message, "no network interface `eth7`");
        let help = refused.help.expect("it has help");
        assert_eq!(help, "this network namespace has lo, eth0");
    }

    #[test]
    fn namespaces_that_have_an_interface_are_named() {
        let help = |elsewhere: &[&str]| {
            let elsewhere: Vec<String> = elsewhere.iter().map(|ns| ns.to_string()).collect();
            let refused = no_interface("eth7", &["lo".into()], &elsewhere);
            refused.help.expect("it has help")
        };
        let one = "the network namespace `blue` has it: add `--netns blue`";
        assert_eq!(help(&["blue"]), one);
        let two = "these network namespaces have one: blue, red; `--netns blue` chooses the first";
        assert_eq!(help(&["blue", "red"]), two);
    }
}
