//! Multicast groups of a switch. Egress runs for each copy and decides where it goes. Code that changes no copy runs
//! once after egress, and then the copies are sent.

use crate::abi::{MapAbi, MapKind};
use crate::emitter::{Copies, Gen};
use crate::hook::ports::groups;
use crate::hook::traffic::count_drop;
use crate::hook::v1model::{self, replicates};
use arch::v1model::traffic;
use arch::v1model::unicast::{INPUT, OUTPUT, REPLICA};
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use emit::locals::LocalKind;

/// Map of the destinations of copies.
const DESTINATIONS: &str = "destinations";
/// Bytes of `struct port_group` in `onpath/send.h`.
const DESTINATIONS_BYTES: u32 = 4 * (1 + crate::abi::MOST_PORTS_OF_A_GROUP);

const NEXT: &str = "next_copy";
const ALL: &str = "all_copies";

/// Emits the begin of the loop that runs egress for each copy.
pub(super) fn begin(g: &mut Gen<'_>) {
    if !replicates(g) {
        return;
    }
    declare(g);
    let [to, none, group, copies, copy] =
        ["to", "none", "group", "copies", "copy"].map(|wish| g.file.names.fresh(wish));
    let id = |name: &smol_str::SmolStr| C::Ident(name.clone());
    let look_up = |map: C, key: C| C::call("bpf_map_lookup_elem", vec![map, key.addr()]);
    let ty = Type::Struct("port_group".into()).ptr();
    g.push(Stmt::decl(Type::U32, none.clone(), C::int(0)));
    let found = look_up(C::id(DESTINATIONS).addr(), id(&none));
    g.push(Stmt::decl(ty.clone(), to.clone(), found));
    g.goto_reject(C::not(id(&to)));
    g.set(id(&to).arrow("count"), C::int(0));
    g.push(Stmt::decl(ty, group.clone(), C::id("NULL")));
    let dropped = v1model::dropped(g);
    g.push(Stmt::decl(
        Type::U32,
        copies.clone(),
        C::not(dropped.clone()),
    ));
    let asked = g.slot(OUTPUT, "mcast_grp");
    let of_group = g.block(|g| {
        let key = g.file.names.fresh("number");
        let number = g.slot(OUTPUT, "mcast_grp");
        g.push(Stmt::decl(Type::U32, key.clone(), number));
        let found = look_up(groups(g), C::Ident(key));
        g.set(id(&group), found);
        let count = C::choose(id(&group), id(&group).arrow("count"), C::int(0));
        g.set(id(&copies), count);
        let none = count_drop(g, "DROPPED_MULTICAST_GROUP");
        g.push(Stmt::If(C::not(id(&group)), vec![none], Vec::new()));
    });
    let drop = vec![count_drop(g, "DROPPED_DROP_PORT")];
    let of_none = vec![Stmt::If(dropped, drop, Vec::new())];
    g.push(Stmt::If(asked, of_group, of_none));
    g.push(Stmt::decl(Type::U32, copy.clone(), C::int(0)));
    g.push(Stmt::Label(NEXT.into()));
    g.kill_computed();
    let most = C::int(crate::abi::MOST_PORTS_OF_A_GROUP.into());
    let done = C::or(
        C::bin(BinOp::Ge, id(&copy), most),
        C::bin(BinOp::Ge, id(&copy), id(&copies)),
    );
    g.push(Stmt::goto_if(done, ALL));
    let port = id(&group).arrow("port").index(id(&copy));
    let spec = g.slot(OUTPUT, "egress_spec");
    let nine_bits = C::bin(BinOp::And, port, C::int(511));
    input(g, REPLICA[0], C::choose(id(&group), nine_bits, spec));
    let replicated = C::int(traffic::REPLICA.kind as u64);
    input(g, REPLICA[1], C::choose(id(&group), replicated, C::int(0)));
    g.target.copies = Some(Copies {
        destinations: id(&to),
        number: id(&copy),
    });
}

/// Emits the end of the loop.
pub(super) fn end(g: &mut Gen<'_>) {
    let Some(Copies {
        destinations,
        number,
    }) = g.target.copies.clone()
    else {
        return;
    };
    let dropped = v1model::dropped(g);
    let port = v1model::egress_port(g);
    let note = Stmt::Expr(C::call("add_destination", vec![destinations, port]));
    let drop = vec![count_drop(g, "DROPPED_DROP_PORT")];
    g.push(Stmt::If(dropped, drop, vec![note]));
    g.set(number.clone(), number.plus(1));
    g.push(Stmt::Goto(NEXT.into()));
    g.push(Stmt::Label(ALL.into()));
    g.kill_computed();
    g.target.extra_instructions += 60;
}

/// Sets metadata of the copy, if the program reads it.
fn input(g: &mut Gen<'_>, name: &str, value: C) {
    if let Some(var) = g.p.slot_var(INPUT, name) {
        let place = g.local(LocalKind::Var(var));
        g.set(place, value);
    }
}

fn declare(g: &mut Gen<'_>) {
    g.file.own.maps.declare(
        MapAbi {
            name: DESTINATIONS.into(),
            kind: MapKind::PercpuArray,
            key_size: 4,
            value_size: DESTINATIONS_BYTES,
            max_entries: 1,
            no_prealloc: false,
            mmapable: false,
        },
        Some((Type::U32, Type::Struct("port_group".into()))),
    );
}
