//! The maps that lead from ports to interfaces and back.

use crate::abi::{MOST_PORTS_OF_A_GROUP, MapAbi, MapKind, PortsAbi};
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
        let abi = self.port_map(MapKind::Hash);
        let types = Some((Type::U32, Type::U32));
        self.one_map(|ports| &mut ports.input, "input_ports", abi, types)
    }

    /// The address of the map from ports to interfaces, for redirects by XDP.
    pub(super) fn redirect_ports(&mut self) -> C {
        let abi = self.port_map(MapKind::DevmapHash);
        self.one_map(|ports| &mut ports.devmap, "ports", abi, None)
    }

    /// The address of the map from ports to interfaces.
    pub(super) fn egress_ports(&mut self) -> C {
        let abi = self.port_map(MapKind::Hash);
        let types = Some((Type::U32, Type::U32));
        self.one_map(|ports| &mut ports.egress, "ports", abi, types)
    }

    /// The address of the map from multicast groups to their ports.
    pub(super) fn groups(&mut self) -> C {
        let abi = MapAbi {
            value_size: 4 * (1 + MOST_PORTS_OF_A_GROUP),
            max_entries: MOST_GROUPS,
            no_prealloc: true,
            ..self.port_map(MapKind::Hash)
        };
        let types = Some((Type::U32, Type::Struct("port_group".into())));
        self.one_map(|ports| &mut ports.groups, "groups", abi, types)
    }

    /// A map from one number to another, with room for all ports; it has no name yet.
    fn port_map(&self, kind: MapKind) -> MapAbi {
        MapAbi {
            name: String::new(),
            kind,
            key_size: 4,
            value_size: 4,
            max_entries: self.options.max_ports,
            no_prealloc: false,
        }
    }

    /// The address of the map that a place of the description names. It is declared when it is first asked for.
    fn one_map(
        &mut self,
        place: fn(&mut PortsAbi) -> &mut Option<String>,
        wish: &str,
        abi: MapAbi,
        types: Option<(Type, Type)>,
    ) -> C {
        if let Some(map) = place(&mut self.maps.ports) {
            return C::id(map.as_str()).addr();
        }
        let name = self.names.fresh_map(wish, "");
        *place(&mut self.maps.ports) = Some(name.to_string());
        let abi = MapAbi {
            name: name.to_string(),
            ..abi
        };
        self.maps.declare(abi, types);
        C::Ident(name).addr()
    }
}
