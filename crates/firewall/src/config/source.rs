//! Sources of requests: addresses and prefixes.

use ipnet::{IpNet, Ipv6Net};
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

/// The first address of IPv6 to which IPv4 is mapped.
const MAPPED: Ipv6Addr = Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0);

/// A text that is no source.
#[derive(Debug)]
pub struct NoSource;

impl Source {
    /// Returns a source as packets have it: IPv4 is mapped to IPv6.
    pub fn mapped(self) -> Source {
        match self {
            Source::Prefix(IpNet::V4(net)) => {
                let address = net.addr().to_ipv6_mapped();
                let bits = 96 + net.prefix_len();
                // A prefix of IPv4 has 32 bits at the most.
                Ipv6Net::new(address, bits).map_or(self, |net| Source::Prefix(net.into()))
            }
            Source::Prefix(IpNet::V6(_)) | Source::Station(_) => self,
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
            // Packets of IPv4 would be among those of a shorter prefix of IPv6 that begins with zeros.
            let has_ipv4 =
                matches!(net, IpNet::V6(net) if net.prefix_len() < 96 && net.contains(&MAPPED));
            return match net.addr() == net.network() && !has_ipv4 {
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
