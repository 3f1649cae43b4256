//! Diagnostics about a page that is not served: codes E0961 and E0962.

use diag::Diagnostic;
use std::io;
use std::net::{Ipv6Addr, SocketAddr};

fn error(code: &'static str, what: impl Into<String>, help: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::failure(code, what, help)
}

/// The address for `--prometheus` cannot be read.
pub(super) fn address(text: &str) -> Box<Diagnostic> {
    let (host, port) = match text.rsplit_once(':') {
        Some(parts) => parts,
        None if text.bytes().all(|b| b.is_ascii_digit()) => ("", text),
        None => (text, ""),
    };
    let right = port.parse::<u16>().ok();
    let shown = right.unwrap_or(9464);
    let forms = format!(
        "write 127.0.0.1:{shown} or [::1]:{shown} for this machine alone, [::]:{shown} for all that can reach it"
    );
    let is_number = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let help = if text.parse::<Ipv6Addr>().is_ok() {
        format!("an IPv6 address stands in brackets: [{text}]:9464")
    } else if is_number && right.is_none() {
        format!("ports are at most {}; {forms}", u16::MAX)
    } else if host.starts_with(|c: char| c.is_ascii_alphabetic()) && !host.contains(':') {
        format!("names are not looked up; {forms}")
    } else {
        forms
    };
    error(
        "E0961",
        format!("expected ADDR:PORT for `--prometheus`, found `{text}`"),
        help,
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
        let names = "names are not looked up; write 127.0.0.1:9464";
        assert!(help("localhost").starts_with(names));
        assert!(help("localhost:9464").starts_with(names));
        assert!(
            help("127.0.0.1:99999").starts_with("ports are at most 65535; write 127.0.0.1:9464")
        );
        assert!(help("::1").ends_with("[::1]:9464"));
    }
}
