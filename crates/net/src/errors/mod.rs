//! Diagnostics about missing network interfaces and namespaces, and packets that cannot be captured.

pub mod capture;

use diag::{Diagnostic, system_message};
use std::io;
use std::path::Path;

/// Interface that does not exist.
pub fn no_interface(name: &str, present: &[String]) -> Box<Diagnostic> {
    let near = if present.is_empty() {
        String::from("`ip link` lists what there is")
    } else {
        format!("this network namespace has {}", present.join(", "))
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
        let refused = no_interface("eth7", &["lo".into(), "eth0".into()]);
        assert_eq!(refused.message, "no network interface `eth7`");
        let help = refused.help.expect("it has help");
        assert_eq!(help, "this network namespace has lo, eth0");
    }
}
