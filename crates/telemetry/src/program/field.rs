//! Attributes as P4: whether a packet has one, and its value.

use super::message::Reader;
use crate::catalogue::{Attribute, Field, Type};
use crate::query::Query;
use std::fmt::Write;

/// An attribute in P4.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Whether the packet has it.
    pub has: String,
    /// Its value, if it has.
    pub value: String,
    /// Its name in the message, if it is one of a message.
    pub attribute: String,
    /// The bits of a text's value; its length is in the variable `VALUE_length`.
    pub width: usize,
    /// The value as it is kept, as a key or an item.
    pub key: String,
    /// The type of what is kept.
    pub ty: String,
    /// Regular expressions, and the variables that say whether they are found, where that is known before.
    pub matched: Vec<(String, String)>,
}

/// A query, and what its attributes are in P4.
pub(super) struct Layout<'q> {
    pub query: &'q Query,
    pub sources: Vec<Source>,
    /// What reads the messages, if it is about messages.
    pub reader: Option<Reader<'q>>,
}

/// An attribute in P4; `None` if it is one of a message.
pub(super) fn source(attribute: &Attribute) -> Option<Source> {
    let (header, value) = place(attribute.field()?);
    let has = match header {
        "" => "true".to_string(),
        "ip" => "(hdr.ipv4.isValid() || hdr.ipv6.isValid())".to_string(),
        header => format!("hdr.{header}.isValid()"),
    };
    let ty = match attribute.ty {
        Type::Number(bits) => format!("bit<{bits}>"),
        Type::Ipv4 => "bit<32>".into(),
        Type::Ipv6 => "bit<128>".into(),
        Type::Mac => "bit<48>".into(),
        Type::Flow => "flow_t".into(),
        Type::Time | Type::Text => return None,
    };
    Some(Source {
        has,
        value: value.into(),
        attribute: String::new(),
        width: 0,
        key: value.into(),
        ty,
        matched: Vec::new(),
    })
}

/// The header that a field is in, and the expression of its value.
fn place(field: Field) -> (&'static str, &'static str) {
    match field {
        Field::PacketLength => ("", "input.length"),
        Field::EthSource => ("eth", "hdr.eth.src"),
        Field::EthDestination => ("eth", "hdr.eth.dst"),
        Field::EthType => ("eth", "hdr.ether_type"),
        Field::VlanId => ("vlan", "hdr.vlan.id"),
        Field::IpSource => ("ipv4", "hdr.ipv4.src"),
        Field::IpDestination => ("ipv4", "hdr.ipv4.dst"),
        Field::IpProtocol => ("ipv4", "hdr.ipv4.protocol"),
        Field::IpTtl => ("ipv4", "hdr.ipv4.ttl"),
        Field::IpDscp => ("ipv4", "hdr.ipv4.dscp"),
        Field::IpEcn => ("ipv4", "hdr.ipv4.ecn"),
        Field::IpId => ("ipv4", "hdr.ipv4.id"),
        Field::IpLength => ("ipv4", "hdr.ipv4.length"),
        Field::Ipv6Source => ("ipv6", "hdr.ipv6.src"),
        Field::Ipv6Destination => ("ipv6", "hdr.ipv6.dst"),
        Field::Ipv6NextHeader => ("ipv6", "hdr.ipv6.next_header"),
        Field::Ipv6HopLimit => ("ipv6", "hdr.ipv6.hop_limit"),
        Field::Ipv6TrafficClass => ("ipv6", "hdr.ipv6.traffic_class"),
        Field::Ipv6FlowLabel => ("ipv6", "hdr.ipv6.flow_label"),
        Field::TcpSourcePort => ("tcp", "hdr.tcp.src_port"),
        Field::TcpDestinationPort => ("tcp", "hdr.tcp.dst_port"),
        Field::TcpFlags => ("tcp", "hdr.tcp.flags"),
        Field::TcpSequence => ("tcp", "hdr.tcp.seq"),
        Field::TcpAcknowledgement => ("tcp", "hdr.tcp.ack"),
        Field::TcpWindow => ("tcp", "hdr.tcp.window"),
        Field::UdpSourcePort => ("udp", "hdr.udp.src_port"),
        Field::UdpDestinationPort => ("udp", "hdr.udp.dst_port"),
        Field::UdpLength => ("udp", "hdr.udp.length"),
        Field::Flow => ("ip", "flow"),
    }
}

