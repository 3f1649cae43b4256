//! Headers of a packet, and the fields that a query reads.

use crate::catalogue::Field;
use crate::link::{Link, LinkLayer};
use crate::messages::{Payload, Transport};
use crate::value::{Flow, Value};
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
    pub(crate) fn field(&self, field: Field) -> Option<Value<'static>> {
        if let Some(payload) = &self.received {
            return received(field, payload, self.length);
        }
        match field {
            Field::PacketLength => Some(Value::Number(self.length.into())),
            Field::Flow => self.flow().map(Value::Flow),
            Field::EthSource | Field::EthDestination | Field::EthType | Field::VlanId => {
                self.link_layer(field)
            }
            // As in flows on the path, an IPv4-mapped IPv6 address counts as an IPv4 address.
            Field::IpSource => Some(Value::Address(self.addresses()?.0.to_canonical())),
            Field::IpDestination => Some(Value::Address(self.addresses()?.1.to_canonical())),
            Field::IpProtocol
            | Field::IpTtl
            | Field::IpDscp
            | Field::IpEcn
            | Field::IpId
            | Field::IpLength => self.ipv4(field),
            Field::Ipv6Source
            | Field::Ipv6Destination
            | Field::Ipv6NextHeader
            | Field::Ipv6HopLimit
            | Field::Ipv6TrafficClass
            | Field::Ipv6FlowLabel => self.ipv6(field),
            Field::TcpSourcePort
            | Field::TcpDestinationPort
            | Field::TcpFlags
            | Field::TcpSequence
            | Field::TcpAcknowledgement
            | Field::TcpWindow => self.tcp(field),
            Field::UdpSourcePort | Field::UdpDestinationPort | Field::UdpLength => self.udp(field),
        }
    }

    fn link_layer(&self, field: Field) -> Option<Value<'static>> {
        match field {
            Field::EthDestination => self.link.destination.map(Value::Mac),
            Field::EthSource => self.link.source.map(Value::Mac),
            Field::VlanId => {
                let tags = self.link.headers.as_ref()?.vlan_ids();
                Some(Value::Number(tags.first()?.value().into()))
            }
            _ => {
                let payload = self.link.headers.as_ref()?.ether_payload()?;
                Some(Value::Number(payload.ether_type.0.into()))
            }
        }
    }

    fn ipv4(&self, field: Field) -> Option<Value<'static>> {
        let Some(LaxNetSlice::Ipv4(ip)) = &self.link.headers.as_ref()?.net else {
            return None;
        };
        let header = ip.header();
        let number = match field {
            Field::IpProtocol => header.protocol().0.into(),
            Field::IpTtl => header.ttl().into(),
            Field::IpDscp => header.dcp().value().into(),
            Field::IpEcn => header.ecn().value().into(),
            Field::IpId => header.identification().into(),
            _ => header.total_len().into(),
        };
        Some(Value::Number(number))
    }

    fn ipv6(&self, field: Field) -> Option<Value<'static>> {
        let Some(LaxNetSlice::Ipv6(ip)) = &self.link.headers.as_ref()?.net else {
            return None;
        };
        let header = ip.header();
        let number = match field {
            Field::Ipv6Source => return Some(Value::Address(header.source_addr().into())),
            Field::Ipv6Destination => {
                return Some(Value::Address(header.destination_addr().into()));
            }
            Field::Ipv6NextHeader => header.next_header().0.into(),
            Field::Ipv6HopLimit => header.hop_limit().into(),
            Field::Ipv6TrafficClass => header.traffic_class().into(),
            _ => header.flow_label().value().into(),
        };
        Some(Value::Number(number))
    }

    fn tcp(&self, field: Field) -> Option<Value<'static>> {
        let Some(TransportSlice::Tcp(tcp)) = &self.link.headers.as_ref()?.transport else {
            return None;
        };
        Some(Value::Number(match field {
            Field::TcpSourcePort => tcp.source_port().into(),
            Field::TcpDestinationPort => tcp.destination_port().into(),
            // The byte after the data offset.
            Field::TcpFlags => (*tcp.slice().get(13)?).into(),
            Field::TcpSequence => tcp.sequence_number().into(),
            Field::TcpAcknowledgement => tcp.acknowledgment_number().into(),
            _ => tcp.window_size().into(),
        }))
    }

    fn udp(&self, field: Field) -> Option<Value<'static>> {
        let Some(TransportSlice::Udp(udp)) = &self.link.headers.as_ref()?.transport else {
            return None;
        };
        Some(Value::Number(match field {
            Field::UdpSourcePort => udp.source_port().into(),
            Field::UdpDestinationPort => udp.destination_port().into(),
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

    fn flow(&self) -> Option<Flow> {
        let headers = self.link.headers.as_ref()?;
        let (source, destination) = self.addresses()?;
        let (source_port, destination_port) = match &headers.transport {
            Some(TransportSlice::Tcp(tcp)) => (tcp.source_port(), tcp.destination_port()),
            Some(TransportSlice::Udp(udp)) => (udp.source_port(), udp.destination_port()),
            _ => (0, 0),
        };
        Some(Flow {
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
fn received(field: Field, payload: &Payload, length: u32) -> Option<Value<'static>> {
    let port = match (field, payload.transport) {
        (Field::PacketLength, _) => return Some(Value::Number(length.into())),
        (Field::TcpSourcePort, Transport::Tcp) | (Field::UdpSourcePort, Transport::Udp) => {
            payload.source_port
        }
        (Field::TcpDestinationPort, Transport::Tcp)
        | (Field::UdpDestinationPort, Transport::Udp) => payload.destination_port,
        _ => return None,
    };
    Some(Value::Number(port.into()))
}
