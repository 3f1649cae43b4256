//! Headers of a packet, and the fields that a query reads.

use crate::catalogue::HeaderField;
use crate::link::{Link, LinkLayer};
use crate::messages::{Payload, Transport};
use crate::value::{FiveTuple, Value};
use etherparse::{LaxNetSlice, TransportSlice};
use std::net::IpAddr;

/// Packet with its parsed headers. A field of an absent or truncated header has no value. The transport header of a
/// fragment is not read.
#[derive(Debug)]
pub(crate) struct Packet<'a> {
    length: u32,
    /// Bytes as far as they were captured.
    bytes: &'a [u8],
    link: LinkLayer<'a>,
    /// Payload that an application received, without headers.
    received: Option<Payload<'a>>,
}

impl<'a> Packet<'a> {
    /// Parses the headers of a packet of `length` bytes on the wire, of which `bytes` were captured.
    pub(crate) fn new(bytes: &'a [u8], length: u32, link: Link) -> Packet<'a> {
        Packet {
            length,
            bytes,
            link: link.read(bytes),
            received: None,
        }
    }

    /// Returns a packet for a payload that an application received. Of the headers, it has the ports.
    pub(crate) fn received(payload: Payload<'a>) -> Packet<'a> {
        Packet {
            length: u32::try_from(payload.bytes.len()).unwrap_or(u32::MAX),
            bytes: payload.bytes,
            link: LinkLayer::default(),
            received: Some(payload),
        }
    }

    /// Returns the length on the wire.
    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    /// Returns the value of a field, if the packet has it.
    pub(crate) fn field(&self, field: HeaderField) -> Option<Value<'static>> {
        if let Some(payload) = &self.received {
            return received(field, payload, self.length);
        }
        match field {
            HeaderField::PacketLength => Some(Value::Number(self.length.into())),
            HeaderField::Flow => self.flow().map(Value::Flow),
            HeaderField::EthSource
            | HeaderField::EthDestination
            | HeaderField::EthType
            | HeaderField::VlanId => self.link_layer(field),
            // As in flows on the path, an IPv4-mapped IPv6 address counts as an IPv4 address.
            HeaderField::IpSource => Some(Value::Address(self.addresses()?.0.to_canonical())),
            HeaderField::IpDestination => Some(Value::Address(self.addresses()?.1.to_canonical())),
            HeaderField::IpProtocol
            | HeaderField::IpTtl
            | HeaderField::IpDscp
            | HeaderField::IpEcn
            | HeaderField::IpId
            | HeaderField::IpLength => self.ipv4(field),
            HeaderField::Ipv6Source
            | HeaderField::Ipv6Destination
            | HeaderField::Ipv6NextHeader
            | HeaderField::Ipv6HopLimit
            | HeaderField::Ipv6TrafficClass
            | HeaderField::Ipv6FlowLabel => self.ipv6(field),
            HeaderField::TcpSourcePort
            | HeaderField::TcpDestinationPort
            | HeaderField::TcpFlags
            | HeaderField::TcpSequence
            | HeaderField::TcpAcknowledgement
            | HeaderField::TcpWindow => self.tcp(field),
            HeaderField::UdpSourcePort
            | HeaderField::UdpDestinationPort
            | HeaderField::UdpLength => self.udp(field),
        }
    }

    fn link_layer(&self, field: HeaderField) -> Option<Value<'static>> {
        match field {
            HeaderField::EthDestination => self.link.destination.map(Value::Mac),
            HeaderField::EthSource => self.link.source.map(Value::Mac),
            HeaderField::VlanId => {
                let tags = self.link.headers.as_ref()?.vlan_ids();
                Some(Value::Number(tags.first()?.value().into()))
            }
            _ => {
                let payload = self.link.headers.as_ref()?.ether_payload()?;
                Some(Value::Number(payload.ether_type.0.into()))
            }
        }
    }

