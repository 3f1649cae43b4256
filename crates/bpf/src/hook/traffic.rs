//! Maps of a traffic manager that copies packets and counts the packets that it loses.

use crate::abi::{MapAbi, TrafficAbi, drops_map, groups_map, sessions_map};
use crate::emitter::Gen;
use crate::maps::MAP_NAME;
use cgen::tree::{Expr as C, Stmt, Type};

/// Returns the address of the map from multicast groups to copies that differ.
pub(super) fn groups(g: &mut Gen<'_>) -> C {
    let value = Type::Struct("replica_group".into());
    one_map(g, |maps| &mut maps.groups, "groups", groups_map, value)
}

/// Returns the address of the map from clone sessions to their copies.
pub(super) fn sessions(g: &mut Gen<'_>) -> C {
    let value = Type::Struct("clone_session".into());
    one_map(
        g,
        |maps| &mut maps.sessions,
        "sessions",
        sessions_map,
        value,
    )
}

/// Returns the address of the map that counts losses.
pub(super) fn drops(g: &mut Gen<'_>) -> C {
    one_map(g, |maps| &mut maps.drops, "drops", drops_map, Type::U64)
}

/// Counts a packet or a copy that is dropped, for a reason by its name in `onpath/drops.h`.
pub(super) fn count_drop(g: &mut Gen<'_>, reason: &str) -> Stmt {
    Stmt::Expr(C::call("count_drop", vec![drops(g), C::id(reason)]))
}

/// Returns the address of the map that a field of the description names. It is declared on first use.
fn one_map(
    g: &mut Gen<'_>,
    place: fn(&mut TrafficAbi) -> &mut Option<String>,
    wish: &str,
    abi: fn(&str) -> MapAbi,
    value: Type,
) -> C {
    if let Some(map) = place(&mut g.file.own.maps.traffic) {
        return C::id(map.as_str()).addr();
    }
    let name = g.file.names.fresh_short(wish, "", MAP_NAME);
    *place(&mut g.file.own.maps.traffic) = Some(name.to_string());
    g.file
        .own
        .maps
        .declare(abi(&name), Some((Type::U32, value)));
    C::Ident(name).addr()
}
