//! Filters of measured packets: an address prefix, a port, or both.

use std::net::{IpAddr, Ipv6Addr};

/// Filter on the remote end of packets. A packet is measured if one of the filters matches, or if there are none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filter {
    /// Prefix of the remote address; its other bits are zero.
    pub address: Ipv6Addr,
    /// Length of the prefix in bits, 0 to 128.
    pub length: u8,
    /// Port of TCP or UDP, at either end; any if `None`.
    pub port: Option<u16>,
}

/// Error in a filter, with help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterError {
    /// The error.
    pub what: String,
    /// Help: what to write instead.
    pub help: String,
}

/// Help: the syntax of filters.
const FORMS: &str =
    "write a prefix (2001:db8::/32), a prefix and a port (2001:db8::/32/443), or a port (/443)";

impl Filter {
    /// Parses `PREFIX`, `PREFIX/PORT` or `/PORT`; a prefix is `ADDRESS/LENGTH`.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        let refuse = |what: String, help: String| Err(FilterError { what, help });
        let parts: Vec<&str> = text.split('/').collect();
        let (address, length, port) = match parts[..] {
            ["", port] => ("::", "0", Some(port)),
            [address, length] => (address, length, None),
            [address, length, port] => (address, length, Some(port)),
            [address] if address.parse::<Ipv6Addr>().is_ok() => {
                return refuse(
                    format!("filter `{text}` has no prefix length"),
                    format!("write {address}/128 for this address alone"),
                );
            }
            _ => return refuse(format!("`{text}` is not a filter"), FORMS.to_string()),
        };
        let address = match address.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => address,
            Ok(IpAddr::V4(_)) => {
                return refuse(
                    format!("filter `{text}` is for IPv4, but the option is an IPv6 option"),
                    FORMS.to_string(),
                );
            }
            Err(_) => {
                return refuse(
                    format!("`{address}` in filter `{text}` is not an IPv6 address"),
                    FORMS.to_string(),
                );
            }
        };
        let length = match length.parse::<u8>() {
            Ok(length) if length <= 128 => length,
            _ => {
                return refuse(
                    format!("`{length}` in filter `{text}` is not a prefix length"),
                    match length.parse::<u16>() {
                        Ok(_) => format!(
                            "a prefix length is 0 to 128; if {length} is meant as a port, write {address}/128/{length}"
                        ),
                        Err(_) => FORMS.to_string(),
                    },
                );
            }
        };
        let port = match port.map(str::parse::<u16>) {
            None => None,
            Some(Ok(port)) if port > 0 => Some(port),
            Some(_) => {
                return refuse(
                    format!(
                        "`{}` in filter `{text}` is not a port",
                        parts[parts.len() - 1]
                    ),
                    "a port is 1 to 65535".to_string(),
                );
            }
        };
        let network = masked(address, length);
        if network != address {
            let port = port.map_or_else(String::new, |port| format!("/{port}"));
            return refuse(
                format!("filter `{text}` has address bits after its prefix of {length}"),
                format!(
                    "write {network}/{length}{port}, or {address}/128{port} for this address alone"
                ),
            );
        }
        Ok(Filter {
            address,
            length,
            port,
        })
    }
}

impl std::fmt::Display for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            Some(port) if self.length == 0 => write!(f, "/{port}"),
            Some(port) => write!(f, "{}/{}/{port}", self.address, self.length),
            None => write!(f, "{}/{}", self.address, self.length),
        }
    }
}

/// Number of entries in the programs' filter tables.
const ENTRIES: usize = 64;

/// Fails if the filters do not fit into the programs' tables.
pub fn check_room(filters: &[Filter]) -> Result<(), FilterError> {
    let wanted: usize = filters.iter().map(|f| f.matches().len()).sum();
    if wanted <= ENTRIES {
        return Ok(());
    }
    Err(FilterError {
        what: format!("{} filters are too many", filters.len()),
        help: format!(
            "a filter with a port takes two slots, another one takes one, and there are {ENTRIES}; take shorter prefixes, or \
             omit ports"
        ),
    })
}

