//! Sources of requests: addresses and prefixes.

use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// A source, by its address of the link layer or by a prefix of its address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Source {
    /// Address of the link layer.
    Station([u8; 6]),
    /// Prefix of IP addresses, without bits behind it.
    Prefix(IpNet),
}

/// A text that is no source.
#[derive(Debug)]
pub struct NoSource;

impl Source {
    /// Returns the prefix as one of IPv6, to which IPv4 is mapped: the address and the number of its bits.
    pub fn mapped(net: IpNet) -> (Ipv6Addr, u8) {
        match net {
            IpNet::V4(net) => (net.addr().to_ipv6_mapped(), 96 + net.prefix_len()),
            IpNet::V6(net) => (net.addr(), net.prefix_len()),
        }
    }
}

impl FromStr for Source {
    type Err = NoSource;

    fn from_str(text: &str) -> Result<Source, NoSource> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Source::Prefix(address.into()));
        }
        if let Ok(net) = text.parse::<IpNet>() {
            // A prefix with more bits may be meant as an address.
            return match net.addr() == net.network() {
                true => Ok(Source::Prefix(net)),
                false => Err(NoSource),
            };
        }
        let mut station = [0; 6];
        let mut bytes = text.split(':');
        for byte in &mut station {
            let digits = bytes.next().filter(|digits| digits.len() == 2);
            let is_hex = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let digits = digits.filter(is_hex).ok_or(NoSource)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NoSource)?;
        }
        match bytes.next() {
            None => Ok(Source::Station(station)),
            Some(_) => Err(NoSource),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Station([a, b, c, d, e, g]) => {
                write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
            }
            Source::Prefix(net) => write!(f, "{net}"),
        }
    }
}
