//! Maps that copies of packets need.

use super::rounds::{comes_in_again, kept_vars};
pub(super) use crate::abi::ROUNDS_MAP as ROUNDS;
use crate::abi::{MapAbi, MapKind};
use crate::copies::{STATE, STATES};
use crate::emitter::Gen;
use arch::v1model::traffic::LIMITS;
use cgen::tree::{Expr as C, Item, Type};
use emit::record::Record;

/// Struct of the preserved fields of a packet that re-enters the program, and its map.
pub(super) const ROUND: &str = "packet_round";
/// `sizeof(struct traffic)` of `onpath/traffic.h`.
const TRAFFIC_BYTES: u32 = 8 + 4 * 8 + 24 * (1 + LIMITS.waiting);
/// Number of packets that may be on their way to their next round; the oldest are evicted.
const MOST_ON_THEIR_WAY: u32 = 1 << 14;
/// `sizeof(struct round)` of `onpath/traffic.h`.
const ROUND_BYTES: u32 = 32;

pub(super) fn declare(g: &mut Gen<'_>) {
    let mut record = Record::default();
    let begins = Type::Struct("round".into());
    record.add(begins, "begins", ROUND_BYTES, 8, "");
    for (var, member) in kept_vars(g) {
        let width = g.p.vars[var].ty.width();
        let (ty, size, align) = match width {
            0..=32 => (Type::U32, 4, 4),
            33..=64 => (Type::U64, 8, 8),
            _ => {
                let limbs = cgen::lower::limb_count(width);
                (Type::U64.array(limbs), 8 * limbs, 8)
            }
        };
        record.add(ty, member, size, align, &g.p.vars[var].name);
    }
    record.finish();
    let again = comes_in_again(g.p);
    let maps = &mut g.file.own.maps;
    let traffic = MapAbi::new("traffic_map", MapKind::PercpuArray, 4, TRAFFIC_BYTES, 1);
    maps.declare(traffic, Some((Type::U32, Type::Struct("traffic".into()))));
    if !again {
        return;
    }
    let size = record.size;
    let rounds = MapAbi::new(ROUNDS, MapKind::LruHash, 8, size, MOST_ON_THEIR_WAY);
    maps.declare(rounds, Some((Type::U64, Type::Struct(ROUND.into()))));
    none(g, ROUND, "no_round");
    g.file.declare_struct(&ROUND.into(), record.members);
}

/// Declares the constant of an empty struct.
fn none(g: &mut Gen<'_>, of: &str, name: &str) {
    g.file.own.maps.items.push(Item::Variable {
        ty: Type::Struct(of.into()),
        name: name.into(),
        init: Some(C::Init(Vec::new())),
        attribute: None,
        constant: true,
    });
}

/// Declares the map of the states with which copies begin. Each state has `bytes` bytes.
pub(crate) fn declare_states(g: &mut Gen<'_>, bytes: u32) {
    let map = MapAbi::new(STATES, MapKind::PercpuArray, 4, bytes, LIMITS.states);
    let types = Some((Type::U32, Type::Struct(STATE.into())));
    g.file.own.maps.declare(map, types);
    none(g, STATE, "no_state");
}