/// Returns the commands that put filters into a table of the programs. Only packets that match a filter are measured,
/// or all packets if there are no filters.
pub fn entries(table: &str, filters: &[Filter]) -> Vec<String> {
    if filters.is_empty() {
        return Vec::new();
    }
    let all = filters.iter().flat_map(Filter::matches);
    let adds = (1..).zip(all);
    let adds = adds.map(|(priority, keys)| format!("add {table} {priority} {keys} measure()"));
    std::iter::once(format!("setdefault {table} skip()"))
        .chain(adds)
        .collect()
}

impl Filter {
    /// Returns the keys of the filter's entries, one for each end that may have the port.
    fn matches(&self) -> Vec<String> {
        let mask = masked(Ipv6Addr::from_bits(u128::MAX), self.length);
        let remote = match (self.length, self.port) {
            (0, None) => "remote:*".to_string(),
            (0, Some(_)) => String::new(),
            _ => format!("remote:{} &&& {mask}", self.address),
        };
        match self.port {
            None => vec![remote],
            Some(port) => ["local_port", "remote_port"]
                .map(|end| format!("{remote} {end}:{port}").trim().to_string())
                .into(),
        }
    }
}

fn masked(address: Ipv6Addr, length: u8) -> Ipv6Addr {
    let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
    Ipv6Addr::from_bits(address.to_bits() & mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        let filter = Filter::parse(text).unwrap();
        format!("{} {} {:?}", filter.address, filter.length, filter.port)
    }

    fn refused(text: &str) -> (String, String) {
        let error = Filter::parse(text).unwrap_err();
        (error.what, error.help)
    }

    #[test]
    fn prefix_and_port_in_all_forms() {
        assert_eq!(parsed("2001:db8::/32"), "2001:db8:: 32 None");
        assert_eq!(parsed("2001:db8::/32/443"), "2001:db8:: 32 Some(443)");
        assert_eq!(parsed("/443"), ":: 0 Some(443)");
        assert_eq!(parsed("::/0"), ":: 0 None");
        assert_eq!(parsed("fd00::1/128"), "fd00::1 128 None");
    }

    #[test]
    fn a_port_may_be_at_either_end() {
        assert!(entries("t", &[]).is_empty());
        let filters = ["2001:db8::/32", "/443"].map(|text| Filter::parse(text).unwrap());
        assert_eq!(
            entries("t", &filters),
            [
                "setdefault t skip()",
                "add t 1 remote:2001:db8:: &&& ffff:ffff:: measure()",
                "add t 2 local_port:443 measure()",
                "add t 3 remote_port:443 measure()",
            ]
        );
        assert!(check_room(&filters).is_ok());
        assert!(check_room(&[filters[1]; 33]).is_err());
    }

    #[test]
    fn they_are_shown_as_they_are_written() {
        for text in ["2001:db8::/32", "2001:db8::/32/443", "/443", "::/0"] {
            assert_eq!(Filter::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_filter_is_reported_with_a_remedy() {
        let (what, help) = refused("web");
        assert_eq!(what, "`web` is not a filter");
        assert!(help.contains("2001:db8::/32/443"), "{help}");
        let (what, _) = refused("10.0.0.0/8");
        assert!(what.contains("IPv4"), "{what}");
        let (what, help) = refused("fd00::1");
        assert!(what.contains("no prefix length"), "{what}");
        assert_eq!(help, "write fd00::1/128 for this address alone");
        let (what, help) = refused("fd00::1/443");
        assert!(what.contains("`443`"), "{what}");
        assert!(help.contains("fd00::1/128/443"), "{help}");
        let (_, help) = refused("2001:db8::1/32");
        assert!(help.starts_with("write 2001:db8::/32,"), "{help}");
        let (_, help) = refused("2001:db8::1/32/443");
        let kept = "write 2001:db8::/32/443, or 2001:db8::1/128/443 for this address alone";
        assert_eq!(help, kept);
        for text in ["/0", "/65536", "::/0/http", "/"] {
            assert!(refused(text).0.contains("not a port"), "{text}");
        }
        for text in ["", "a/b/c/d", "::/0/1/2", "::/-1", "::/129"] {
            refused(text);
        }
    }
}
