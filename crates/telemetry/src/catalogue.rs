//! Catalogue of attributes and their types.

use crate::messages::Messages;
use diag::Span;
use payload::Unasked;

/// Type of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// A number of this many bits, 1 to 64.
    Number(u8),
    /// A time, in nanoseconds.
    Time,
    /// Any bytes; mostly a text.
    Text,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// An address of IPv4 or IPv6.
    Address,
    /// A link-layer address.
    Mac,
    /// A flow.
    Flow,
}

impl Type {
    /// Returns a name of the type for messages, with an article.
    pub fn name(self) -> &'static str {
        match self {
            Type::Number(_) => "a number",
            Type::Time => "a time",
            Type::Text => "a text",
            Type::Ipv4 => "an IPv4 address",
            Type::Ipv6 => "an IPv6 address",
            Type::Address => "an IP address",
            Type::Mac => "a link-layer address",
            Type::Flow => "a flow",
        }
    }

    /// Returns true if values can be added and ordered.
    pub fn is_number(self) -> bool {
        matches!(self, Type::Number(_) | Type::Time)
    }

    /// Returns the greatest number of the type.
    pub(crate) fn greatest(self) -> u64 {
        match self {
            Type::Number(bits) => u64::MAX >> (64 - u32::from(bits.clamp(1, 64))),
            _ => u64::MAX,
        }
    }
}

/// Attribute that a query reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// Name in the query.
    pub name: String,
    /// Type of its values.
    pub ty: Type,
    /// True if a record may have several values, and the query means all of them.
    pub(crate) several: bool,
    /// Origin of its values.
    pub(crate) source: Source,
    /// Location of its first use in the query.
    pub(crate) at: Span,
}

impl Attribute {
    /// Returns the field, if the attribute is one of the packet's headers.
    pub fn field(&self) -> Option<HeaderField> {
        match self.source {
            Source::Packet(field) => Some(field),
            Source::Message | Source::ResponseTime => None,
        }
    }

    /// Returns the name without the kind of message: the `host` of `http.host`. Only for an attribute of a message.
    pub fn name_in_message(&self) -> &str {
        let name = first_of(&self.name).unwrap_or(&self.name);
        name.split_once('.').map_or("", |(_, name)| name)
    }
}

/// Returns the attribute inside `first(..)`, whose first value is meant.
fn first_of(name: &str) -> Option<&str> {
    name.strip_prefix("first(")?.strip_suffix(')')
}

/// Origin of an attribute's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The packet's headers.
    Packet(HeaderField),
    /// The message.
    Message,
    /// The time from a request to its response.
    ResponseTime,
}

/// Name of the time from a request to its response, an attribute of each kind of message that has both.
pub(crate) const RESPONSE_TIME: &str = "response_time";

/// Field of the packet's headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "FIELDS describes each")]
pub enum HeaderField {
    PacketLength,
    EthSource,
    EthDestination,
    EthType,
    VlanId,
    IpSource,
    IpDestination,
    IpProtocol,
    IpTtl,
    IpDscp,
    IpEcn,
    IpId,
    IpLength,
    Ipv6Source,
    Ipv6Destination,
    Ipv6NextHeader,
    Ipv6HopLimit,
    Ipv6TrafficClass,
    Ipv6FlowLabel,
    TcpSourcePort,
    TcpDestinationPort,
    TcpFlags,
    TcpSequence,
    TcpAcknowledgement,
    TcpWindow,
    UdpSourcePort,
    UdpDestinationPort,
    UdpLength,
    Flow,
}

