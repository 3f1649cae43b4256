//! Attributes in P4: their presence and value in a packet.

use super::message::Reader;
use super::p4::{self, Expr, Struct, any, name, named};
use crate::catalogue::{Attribute, HeaderField, Type};
use crate::query::{Function, Query};

/// Attribute in P4.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Condition that the packet has it; `None` if every packet does.
    pub has: Option<Expr>,
    /// Value, if the packet has it.
    pub value: Expr,
    /// Name in the message, if it belongs to one.
    pub attribute: String,
    /// Variables of a text.
    pub text: Option<Held>,
    /// Value as a key or an item.
    pub key: Expr,
    /// Type of the key or item.
    pub ty: p4::Type,
    /// Regular expressions, and the variables of their results, if they are evaluated before the condition.
    pub matched: Vec<(String, Expr)>,
}

/// Text in variables.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Number of bits in the variable of its first bytes; it is padded with zeros.
    pub width: usize,
    /// Variable with the number of bytes in all.
    pub length: Expr,
}

/// Query, with its attributes in P4.
pub(super) struct QuerySources<'q> {
    pub query: &'q Query,
    pub sources: Vec<Source>,
    /// Reader of messages, if the query is about messages.
    pub reader: Option<Reader<'q>>,
}

/// Returns an attribute in P4; `None` if it belongs to a message.
pub(super) fn source(attribute: &Attribute) -> Option<Source> {
    let (header, value) = place(attribute.field()?);
    let is_valid = |header: &str| name("hdr").member(header).valid();
    let ty = match attribute.ty {
        Type::Number(bits) => p4::Type::Bits(bits.into()),
        Type::Ipv4 => p4::Type::Bits(32),
        Type::Ipv6 | Type::Address => p4::Type::Bits(128),
        Type::Mac => p4::Type::Bits(48),
        Type::Flow => named("packet_flow"),
        Type::Time | Type::Text => return None,
    };
    Some(Source {
        has: match header {
            "" => None,
            "ip" => Some(any([is_valid("ipv4"), is_valid("ipv6")])),
            header => Some(is_valid(header)),
        },
        value: name(value),
        attribute: String::new(),
        text: None,
        key: name(value),
        ty,
        matched: Vec::new(),
    })
}

/// Returns the header of a field, and the expression for its value.
fn place(field: HeaderField) -> (&'static str, &'static str) {
    match field {
        HeaderField::PacketLength => ("", "input.length"),
        HeaderField::EthSource => ("eth", "hdr.eth.src"),
        HeaderField::EthDestination => ("eth", "hdr.eth.dst"),
        HeaderField::EthType => ("eth", "hdr.ether_type"),
        HeaderField::VlanId => ("vlan", "hdr.vlan.id"),
        HeaderField::IpSource => ("ip", "flow.src"),
        HeaderField::IpDestination => ("ip", "flow.dst"),
        HeaderField::IpProtocol => ("ipv4", "hdr.ipv4.protocol"),
        HeaderField::IpTtl => ("ipv4", "hdr.ipv4.ttl"),
        HeaderField::IpDscp => ("ipv4", "hdr.ipv4.dscp"),
        HeaderField::IpEcn => ("ipv4", "hdr.ipv4.ecn"),
        HeaderField::IpId => ("ipv4", "hdr.ipv4.id"),
        HeaderField::IpLength => ("ipv4", "hdr.ipv4.length"),
        HeaderField::Ipv6Source => ("ipv6", "hdr.ipv6.src"),
        HeaderField::Ipv6Destination => ("ipv6", "hdr.ipv6.dst"),
        HeaderField::Ipv6NextHeader => ("ipv6", "hdr.ipv6.next_header"),
        HeaderField::Ipv6HopLimit => ("ipv6", "hdr.ipv6.hop_limit"),
        HeaderField::Ipv6TrafficClass => ("ipv6", "hdr.ipv6.traffic_class"),
        HeaderField::Ipv6FlowLabel => ("ipv6", "hdr.ipv6.flow_label"),
        HeaderField::TcpSourcePort => ("tcp", "hdr.tcp.src_port"),
        HeaderField::TcpDestinationPort => ("tcp", "hdr.tcp.dst_port"),
        HeaderField::TcpFlags => ("tcp", "hdr.tcp.flags"),
        HeaderField::TcpSequence => ("tcp", "hdr.tcp.seq"),
        HeaderField::TcpAcknowledgement => ("tcp", "hdr.tcp.ack"),
        HeaderField::TcpWindow => ("tcp", "hdr.tcp.window"),
        HeaderField::UdpSourcePort => ("udp", "hdr.udp.src_port"),
        HeaderField::UdpDestinationPort => ("udp", "hdr.udp.dst_port"),
        HeaderField::UdpLength => ("udp", "hdr.udp.length"),
        HeaderField::Flow => ("ip", "flow"),
    }
}

