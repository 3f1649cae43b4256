//! The maps that lead from ports to interfaces and back.

use crate::abi::{MOST_PORTS_OF_A_GROUP, MapAbi, MapKind};
use crate::emit::Gen;
use cgen::tree::{Block, Expr as C, Stmt, Type};

/// Multicast groups that there may be at a time.
const MOST_GROUPS: u32 = 1 << 16;

impl Gen<'_> {
    /// The port of the interface that a member of the context gives.
    pub(super) fn input_port(&mut self, place: C, interface: &str) -> Block {
        let map = self.input_ports();
        let number = C::Unary(cgen::tree::UnOp::Deref, Box::new(C::id("number")));
        let either = C::Cond(
            Box::new(C::id("number")),
            Box::new(number),
            Box::new(C::id("interface")),
        );
        vec![Stmt::Block(vec![
            Stmt::decl(Type::U32, "interface", C::id("ctx").arrow(interface)),
            Stmt::decl(
                Type::U32.ptr(),
                "number",
                C::call("bpf_map_lookup_elem", vec![map, C::id("interface").addr()]),
            ),
            Stmt::Assign(place, either),
        ])]
    }

    /// The address of the map from interfaces to ports.
    fn input_ports(&mut self) -> C {
        if let Some(map) = &self.maps.ports.input {
            return C::id(map.as_str()).addr();
        }
        let map = self.names.fresh_map("input_ports", "");
        self.maps.declare(
            MapAbi {
                name: map.to_string(),
                kind: MapKind::Hash,
                key_size: 4,
                value_size: 4,
                max_entries: self.options.max_ports,
                no_prealloc: false,
            },
            Some((Type::U32, Type::U32)),
        );
        self.maps.ports.input = Some(map.to_string());
        C::Ident(map).addr()
    }

    /// The address of the map from ports to interfaces, for redirects by XDP.
    pub(super) fn redirect_ports(&mut self) -> C {
        if let Some(map) = &self.maps.ports.devmap {
            return C::id(map.as_str()).addr();
        }
        let map = self.names.fresh_map("ports", "");
        self.maps.declare(
            MapAbi {
                name: map.to_string(),
                kind: MapKind::DevmapHash,
                key_size: 4,
                value_size: 4,
                max_entries: self.options.max_ports,
                no_prealloc: false,
            },
            None,
        );
        self.maps.ports.devmap = Some(map.to_string());
        C::Ident(map).addr()
    }

    /// The address of the map from ports to interfaces.
    pub(super) fn egress_ports(&mut self) -> C {
        if let Some(map) = &self.maps.ports.egress {
            return C::id(map.as_str()).addr();
        }
        let map = self.names.fresh_map("ports", "");
        self.maps.declare(
            MapAbi {
                name: map.to_string(),
                kind: MapKind::Hash,
                key_size: 4,
                value_size: 4,
                max_entries: self.options.max_ports,
                no_prealloc: false,
            },
            Some((Type::U32, Type::U32)),
        );
        self.maps.ports.egress = Some(map.to_string());
        C::Ident(map).addr()
    }

    /// The address of the map from multicast groups to their ports.
    pub(super) fn groups(&mut self) -> C {
        if let Some(map) = &self.maps.ports.groups {
            return C::id(map.as_str()).addr();
        }
        let map = self.names.fresh_map("groups", "");
        self.maps.declare(
            MapAbi {
                name: map.to_string(),
                kind: MapKind::Hash,
                key_size: 4,
                value_size: 4 * (1 + MOST_PORTS_OF_A_GROUP),
                max_entries: MOST_GROUPS,
                no_prealloc: true,
            },
            Some((Type::U32, Type::Struct("port_group".into()))),
        );
        self.maps.ports.groups = Some(map.to_string());
        C::Ident(map).addr()
    }
}