/// Fields: name, field, type, and a description for the documentation.
pub(crate) const FIELDS: [(&str, HeaderField, Type, &str); 29] = [
    (
        "packet.length",
        HeaderField::PacketLength,
        Type::Number(32),
        "bytes of the packet on the wire, with its link-layer header",
    ),
    (
        "eth.src",
        HeaderField::EthSource,
        Type::Mac,
        "source address",
    ),
    (
        "eth.dst",
        HeaderField::EthDestination,
        Type::Mac,
        "destination address",
    ),
    (
        "eth.type",
        HeaderField::EthType,
        Type::Number(16),
        "EtherType, behind VLAN tags",
    ),
    (
        "vlan.id",
        HeaderField::VlanId,
        Type::Number(12),
        "identifier of the outer VLAN tag",
    ),
    (
        "ip.src",
        HeaderField::IpSource,
        Type::Address,
        "source address of IPv4 or IPv6",
    ),
    (
        "ip.dst",
        HeaderField::IpDestination,
        Type::Address,
        "destination address of IPv4 or IPv6",
    ),
    (
        "ip.proto",
        HeaderField::IpProtocol,
        Type::Number(8),
        "protocol: 6 is TCP, 17 UDP",
    ),
    (
        "ip.ttl",
        HeaderField::IpTtl,
        Type::Number(8),
        "time to live",
    ),
    (
        "ip.dscp",
        HeaderField::IpDscp,
        Type::Number(6),
        "differentiated services code point",
    ),
    (
        "ip.ecn",
        HeaderField::IpEcn,
        Type::Number(2),
        "explicit congestion notification: 3 is congestion",
    ),
    (
        "ip.id",
        HeaderField::IpId,
        Type::Number(16),
        "identification",
    ),
    (
        "ip.length",
        HeaderField::IpLength,
        Type::Number(16),
        "total length in bytes",
    ),
    (
        "ipv6.src",
        HeaderField::Ipv6Source,
        Type::Ipv6,
        "source address",
    ),
    (
        "ipv6.dst",
        HeaderField::Ipv6Destination,
        Type::Ipv6,
        "destination address",
    ),
    (
        "ipv6.next_header",
        HeaderField::Ipv6NextHeader,
        Type::Number(8),
        "what follows the IPv6 header, such as an extension header",
    ),
    (
        "ipv6.hop_limit",
        HeaderField::Ipv6HopLimit,
        Type::Number(8),
        "hop limit",
    ),
    (
        "ipv6.traffic_class",
        HeaderField::Ipv6TrafficClass,
        Type::Number(8),
        "traffic class",
    ),
    (
        "ipv6.flow_label",
        HeaderField::Ipv6FlowLabel,
        Type::Number(20),
        "flow label",
    ),
    (
        "tcp.src_port",
        HeaderField::TcpSourcePort,
        Type::Number(16),
        "source port",
    ),
    (
        "tcp.dst_port",
        HeaderField::TcpDestinationPort,
        Type::Number(16),
        "destination port",
    ),
    (
        "tcp.flags",
        HeaderField::TcpFlags,
        Type::Number(8),
        "FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128, added up",
    ),
    (
        "tcp.seq",
        HeaderField::TcpSequence,
        Type::Number(32),
        "sequence number",
    ),
    (
        "tcp.ack",
        HeaderField::TcpAcknowledgement,
        Type::Number(32),
        "acknowledgement number",
    ),
    (
        "tcp.window",
        HeaderField::TcpWindow,
        Type::Number(16),
        "window, unscaled",
    ),
    (
        "udp.src_port",
        HeaderField::UdpSourcePort,
        Type::Number(16),
        "source port",
    ),
    (
        "udp.dst_port",
        HeaderField::UdpDestinationPort,
        Type::Number(16),
        "destination port",
    ),
    (
        "udp.length",
        HeaderField::UdpLength,
        Type::Number(16),
        "length of header and payload in bytes",
    ),
    (
        "flow",
        HeaderField::Flow,
        Type::Flow,
        "addresses, protocol and ports of an IPv4 or IPv6 packet; only as a key, in `distinct` and in `top`",
    ),
];

/// Lists the fields of headers for the documentation: name, type, and description.
pub fn describe_fields() -> impl Iterator<Item = (&'static str, Type, &'static str)> {
    FIELDS.iter().map(|(name, _, ty, what)| (*name, *ty, *what))
}

/// Catalogue of all attributes that a query may name.
#[derive(Clone, Copy)]
pub struct Catalogue<'m> {
    messages: &'m dyn Messages,
}

impl std::fmt::Debug for Catalogue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Catalogue({:?})", self.messages.kinds())
    }
}

impl<'m> Catalogue<'m> {
    /// Builds the catalogue of the fields of headers and the attributes of these messages.
    pub fn new(messages: &'m dyn Messages) -> Catalogue<'m> {
        Catalogue { messages }
    }

    /// Returns the source of messages.
    pub fn messages(&self) -> &'m dyn Messages {
        self.messages
    }

