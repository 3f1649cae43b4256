//! Port numbers of a program's interfaces, and its multicast groups.

use control::Replica;

/// An interface with its port number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortSpec {
    /// The port.
    pub port: u32,
    /// The interface's name.
    pub interface: String,
}

/// A program's ports and groups.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ports {
    /// Interfaces at which the program runs: ports 0, 1, …
    pub dev: Vec<String>,
    /// Further interfaces at which it runs, with their ports.
    pub numbered: Vec<PortSpec>,
    /// Interfaces that it may only send to.
    pub reach: Vec<PortSpec>,
    /// Multicast groups: a number from 1 on, and the copies that it makes.
    pub groups: Vec<(u16, Vec<Replica>)>,
}

/// Conflict among a program's ports and groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Clash {
    /// A port number is given twice.
    Port(u32),
    /// An interface is given twice.
    Interface(String),
    /// A group is given twice.
    Group(u16),
    /// A group has a port that is none of the program's.
    NotAPort {
        /// The group.
        group: u16,
        /// The port.
        port: u32,
    },
    /// A group has more ports than fit.
    TooMany {
        /// The group.
        group: u16,
    },
}

impl Ports {
    /// Returns the interfaces at which the program runs, with their ports.
    pub fn attached(&self) -> impl Iterator<Item = PortSpec> {
        let listed = self.dev.iter().zip(0..).map(|(interface, port)| PortSpec {
            port,
            interface: interface.clone(),
        });
        listed.chain(self.numbered.iter().cloned())
    }

    /// Returns every interface with its port.
    pub fn all(&self) -> impl Iterator<Item = PortSpec> {
        self.attached().chain(self.reach.iter().cloned())
    }

    /// Returns the first conflict, if there is one.
    pub fn clash(&self) -> Option<Clash> {
        let all: Vec<PortSpec> = self.all().collect();
        for (i, port) in all.iter().enumerate() {
            for other in &all[..i] {
                if port.port == other.port {
                    return Some(Clash::Port(port.port));
                }
                if port.interface == other.interface {
                    return Some(Clash::Interface(port.interface.clone()));
                }
            }
        }
        for (i, (group, ports)) in self.groups.iter().enumerate() {
            if self.groups[..i].iter().any(|(other, _)| other == group) {
                return Some(Clash::Group(*group));
            }
            if ports.len() > control::MOST_REPLICAS {
                return Some(Clash::TooMany { group: *group });
            }
            let mut ports = ports.iter().map(|replica| replica.port);
            let stray = ports.find(|port| all.iter().all(|known| known.port != *port));
            if let Some(port) = stray {
                return Some(Clash::NotAPort {
                    group: *group,
                    port,
                });
            }
        }
        None
    }
}

impl Clash {
    /// Returns the conflict in words.
    pub fn message(&self) -> String {
        match self {
            Clash::Port(port) => format!("port {port} is given twice"),
            Clash::Interface(name) => format!("interface {name} is given twice"),
            Clash::Group(group) => format!("multicast group {group} is given twice"),
            Clash::NotAPort { group, port } => {
                format!("multicast group {group} has port {port}, which has no interface")
            }
            Clash::TooMany { group } => format!(
                "multicast group {group} has more than {} ports",
                control::MOST_REPLICAS
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(port: u32, interface: &str) -> PortSpec {
        PortSpec {
            port,
            interface: interface.into(),
        }
    }

    #[test]
    fn every_port_and_interface_stands_once_and_groups_have_ports_only() {
        let mut ports = Ports {
            dev: vec!["a".into()],
            numbered: vec![port(1, "b")],
            reach: vec![port(7, "c")],
            groups: vec![(1, Replica::to_ports([0, 7])), (2, vec![])],
        };
        assert_eq!(ports.clash(), None);
        ports.groups[1].1 = Replica::to_ports([3]);
        assert_eq!(ports.clash(), Some(Clash::NotAPort { group: 2, port: 3 }));
        ports.groups[1] = (1, vec![]);
        assert_eq!(ports.clash(), Some(Clash::Group(1)));
        ports.groups[1] = (3, Replica::to_ports([0; 65]));
        assert_eq!(ports.clash(), Some(Clash::TooMany { group: 3 }));
        ports.reach = vec![port(7, "b")];
        assert_eq!(ports.clash(), Some(Clash::Interface("b".into())));
        ports.reach = vec![port(1, "c")];
        assert_eq!(ports.clash(), Some(Clash::Port(1)));
    }
}
