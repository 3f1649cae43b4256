//! The maps that copies of packets need.

use super::rounds::{comes_in_again, kept_vars};
use super::{THIS, id, look_up};
pub(super) use crate::abi::ROUNDS_MAP as ROUNDS;
use crate::abi::{MapAbi, MapKind};
use crate::target::Gen;
use arch::v1model::traffic::LIMITS;
use cgen::tree::{Block, Expr as C, Item, Stmt, Type};
use emit::record::Record;

/// The struct of what a copy begins with, and its map.
pub(crate) const STATE: &str = "packet_state";
pub(super) const STATES: &str = "packet_states";
/// The struct of what is kept of a packet that comes in again, and its map.
pub(super) const ROUND: &str = "packet_round";
/// `sizeof(struct traffic)` of `onpath/traffic.h`.
const TRAFFIC_BYTES: u32 = 8 + 4 * 8 + 24 * (1 + LIMITS.waiting);
/// How many may be on their way to their next round: the oldest are forgotten.
const MOST_ON_THEIR_WAY: u32 = 1 << 14;
/// `sizeof(struct round)` there.
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

/// What a struct is that has nothing in it.
fn none(g: &mut Gen<'_>, of: &str, name: &str) {
    g.file.own.maps.items.push(Item::Variable {
        ty: Type::Struct(of.into()),
        name: name.into(),
        init: Some(C::Init(Vec::new())),
        attribute: None,
        constant: true,
    });
}

/// The map of what copies begin with, of so many bytes each.
pub(crate) fn declare_states(g: &mut Gen<'_>, bytes: u32) {
    let map = MapAbi::new(STATES, MapKind::PercpuArray, 4, bytes, LIMITS.states);
    let types = Some((Type::U32, Type::Struct(STATE.into())));
    g.file.own.maps.declare(map, types);
    none(g, STATE, "no_state");
}

/// What is in memory: by which name, its type, in which map.
const IN_MEMORY: [(&str, &str, &str); 2] =
    [(THIS, STATE, STATES), (TRAFFIC, TRAFFIC, "traffic_map")];
const TRAFFIC: &str = "traffic";
/// The macro that is about it without naming it.
const LENGTH: &str = "packet_length";

/// Whether a variable points to memory that a function can find by itself.
pub(crate) fn is_fetched(name: &str) -> bool {
    IN_MEMORY.iter().any(|(known, ..)| *known == name)
}

/// Finds the memory that a function uses, whose names and calls are known, by a variable that is zero. Without it, the
/// function returns `refused`. If everything is to be `kept` there, each access to what the packet is now is one of memory, as
/// [`fetch_scratch`](crate::storage::fetch_scratch) has it.
pub(crate) fn fetch(zero: &C, refused: &C, kept: bool, uses: impl Fn(&str) -> bool) -> Block {
    let mut out = Block::new();
    let is_used = |name: &str| uses(name) || name == TRAFFIC && uses(LENGTH);
    for (name, of, map) in IN_MEMORY.into_iter().filter(|(name, ..)| is_used(name)) {
        let stop = vec![Stmt::Return(Some(refused.clone()))];
        let found = look_up(map, zero.clone());
        let ty = match kept && name == THIS {
            true => Type::Named(format!("volatile struct {of}").into()),
            false => Type::Struct(of.into()),
        };
        out.push(Stmt::decl(ty.ptr(), name, found));
        out.push(Stmt::If(C::not(id(name)), stop, Block::new()));
    }
    out
}