/// What is put behind the name of an attribute to name what belongs to it.
const BEHIND: [&str; 4] = ["_length", "_kept", "_signed", "_t"];

/// The names of a query's attributes as ones of P4. P4 has fewer signs for names, so that some have a number behind them:
/// none is that of another, or of what belongs to another.
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

/// A flow, whose IPv4 addresses are mapped to IPv6.
const FLOW: &str = "
struct flow_t {
    bit<128> src;
    bit<128> dst;
    bit<8>   protocol;
    bit<16>  src_port;
    bit<16>  dst_port;
}
";

/// A packet's flow.
const FLOW_OF_PACKET: &str = "        flow_t flow = { 0, 0, hdr.protocol, 0, 0 };
        if (hdr.ipv4.isValid()) {
            flow.src = 80w0 ++ 16w0xffff ++ hdr.ipv4.src;
            flow.dst = 80w0 ++ 16w0xffff ++ hdr.ipv4.dst;
        } else if (hdr.ipv6.isValid()) {
            flow.src = hdr.ipv6.src;
            flow.dst = hdr.ipv6.dst;
        }
        if (hdr.tcp.isValid()) {
            flow.src_port = hdr.tcp.src_port;
            flow.dst_port = hdr.tcp.dst_port;
        } else if (hdr.udp.isValid()) {
            flow.src_port = hdr.udp.src_port;
            flow.dst_port = hdr.udp.dst_port;
        }
";

impl Layout<'_> {
    fn reads_flow(&self) -> bool {
        let mut attributes = self.query.attributes.iter();
        attributes.any(|attribute| attribute.ty == Type::Flow)
    }

    /// The types of groups, and of items with their groups.
    pub(super) fn types(&self, out: &mut String) {
        if self.reads_flow() {
            *out += FLOW;
        }
        if let Some(reader) = &self.reader {
            reader.types(out);
        }
        *out += "\nstruct group_t {\n";
        let names = names(self.query);
        for &key in &self.query.keys {
            let _ = writeln!(out, "    {} {};", self.sources[key].ty, names[key]);
        }
        if self.query.keys.is_empty() {
            *out += "    bit<1> all;   // one group\n";
        }
        *out += "}\n";
        for (function, attribute, name) in super::with_objects(self.query) {
            if matches!(function, crate::query::Function::Top(..)) {
                let ty = &self.sources[attribute].ty;
                let _ = writeln!(
                    out,
                    "\nstruct {name}_t {{\n    group_t group;\n    {ty} item;\n}}"
                );
            }
        }
    }

    /// Variables that attributes need.
    pub(super) fn locals(&self, out: &mut String) {
        if self.reads_flow() {
            *out += FLOW_OF_PACKET;
        }
    }

    /// Whether a packet has all keys.
    pub(super) fn has_keys(&self) -> String {
        let keys = self.query.keys.iter();
        let has: Vec<&str> = keys.map(|&key| self.sources[key].has.as_str()).collect();
        match has.is_empty() {
            true => "true".into(),
            false => has.join(" && "),
        }
    }

    /// A group whose keys are all zero.
    pub(super) fn no_group(&self) -> String {
        let keys = self.query.keys.iter();
        let zero = |&key: &usize| match self.query.attributes[key].ty {
            Type::Flow => "{ 0, 0, 0, 0, 0 }",
            Type::Text => "{ 0, 0 }",
            _ => "0",
        };
        let zeros: Vec<&str> = keys.map(zero).collect();
        match zeros.is_empty() {
            true => "{ 0 }".into(),
            false => format!("{{ {} }}", zeros.join(", ")),
        }
    }

    /// The key of a packet's group.
    pub(super) fn group(&self) -> String {
        let keys = self.query.keys.iter();
        let values: Vec<&str> = keys.map(|&key| self.sources[key].key.as_str()).collect();
        match values.is_empty() {
            true => "{ 0 }".into(),
            false => format!("{{ {} }}", values.join(", ")),
        }
    }
}
