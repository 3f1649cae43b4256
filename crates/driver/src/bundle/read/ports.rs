//! A program's ports and groups, with their locations in the file.

use super::super::ports::{Clash, PortSpec, Ports};
use super::super::{At, errors};
use control::Replica;
use diag::{Diagnostic, Diagnostics, Span};
use settings::{Table, Value};
use std::num::NonZeroU16;
use std::str::FromStr;

/// An interface with its port, and the location of each.
struct Port {
    spec: PortSpec,
    port: Span,
    interface: Span,
}

/// A multicast group, with the locations of its number, its list and each port in the list.
struct Group {
    number: u16,
    at: Span,
    list: Span,
    replicas: Vec<At<Replica>>,
}

/// Reads a program's ports and groups, and reports conflicts.
pub(super) fn ports(table: &Table, wrong: &mut Diagnostics) -> Ports {
    let dev = table.texts("dev").into_iter().zip(0..);
    let dev: Vec<Port> = dev
        .map(|(name, port)| Port::new(port, name.span, name))
        .collect();
    let mut numbered = |key| -> Vec<Port> {
        let pairs = numbers(table, key, wrong, |at| errors::bad_port(at.span, &at.value));
        let port =
            |(number, at, name): (u32, Span, Value)| Some(Port::new(number, at, name.text()?));
        pairs.into_iter().filter_map(port).collect()
    };
    let (numbered, reach) = (numbered("ports"), numbered("reach"));
    let groups = groups(table, wrong);
    let specs = |ports: &[Port]| ports.iter().map(|p| p.spec.clone()).collect();
    let ports = Ports {
        dev: dev.iter().map(|p| p.spec.interface.clone()).collect(),
        numbered: specs(&numbered),
        reach: specs(&reach),
        groups: groups.iter().map(Group::value).collect(),
    };
    let all: Vec<Port> = dev.into_iter().chain(numbered).chain(reach).collect();
    for nameless in all.iter().filter(|port| port.spec.interface.is_empty()) {
        wrong.push(errors::no_name(nameless.interface));
    }
    if let Some(clash) = ports.clash() {
        let (at, first) = places(&clash, &all, &groups);
        wrong.push(errors::clash(at, &clash, first));
    }
    ports
}

impl Port {
    fn new(port: u32, at: Span, interface: At<String>) -> Port {
        Port {
            port: at,
            interface: interface.span,
            spec: PortSpec {
                port,
                interface: interface.value,
            },
        }
    }
}

impl Group {
    fn value(&self) -> (u16, Vec<Replica>) {
        let replicas = self.replicas.iter().map(|replica| replica.value);
        (self.number, replicas.collect())
    }
}

/// Returns the location of a conflict, and that of the first of two equal items.
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

/// Returns the numbers that a table has as keys, with their location and value. Keys that are no numbers are
/// reported.
fn numbers<'v, N: FromStr>(
    table: &Table<'v>,
    key: &str,
    wrong: &mut Diagnostics,
    refusal: impl Fn(&At<String>) -> Diagnostic,
) -> Vec<(N, Span, Value<'v>)> {
    let mut numbers = Vec::new();
    for (name, value) in table.map(key).unwrap_or_default() {
        match (name.value.parse(), value) {
            (Ok(number), Some(value)) => numbers.push((number, name.span, value)),
            (Ok(_), None) => {}
            (Err(_), _) => wrong.push(refusal(&name)),
        }
    }
    numbers
}

/// Reads multicast groups, such as `{ 1 = [0, 1, "2:7"] }`.
fn groups(table: &Table, wrong: &mut Diagnostics) -> Vec<Group> {
    let groups = numbers(table, "groups", wrong, |at| {
        errors::bad_group(at.span, &at.value)
    });
    let group = |(number, at, list): (NonZeroU16, Span, Value)| {
        let mut replicas = Vec::new();
        for part in list.parts().iter().filter_map(Value::text_or_number) {
            match part.value.parse() {
                Ok(value) => replicas.push(At {
                    value,
                    span: part.span,
                }),
                Err(_) => wrong.push(errors::bad_replica(part.span, &part.value)),
            }
        }
        Group {
            number: number.get(),
            at,
            list: list.span(),
            replicas,
        }
    };
    groups.into_iter().map(group).collect()
}
