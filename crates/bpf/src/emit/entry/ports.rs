//! The maps that lead from ports to interfaces and back.

use crate::abi::{MapAbi, MapKind};
use crate::emit::Gen;
use cgen::tree::{Block, Expr as C, Stmt, Type};

impl Gen<'_> {
    /// The port of the interface that a member of the context gives.
    pub(super) fn input_port(&mut self, place: C, interface: &str) -> Block {
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
                C::call(
                    "bpf_map_lookup_elem",
                    vec![C::Ident(map).addr(), C::id("interface").addr()],
                ),
            ),
            Stmt::Assign(place, either),
        ])]
    }
}
