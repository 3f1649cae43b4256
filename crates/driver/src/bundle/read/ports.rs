//! A program's ports and groups, and where each is given.

use super::super::ports::{Clash, PortSpec, Ports};
use super::super::values::{Reader, Value};
use super::super::{At, errors};
use super::DEV;
use control::Replica;
use diag::Span;
use toml::de::DeTable;

/// An interface with its port, and where each is given.
struct Port {
    spec: PortSpec,
    port: Span,
    interface: Span,
}

/// A multicast group, and where its number, its list and each port of that are given.
struct Group {
    number: u16,
    at: Span,
    list: Span,
    replicas: Vec<At<Replica>>,
}

/// Reads them. What does not go together is reported.
pub(super) fn ports(reader: &mut Reader, table: &DeTable) -> Ports {
    let dev = table.get("dev").map_or_else(Vec::new, |value| {
        let wanted = "an interface or a list of them";
        let names = reader.text_or_texts("dev", value, wanted, DEV);
        let named = |(name, port): (At<String>, u32)| Port {
            port: name.span,
            interface: name.span,
            spec: PortSpec {
                port,
                interface: interface(reader, name),
            },
        };
        names.into_iter().zip(0..).map(named).collect()
    });
    let mut numbered = |key| {
        let value = table.get(key);
        value.map_or_else(Vec::new, |value| numbered(reader, key, value))
    };
    let (numbered, reach) = (numbered("ports"), numbered("reach"));
    let groups = table
        .get("groups")
        .map_or_else(Vec::new, |value| groups(reader, value));
    let specs = |ports: &[Port]| ports.iter().map(|p| p.spec.clone()).collect();
    let ports = Ports {
        dev: dev.iter().map(|p| p.spec.interface.clone()).collect(),
        numbered: specs(&numbered),
        reach: specs(&reach),
        groups: groups.iter().map(Group::value).collect(),
    };
    if let Some(clash) = ports.clash() {
        let all: Vec<Port> = dev.into_iter().chain(numbered).chain(reach).collect();
        let (at, first) = places(&clash, &all, &groups);
        reader.errors.push(errors::clash(at, &clash, first));
    }
    ports
}

impl Group {
    fn value(&self) -> (u16, Vec<Replica>) {
        let replicas = self.replicas.iter().map(|replica| replica.value);
        (self.number, replicas.collect())
    }
}

/// Where something is that clashes, and where the first of two is.
fn places(clash: &Clash, all: &[Port], groups: &[Group]) -> (Span, Option<Span>) {
    let twice = |places: Vec<Span>| match places[..] {
        [first, second, ..] => (second, Some(first)),
        _ => (Span::NONE, None),
    };
    let of = |number| groups.iter().find(|group| group.number == number);
    match clash {
        Clash::Port(port) => {
            let ports = all.iter().filter(|p| p.spec.port == *port);
            twice(ports.map(|p| p.port).collect())
        }
        Clash::Interface(name) => {
            let ports = all.iter().filter(|p| p.spec.interface == *name);
            twice(ports.map(|p| p.interface).collect())
        }
        Clash::Group(number) => {
            let groups = groups.iter().filter(|group| group.number == *number);
            twice(groups.map(|group| group.at).collect())
        }
        Clash::NotAPort { group, port } => {
            let mut replicas = of(*group).into_iter().flat_map(|group| &group.replicas);
            let stray = replicas.find(|replica| replica.value.port == *port);
            (stray.map_or(Span::NONE, |replica| replica.span), None)
        }
        Clash::TooMany { group } => (of(*group).map_or(Span::NONE, |group| group.list), None),
    }
}

fn interface(reader: &mut Reader, name: At<String>) -> String {
    if name.value.is_empty() {
        let what = "an interface has no name";
        reader.errors.push(errors::missing(name.span, what, DEV));
    }
    name.value
}

/// `{ 3 = "eth3" }`
fn numbered(reader: &mut Reader, key: &str, value: &Value) -> Vec<Port> {
    let wanted = "a table of ports and interfaces";
    let example = format!("{key} = {{ 3 = \"eth3\" }}");
    let mut ports = Vec::new();
    for (port, value) in reader.table(key, value, wanted, &example) {
        let name = reader.text(key, value, wanted, &example);
        match (port.value.parse(), name) {
            (Ok(number), Some(name)) => ports.push(Port {
                port: port.span,
                interface: name.span,
                spec: PortSpec {
                    port: number,
                    interface: interface(reader, name),
                },
            }),
            (Err(_), _) => reader.errors.push(errors::bad_number(
                port.span,
                &port.value,
                "port",
                "from 0 on",
            )),
            (Ok(_), None) => {}
        }
    }
    ports
}

/// `{ 1 = [0, 1, "2:7"] }`
fn groups(reader: &mut Reader, value: &Value) -> Vec<Group> {
    let (wanted, example) = ("a table of groups and ports", "groups = { 1 = [0, 1, 2] }");
    let mut groups = Vec::new();
    for (group, value) in reader.table("groups", value, wanted, example) {
        let replicas = reader.replicas("groups", value, wanted, example);
        match group.value.parse() {
            Ok(number) if number > 0 => groups.push(Group {
                number,
                at: group.span,
                list: reader.span(value.span()),
                replicas,
            }),
            _ => reader.errors.push(errors::bad_number(
                group.span,
                &group.value,
                "multicast group",
                "from 1 to 65535",
            )),
        }
    }
    groups
}
