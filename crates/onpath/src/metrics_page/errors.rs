//! Why the page is not served. Codes E0961 and E0962.

use diag::{Code, Diagnostic, Span};
use std::io;
use std::net::SocketAddr;

fn error(code: &'static str, what: impl Into<String>, help: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::error(Code(code), Span::NONE, what)
        .help(help)
        .into()
}

/// The address for `--prometheus` cannot be read.
pub(super) fn address(text: &str) -> Box<Diagnostic> {
    let port = text.trim_start_matches(':');
    let port = if port.parse::<u16>().is_ok() {
        port
    } else {
        "9464"
    };
    error(
        "E0961",
        format!("expected ADDR:PORT, found `{text}`"),
        format!(
            "write 127.0.0.1:{port} or [::1]:{port} for this machine alone, [::]:{port} for all that can reach it"
        ),
    )
}

/// The address for `--prometheus` cannot be listened at.
pub(super) fn not_served(address: SocketAddr, error_: &io::Error) -> Box<Diagnostic> {
    let help = match error_.kind() {
        io::ErrorKind::AddrInUse => {
            format!(
                "take another port, or see who has it: `ss -tlnp 'sport = :{}'`",
                address.port()
            )
        }
        io::ErrorKind::AddrNotAvailable => {
            "`ip addr` lists the addresses of this network namespace".into()
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 take CAP_NET_BIND_SERVICE; take a higher one".into()
        }
        _ => "try another address".into(),
    };
    let what = diag::system_message(error_);
    error(
        "E0962",
        format!("cannot serve at {address}: {what}; nothing was changed"),
        help,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_answered_with_addresses() {
        let help = |text| address(text).help.unwrap_or_default();
        assert!(help("9100").contains("127.0.0.1:9100"), "{}", help("9100"));
        assert!(help(":9100").contains("[::]:9100"));
        assert!(help("localhost").contains("127.0.0.1:9464"));
    }
}
