//! Values of attributes.

use crate::catalogue::Type;
use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Value of an attribute in one record.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value<'a> {
    /// A number.
    Number(u64),
    /// Any bytes; mostly a text.
    Text(Cow<'a, [u8]>),
    /// An address.
    Address(IpAddr),
    /// A link-layer address.
    Mac([u8; 6]),
    /// A flow.
    Flow(FiveTuple),
}

/// Packets from one endpoint of a transport connection to the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FiveTuple {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol number, after all extension headers.
    pub protocol: u8,
    /// Source port; 0 if there is none (a protocol without ports, a fragment).
    pub source_port: u16,
    /// Destination port; 0 if there is none.
    pub destination_port: u16,
}

/// Size of a flow's bytes.
const FLOW: usize = 37;

impl Value<'_> {
    /// Returns an owned value.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Number(number) => Value::Number(number),
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Value::Address(address) => Value::Address(address),
            Value::Mac(bytes) => Value::Mac(bytes),
            Value::Flow(flow) => Value::Flow(flow),
        }
    }

    /// Returns a value that borrows from this one.
    pub(crate) fn borrowed(&self) -> Value<'_> {
        match self {
            Value::Number(number) => Value::Number(*number),
            Value::Text(text) => Value::Text(Cow::Borrowed(text)),
            Value::Address(address) => Value::Address(*address),
            Value::Mac(bytes) => Value::Mac(*bytes),
            Value::Flow(flow) => Value::Flow(*flow),
        }
    }

    /// Returns the bytes that summaries hash and keep. A number has 8 bytes, least significant first. Addresses are in
    /// network byte order. A flow is its addresses of 16 bytes each (IPv4 mapped to IPv6), its ports of 2 bytes each,
    /// and its protocol.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Value::Number(number) => number.to_le_bytes().to_vec().into(),
            Value::Text(text) => Cow::Borrowed(text),
            Value::Address(IpAddr::V4(address)) => address.octets().to_vec().into(),
            Value::Address(IpAddr::V6(address)) => address.octets().to_vec().into(),
            Value::Mac(bytes) => Cow::Borrowed(bytes),
            Value::Flow(flow) => {
                let mut bytes = Vec::with_capacity(FLOW);
                bytes.extend(mapped(flow.source).octets());
                bytes.extend(mapped(flow.destination).octets());
                bytes.extend(flow.source_port.to_be_bytes());
                bytes.extend(flow.destination_port.to_be_bytes());
                bytes.push(flow.protocol);
                bytes.into()
            }
        }
    }

    /// Returns the value of a type with these bytes.
    pub fn from_bytes(ty: Type, bytes: &[u8]) -> Option<Value<'static>> {
        Some(match ty {
            Type::Number(_) | Type::Time => {
                Value::Number(u64::from_le_bytes(bytes.try_into().ok()?))
            }
            Type::Text => Value::Text(Cow::Owned(bytes.to_vec())),
            Type::Ipv4 => Value::Address(<[u8; 4]>::try_from(bytes).ok()?.into()),
            Type::Ipv6 => Value::Address(<[u8; 16]>::try_from(bytes).ok()?.into()),
            Type::Address => {
                let ty = match bytes.len() {
                    4 => Type::Ipv4,
                    _ => Type::Ipv6,
                };
                return Value::from_bytes(ty, bytes);
            }
            Type::Mac => Value::Mac(bytes.try_into().ok()?),
            Type::Flow => {
                let bytes: &[u8; FLOW] = bytes.try_into().ok()?;
                let address = |at| {
                    let octets = <[u8; 16]>::try_from(&bytes[at..at + 16]).ok()?;
                    Some(Ipv6Addr::from(octets).to_canonical())
                };
                let port = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
                Value::Flow(FiveTuple {
                    source: address(0)?,
                    destination: address(16)?,
                    source_port: port(32),
                    destination_port: port(34),
                    protocol: bytes[36],
                })
            }
        })
    }
}

fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => Ipv4Addr::to_ipv6_mapped(&address),
        IpAddr::V6(address) => address,
    }
}

/// Formats a value. In texts, backslashes are doubled. Bytes that are not UTF-8, control characters, and invisible or
/// formatting characters become `\xHH`. So bytes from the network cannot change a terminal, and no two values look the
/// same.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Address(address) => write!(f, "{address}"),
            Value::Mac([a, b, c, d, e, g]) => {
                write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
            }
            Value::Flow(flow) => write!(f, "{flow}"),
            Value::Text(text) => {
                for chunk in text.utf8_chunks() {
                    for c in chunk.valid().chars() {
                        match c {
                            '\\' => f.write_str("\\\\")?,
                            c if !diag::is_seen(c) => {
                                let mut bytes = [0; 4];
                                let bytes = c.encode_utf8(&mut bytes).bytes();
                                bytes
                                    .into_iter()
                                    .try_for_each(|b| write!(f, "\\x{b:02x}"))?;
                            }
                            c => write!(f, "{c}")?,
                        }
                    }
                    chunk
                        .invalid()
                        .iter()
                        .try_for_each(|b| write!(f, "\\x{b:02x}"))?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for FiveTuple {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = match self.protocol {
            6 => "tcp",
            17 => "udp",
            other => return write!(f, "{} > {} protocol {other}", self.source, self.destination),
        };
        let source = SocketAddr::new(self.source, self.source_port);
        let destination = SocketAddr::new(self.destination, self.destination_port);
        write!(f, "{source} > {destination} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_back() {
        let flow = FiveTuple {
            source: "10.0.0.1".parse().unwrap(),
            destination: "10.0.0.2".parse().unwrap(),
            protocol: 17,
            source_port: 53,
            destination_port: 0x1234,
        };
        let six = FiveTuple {
            source: "2001:db8::1".parse().unwrap(),
            protocol: 58,
            ..flow
        };
        for (ty, value) in [
            (Type::Number(16), Value::Number(0x1234)),
            (Type::Text, Value::Text(b"a\xff"[..].into())),
            (Type::Ipv4, Value::Address("10.1.2.3".parse().unwrap())),
            (Type::Ipv6, Value::Address("::1".parse().unwrap())),
            (Type::Address, Value::Address("10.1.2.3".parse().unwrap())),
            (
                Type::Address,
                Value::Address("2001:db8::1".parse().unwrap()),
            ),
            (Type::Mac, Value::Mac([1, 2, 3, 4, 5, 6])),
            (Type::Flow, Value::Flow(flow)),
        ] {
            let bytes = value.bytes().into_owned();
            assert_eq!(Value::from_bytes(ty, &bytes), Some(value));
            if ty != Type::Text {
                assert_eq!(Value::from_bytes(ty, &bytes[1..]), None);
            }
        }
        assert_eq!(flow.to_string(), "10.0.0.1:53 > 10.0.0.2:4660 udp");
        assert_eq!(six.to_string(), "2001:db8::1 > 10.0.0.2 protocol 58");
    }

    #[test]
    fn texts_cannot_change_a_terminal() {
        let shown = |bytes: &'static [u8]| Value::Text(bytes.into()).to_string();
        assert_eq!(shown(b"a\x1b[2J\xff\\"), r"a\x1b[2J\xff\\");
        assert_eq!(shown("ü\u{85}".as_bytes()), r"ü\xc2\x85");
        // A character that reverses the following text; an invisible one.
        assert_eq!(shown("a\u{202e}b".as_bytes()), r"a\xe2\x80\xaeb");
        assert_eq!(shown("a\u{200b}".as_bytes()), r"a\xe2\x80\x8b");
        assert_eq!(shown("e\u{301}ж漢".as_bytes()), "e\u{301}ж漢");
        assert_eq!(
            Value::Mac([2, 0, 0, 0, 0, 0xa]).to_string(),
            "02:00:00:00:00:0a"
        );
    }
}