/// Suffixes of names derived from an attribute's name.
const BEHIND: [&str; 4] = ["_length", "_kept", "_signed", "_t"];

/// Returns names in P4 for a query's attributes. P4 allows fewer characters in names, so some names get a number. No
/// name equals another one or a name derived from another.
pub(super) fn names(query: &Query) -> Vec<String> {
    let belongs = |name: &str, to: &str| match name.strip_prefix(to) {
        Some(rest) => rest.is_empty() || BEHIND.contains(&rest),
        None => false,
    };
    let mut names: Vec<String> = Vec::with_capacity(query.attributes.len());
    for attribute in &query.attributes {
        let is_sign = |c: char| !c.is_ascii_alphanumeric();
        let plain = attribute.name.replace(is_sign, "_");
        let mut name = plain.clone();
        let mut number = 1;
        let is_taken = |name: &str| {
            let mut known = names.iter();
            known.any(|known| belongs(name, known) || belongs(known, name))
        };
        while is_taken(&name) {
            number += 1;
            name = format!("{plain}_{number}");
        }
        names.push(name);
    }
    names
}

impl QuerySources<'_> {
    pub(super) fn reads_flow(&self) -> bool {
        let mut attributes = self.query.attributes.iter();
        attributes.any(|attribute| matches!(attribute.ty, Type::Flow | Type::Address))
    }

    /// Returns the types of groups, and of items with their groups.
    pub(super) fn types(&self) -> Vec<Struct> {
        let names = names(self.query);
        let keys = self.query.keys.iter();
        let mut keys: Vec<_> = keys
            .map(|&key| (self.sources[key].ty.clone(), names[key].clone()))
            .collect();
        if keys.is_empty() {
            // Without keys, there is one group.
            keys.push((p4::Type::Bits(1), "all".to_owned()));
        }
        let group = Struct {
            name: "group_t".to_owned(),
            fields: keys,
        };
        let own = super::with_objects(self.query).into_iter();
        let tops = own.filter(|(function, ..)| matches!(function, Function::Top(..)));
        let tops = tops.map(|(_, attribute, name)| Struct {
            name: format!("{name}_t"),
            fields: vec![
                (named("group_t"), "group".to_owned()),
                (self.sources[attribute].ty.clone(), "item".to_owned()),
            ],
        });
        let of_messages = self.reader.iter().flat_map(Reader::types);
        of_messages.chain([group]).chain(tops).collect()
    }

    /// Tests that a packet has all keys.
    pub(super) fn has_keys(&self) -> Expr {
        let keys = self.query.keys.iter();
        p4::all(keys.filter_map(|&key| self.sources[key].has.clone()))
    }

    /// Returns a group whose keys are all zero.
    pub(super) fn no_group(&self) -> Expr {
        let zeros = |count: usize| Expr::List(vec![p4::number(0u8); count]);
        let keys = self.query.keys.iter();
        let zero = |&key: &usize| match self.query.attributes[key].ty {
            Type::Flow => zeros(5),
            Type::Text => zeros(2),
            _ => p4::number(0u8),
        };
        let all: Vec<Expr> = keys.map(zero).collect();
        match all.is_empty() {
            true => zeros(1),
            false => Expr::List(all),
        }
    }

    /// Returns the key of a packet's group.
    pub(super) fn group(&self) -> Expr {
        let keys = self.query.keys.iter();
        let values: Vec<Expr> = keys.map(|&key| self.sources[key].key.clone()).collect();
        match values.is_empty() {
            true => Expr::List(vec![p4::number(0u8)]),
            false => Expr::List(values),
        }
    }
}