    fn ipv4(&self, field: HeaderField) -> Option<Value<'static>> {
        let Some(LaxNetSlice::Ipv4(ip)) = &self.link.headers.as_ref()?.net else {
            return None;
        };
        let header = ip.header();
        let number = match field {
            HeaderField::IpProtocol => header.protocol().0.into(),
            HeaderField::IpTtl => header.ttl().into(),
            HeaderField::IpDscp => header.dcp().value().into(),
            HeaderField::IpEcn => header.ecn().value().into(),
            HeaderField::IpId => header.identification().into(),
            _ => header.total_len().into(),
        };
        Some(Value::Number(number))
    }

    fn ipv6(&self, field: HeaderField) -> Option<Value<'static>> {
        let Some(LaxNetSlice::Ipv6(ip)) = &self.link.headers.as_ref()?.net else {
            return None;
        };
        let header = ip.header();
        let number = match field {
            HeaderField::Ipv6Source => return Some(Value::Address(header.source_addr().into())),
            HeaderField::Ipv6Destination => {
                return Some(Value::Address(header.destination_addr().into()));
            }
            HeaderField::Ipv6NextHeader => header.next_header().0.into(),
            HeaderField::Ipv6HopLimit => header.hop_limit().into(),
            HeaderField::Ipv6TrafficClass => header.traffic_class().into(),
            _ => header.flow_label().value().into(),
        };
        Some(Value::Number(number))
    }

    fn tcp(&self, field: HeaderField) -> Option<Value<'static>> {
        let Some(TransportSlice::Tcp(tcp)) = &self.link.headers.as_ref()?.transport else {
            return None;
        };
        Some(Value::Number(match field {
            HeaderField::TcpSourcePort => tcp.source_port().into(),
            HeaderField::TcpDestinationPort => tcp.destination_port().into(),
            // The byte after the data offset.
            HeaderField::TcpFlags => (*tcp.slice().get(13)?).into(),
            HeaderField::TcpSequence => tcp.sequence_number().into(),
            HeaderField::TcpAcknowledgement => tcp.acknowledgment_number().into(),
            _ => tcp.window_size().into(),
        }))
    }

    fn udp(&self, field: HeaderField) -> Option<Value<'static>> {
        let Some(TransportSlice::Udp(udp)) = &self.link.headers.as_ref()?.transport else {
            return None;
        };
        Some(Value::Number(match field {
            HeaderField::UdpSourcePort => udp.source_port().into(),
            HeaderField::UdpDestinationPort => udp.destination_port().into(),
            _ => udp.length().into(),
        }))
    }

    /// Returns the source and destination address of IPv4 or IPv6.
    fn addresses(&self) -> Option<(IpAddr, IpAddr)> {
        match &self.link.headers.as_ref()?.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                let (source, destination) = (header.source_addr(), header.destination_addr());
                Some((source.into(), destination.into()))
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                let (source, destination) = (header.source_addr(), header.destination_addr());
                Some((source.into(), destination.into()))
            }
            _ => None,
        }
    }

    fn flow(&self) -> Option<FiveTuple> {
        let headers = self.link.headers.as_ref()?;
        let (source, destination) = self.addresses()?;
        let (source_port, destination_port) = match &headers.transport {
            Some(TransportSlice::Tcp(tcp)) => (tcp.source_port(), tcp.destination_port()),
            Some(TransportSlice::Udp(udp)) => (udp.source_port(), udp.destination_port()),
            _ => (0, 0),
        };
        Some(FiveTuple {
            source,
            destination,
            protocol: headers.ip_payload()?.ip_number.0,
            source_port,
            destination_port,
        })
    }

    /// Returns the number of bytes of TCP's payload that the capture left out.
    pub(crate) fn cut_payload(&self) -> usize {
        let cut = (self.length as usize).saturating_sub(self.bytes.len());
        let headers = self.link.headers.as_ref().filter(|_| cut > 0);
        let Some((headers, Some(TransportSlice::Tcp(tcp)))) = headers.map(|h| (h, &h.transport))
        else {
            return 0;
        };
        // After the IP packet, there may be padding.
        let (header, length) = match &headers.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                (header.slice(), usize::from(header.total_len()))
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                let length = usize::from(header.payload_length());
                let whole = if length == 0 {
                    0
                } else {
                    length + header.slice().len()
                };
                (header.slice(), whole)
            }
            _ => return 0,
        };
        let payload = tcp.payload();
        let in_front = payload.as_ptr().addr() - header.as_ptr().addr();
        match length {
            // A length of 0 is that of a packet too large for the field, before segmentation.
            0 => cut,
            length => length.saturating_sub(in_front + payload.len()).min(cut),
        }
    }

    /// Returns the payload of TCP or UDP.
    pub(crate) fn payload(&self) -> Option<Payload<'a>> {
        if self.received.is_some() {
            return self.received;
        }
        match self.link.headers.as_ref()?.transport.as_ref()? {
            TransportSlice::Tcp(tcp) => Some(Payload {
                transport: Transport::Tcp,
                source_port: tcp.source_port(),
                destination_port: tcp.destination_port(),
                bytes: tcp.payload(),
            }),
            TransportSlice::Udp(udp) => Some(Payload {
                transport: Transport::Udp,
                source_port: udp.source_port(),
                destination_port: udp.destination_port(),
                bytes: udp.payload(),
            }),
            _ => None,
        }
    }
}

/// Returns the value of a field for a payload that an application received.
fn received(field: HeaderField, payload: &Payload, length: u32) -> Option<Value<'static>> {
    let port = match (field, payload.transport) {
        (HeaderField::PacketLength, _) => return Some(Value::Number(length.into())),
        (HeaderField::TcpSourcePort, Transport::Tcp)
        | (HeaderField::UdpSourcePort, Transport::Udp) => payload.source_port,
        (HeaderField::TcpDestinationPort, Transport::Tcp)
        | (HeaderField::UdpDestinationPort, Transport::Udp) => payload.destination_port,
        _ => return None,
    };
    Some(Value::Number(port.into()))
}