    /// Resolves the attribute of this name, used at `at`. Also returns the index of its kind of message, if it has one.
    pub(crate) fn find(&self, name: &str, at: Span) -> Option<(Attribute, Option<usize>)> {
        let first = first_of(name);
        let attribute = |ty, source| Attribute {
            name: name.to_string(),
            ty,
            several: false,
            source,
            at,
        };
        let name = first.unwrap_or(name);
        if let Some((_, field, ty, _)) = FIELDS.iter().find(|(known, ..)| *known == name) {
            return Some((attribute(*ty, Source::Packet(*field)), None));
        }
        let (group, inside) = name.split_once('.')?;
        let kind = self.messages.kinds().iter().position(|k| k == group)?;
        let found = match self.messages.attribute(kind, inside) {
            Some(ty) => Attribute {
                several: first.is_none() && self.messages.several(kind, inside),
                ..attribute(ty, Source::Message)
            },
            None if inside == RESPONSE_TIME => {
                self.messages.exchange(kind)?;
                attribute(Type::Time, Source::ResponseTime)
            }
            None => return None,
        };
        Some((found, Some(kind)))
    }

    /// Returns the kind of messages if the name is that of a response time and the kind has no responses.
    pub(crate) fn unpaired(&self, name: &str) -> Option<&'m str> {
        let (kind, inside) = name.split_once('.')?;
        let mut kinds = self.messages.kinds().iter();
        let known = kinds.find(|known| *known == kind)?;
        (inside == RESPONSE_TIME).then_some(known)
    }

    /// Returns help for a name that has an invalid text in place of `NAME`: a description of the valid ones.
    pub(crate) fn named_wrongly(&self, name: &str) -> Option<String> {
        let (group, inside) = name.split_once('.')?;
        let kind = self.messages.kinds().iter().position(|k| k == group)?;
        match self.messages.schema(kind)?.asked(inside) {
            Err(Unasked::Key { attribute, keys }) => {
                let listed = attribute.replace('*', "NAME");
                Some(format!(
                    "in the place of NAME in `{group}.{listed}` stands {keys}"
                ))
            }
            _ => None,
        }
    }

    /// Returns the name in lower case if that is the name of an attribute, and differs.
    pub(crate) fn in_small_letters(&self, name: &str) -> Option<String> {
        let lower = name.to_ascii_lowercase();
        (lower != name && self.find(&lower, Span::NONE).is_some()).then_some(lower)
    }

    /// Returns the first components of the names, each once.
    pub(crate) fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        let fields = FIELDS.iter().map(|(name, ..)| *name);
        let first = |name| str::split(name, '.').next().unwrap_or_default();
        for group in fields
            .map(first)
            .chain(self.messages.kinds().iter().map(String::as_str))
        {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups
    }

    /// Returns the attributes with this first component.
    pub(crate) fn names_in(&self, group: &str) -> Vec<String> {
        self.names()
            .into_iter()
            .filter(|name| name.split('.').next() == Some(group))
            .collect()
    }

    /// Returns the names of all attributes. For those with a name of the user's choice, `NAME` stands in its place.
    pub(crate) fn listed(&self) -> Vec<String> {
        let fields = FIELDS.iter().map(|(name, ..)| name.to_string());
        let kinds = self.messages.kinds().iter().enumerate();
        let of_messages = kinds.flat_map(|(index, kind)| {
            let fixed = || self.names_in(kind);
            let named = self.messages.schema(index).map(|schema| {
                let names = schema.names().into_iter();
                let names = names.map(|name| format!("{kind}.{}", name.replace('*', "NAME")));
                let answered = self.messages.exchange(index);
                names
                    .chain(answered.map(|_| format!("{kind}.{RESPONSE_TIME}")))
                    .collect()
            });
            named.unwrap_or_else(fixed)
        });
        fields.chain(of_messages).collect()
    }

    /// Returns the names of all attributes without a name of the user's choice.
    pub fn names(&self) -> Vec<String> {
        let fields = FIELDS.iter().map(|(name, ..)| name.to_string());
        let kinds = self.messages.kinds().iter().enumerate();
        let of_messages = kinds.flat_map(|(index, kind)| {
            let attributes = self.messages.attributes(index).iter();
            let answered = self.messages.exchange(index).map(|_| RESPONSE_TIME);
            let names = attributes.map(|(name, _)| name.as_str()).chain(answered);
            names.map(move |name| format!("{kind}.{name}"))
        });
        fields.chain(of_messages).collect()
    }
}
