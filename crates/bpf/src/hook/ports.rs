//! Maps from ports to interfaces, and back.

use crate::abi::{MOST_PORTS_OF_A_GROUP, MapAbi, MapKind, PortsAbi};
use crate::context;
use crate::emitter::{Gen, needs};
use crate::maps::MAP_NAME;
use crate::uses::Construct;
use cgen::tree::{Block, Expr as C, Stmt, Type};

/// Largest number of multicast groups at a time.
const MOST_GROUPS: u32 = 1 << 16;

/// Sets `place` to the port of the interface that a member of the context gives.
pub(super) fn input_port(g: &mut Gen<'_>, place: C, interface: &str) -> Block {
    let map = input_ports(g);
    let number = C::Unary(cgen::tree::UnOp::Deref, Box::new(C::id("number")));
    let either = C::Cond(
        Box::new(C::id("number")),
        Box::new(number),
        Box::new(C::id("interface")),
    );
    vec![Stmt::Block(vec![
        Stmt::decl(Type::U32, "interface", context::get(interface)),
        Stmt::decl(
            Type::U32.ptr(),
            "number",
            C::call("bpf_map_lookup_elem", vec![map, C::id("interface").addr()]),
        ),
        Stmt::Assign(place, either),
    ])]
}

/// Returns the address of the map from interfaces to ports.
fn input_ports(g: &mut Gen<'_>) -> C {
    let abi = port_map(g, MapKind::Hash);
    let types = Some((Type::U32, Type::U32));
    one_map(g, |ports| &mut ports.input, "input_ports", abi, types)
}

/// Returns the address of the map from ports to interfaces, for redirects by XDP.
pub(super) fn redirect_ports(g: &mut Gen<'_>) -> C {
    needs(g, Construct::Redirects);
    let abi = port_map(g, MapKind::DevmapHash);
    one_map(g, |ports| &mut ports.devmap, "ports", abi, None)
}

/// Returns the address of the map from ports to interfaces.
pub(super) fn egress_ports(g: &mut Gen<'_>) -> C {
    let abi = port_map(g, MapKind::Hash);
    let types = Some((Type::U32, Type::U32));
    one_map(g, |ports| &mut ports.egress, "ports", abi, types)
}

/// Returns the address of the map from multicast groups to their ports.
pub(super) fn groups(g: &mut Gen<'_>) -> C {
    let abi = MapAbi {
        value_size: 4 * (1 + MOST_PORTS_OF_A_GROUP),
        max_entries: MOST_GROUPS,
        no_prealloc: true,
        mmapable: false,
        ..port_map(g, MapKind::Hash)
    };
    let types = Some((Type::U32, Type::Struct("port_group".into())));
    one_map(g, |ports| &mut ports.groups, "groups", abi, types)
}

/// Describes a map from one number to another, with room for all ports; it has no name yet.
fn port_map(g: &Gen<'_>, kind: MapKind) -> MapAbi {
    MapAbi {
        name: String::new(),
        kind,
        key_size: 4,
        value_size: 4,
        max_entries: g.target.options.max_ports,
        no_prealloc: false,
        mmapable: false,
    }
}

/// Returns the address of the map that a field of the description names. It is declared on first use.
fn one_map(
    g: &mut Gen<'_>,
    place: fn(&mut PortsAbi) -> &mut Option<String>,
    wish: &str,
    abi: MapAbi,
    types: Option<(Type, Type)>,
) -> C {
    if let Some(map) = place(&mut g.file.own.maps.ports) {
        return C::id(map.as_str()).addr();
    }
    let name = g.file.names.fresh_short(wish, "", MAP_NAME);
    *place(&mut g.file.own.maps.ports) = Some(name.to_string());
    let abi = MapAbi {
        name: name.to_string(),
        ..abi
    };
    g.file.own.maps.declare(abi, types);
    C::Ident(name).addr()
}
