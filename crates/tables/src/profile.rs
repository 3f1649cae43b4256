//! Action profiles and selectors: entries that refer to a member, or to a group of which a hash chooses a member.
//!
//! A member is stored in the layout of its table's entries, so that one switch runs both. A group is a list of members.
//! Each is one element of a hash map, which packets see as a whole.

use crate::describe;
use crate::shared::Groups;
use crate::target::Tables;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::record::Record;
use emit::table::value::{REFERENCE_ID, ValueLayout};
use emit::table::{ACTION_SELECTOR, Value, profile_of, property};
use emit::{Event, Gen, errors, memory};
use externs::hash::Algorithm;
use ir::{CtorValue, Expr, ExternInst, MatchKind, Program, TableData};
use layout::{
    ActionAbi, ByteOrder, FieldAbi, KeyAbi, LookupAbi, MOST_MEMBERS_OF_A_GROUP, Map, MapKind,
    MemberGroupsAbi, ValueAbi,
};
use smol_str::SmolStr;

/// Action profile of a table.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// Map of members.
    members: SmolStr,
    /// Struct of a member.
    value: SmolStr,
    /// Action number of an entry that refers to a member. An entry that refers to a group has the next number.
    number: u64,
    /// Members of the struct for both references, each of which holds an id.
    references: Vec<SmolStr>,
    /// Groups, and the algorithm that chooses a member of one.
    groups: Option<(Groups, Algorithm)>,
}

/// Declares the members and groups of a table's profile, if it has one. `value` is the layout of the table's entries.
pub(crate) fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    data: &TableData,
    short: &str,
    value: &Value,
) -> Option<(Profile, LookupAbi)> {
    let object = profile_of(g.p, data)?;
    let groups = match property(g.p, data, ACTION_SELECTOR) {
        None => None,
        Some(selector) => Some((groups(g, selector), algorithm(g, selector, data)?)),
    };
    let members = g.file.names.fresh_short(short, "_members", T::MAP_NAME);
    let ValueLayout { size, actions, .. } = &value.layout;
    let of_members = map(&members, *size, size_of(g.p, object));
    let value_type = CType::Struct(value.name.clone());
    memory::declare(g, of_members, Some((CType::U32, value_type)));
    let references = &actions[data.actions.len()..];
    let profile = Profile {
        members: members.clone(),
        value: value.name.clone(),
        number: data.actions.len() as u64 + 1,
        references: references.iter().map(|r| r.member.clone()).collect(),
        groups,
    };
    let abi = by_number(&members, describe::value(g.p, data, &value.layout));
    Some((profile, abi))
}

/// Describes a look-up by number.
fn by_number(map: &SmolStr, value: ValueAbi) -> LookupAbi {
    LookupAbi::Hash {
        map: map.to_string(),
        key: KeyAbi {
            size: 4,
            fields: vec![word("number", 0)],
        },
        value,
    }
}

fn word(name: &str, offset: u32) -> FieldAbi {
    FieldAbi {
        name: name.into(),
        offset,
        size: 4,
        width: 32,
        order: ByteOrder::Host,
    }
}

/// Returns the capacity of a profile: of its members, and of its groups.
fn size_of(p: &Program, object: ExternInst) -> u32 {
    let size = p.externs[object].int_arg("size");
    size.and_then(|n| u32::try_from(n).ok())
        .unwrap_or(u32::MAX)
        .max(1)
}

/// Returns a hash map whose key is a number.
fn map(name: &SmolStr, value_size: u32, max_entries: u32) -> Map {
    Map::new(
        name.as_str(),
        MapKind::Hash,
        4,
        value_size,
        max_entries.into(),
    )
}

/// Returns the map of a selector's groups, declared on first use.
fn groups<T: Tables>(g: &mut Gen<'_, T>, selector: ExternInst) -> Groups {
    if let Some(known) = T::tables(&mut g.file.own).member_groups.get(&selector) {
        return known.clone();
    }
    let name = g.p.externs[selector].name.clone();
    let map_name = g.file.names.fresh_short(&name, "_groups", T::MAP_NAME);
    let group = g.file.names.fresh(&format!("{map_name}_group"));
    let mut record = Record::default();
    record.add(CType::U32, "present", 4, 4, "");
    record.add(CType::U32, COUNT, 4, 4, "");
    let most = MOST_MEMBERS_OF_A_GROUP;
    record.add(CType::U32.array(most), MEMBER, 4 * most, 4, "");
    g.file.declare_struct(&group, record.members);
    let members = FieldAbi {
        size: 4 * most,
        width: 32 * most,
        order: ByteOrder::Network,
        ..word(MEMBER, 8)
    };
    let of_groups = Map {
        // Few groups have the maximum number of members.
        on_demand: true,
        ..map(&map_name, record.size, size_of(g.p, selector))
    };
    let group_type = CType::Struct(group.clone());
    memory::declare(g, of_groups, Some((CType::U32, group_type)));
    let kept = T::kept(&mut g.file.own);
    kept.contents.member_groups.push(MemberGroupsAbi {
        index: selector.as_u32(),
        groups: by_number(
            &map_name,
            ValueAbi {
                size: record.size,
                priority_offset: None,
                action_offset: 0,
                number_offset: None,
                actions: vec![ActionAbi {
                    name: "group".into(),
                    params: vec![word(COUNT, 4), members],
                }],
            },
        ),
    });
    let groups = Groups {
        map: map_name,
        group,
    };
    let shared = T::tables(&mut g.file.own);
    shared.member_groups.insert(selector, groups.clone());
    groups
}

/// Members of a group's struct.
const COUNT: &str = "count";
const MEMBER: &str = "member";

/// Returns the algorithm that a selector's constructor names. `None` if the program is refused.
fn algorithm<T: Tables>(
    g: &mut Gen<'_, T>,
    selector: ExternInst,
    data: &TableData,
) -> Option<Algorithm> {
    let args = g.p.externs[selector].args.iter();
    let members = args.filter_map(|(_, value)| match value {
        CtorValue::Member(of, member) => g.p.enums[*of].members.get(*member as usize),
        _ => None,
    });
    let mut named = members.filter_map(|name| Algorithm::of_member(name));
    let algorithm = named.next_back().unwrap_or(Algorithm::Crc16);
    if algorithm == Algorithm::Random {
        let target = g.target.name();
        let refusal = errors::algorithm(
            target,
            "random",
            "selector keys",
            "use another, such as `HashAlgorithm.crc16`",
            data.span,
        );
        g.refuse(refusal);
        return None;
    }
    Some(algorithm)
}

const _: () = assert!(MOST_MEMBERS_OF_A_GROUP.is_power_of_two());

/// Emits the resolution of a reference: replaces an entry that refers to a member or group by that member, or by null.
pub(crate) fn follow<T: Tables>(
    g: &mut Gen<'_, T>,
    profile: &Profile,
    data: &TableData,
    entry: &C,
) {
    let id = |name: &SmolStr| C::Ident(name.clone());
    let [from, member] = ["reference", "member"].map(|wish| g.file.names.fresh(wish));
    let number = || id(&from).arrow("action");
    let reference = |which: usize| {
        let variant = profile.references[which].clone();
        id(&from).arrow(variant).member(REFERENCE_ID)
    };
    let find = || {
        let found = T::find(&profile.members, id(&member).addr());
        Stmt::Assign(entry.clone(), found)
    };
    let leads = g.block(|g| {
        let ty = CType::Struct(profile.value.clone()).ptr();
        g.push(Stmt::decl(ty, from.clone(), entry.clone()));
        g.push(Stmt::decl(CType::U32, member.clone(), reference(0)));
        match &profile.groups {
            None => g.push(find()),
            Some((groups, algorithm)) => {
                let chosen = g.block(|g| {
                    g.push(Stmt::Assign(entry.clone(), C::id("NULL")));
                    g.push(Stmt::Assign(id(&member), reference(1)));
                    choose(g, groups, *algorithm, data, &member, find());
                });
                let is_member = C::bin(BinOp::Eq, number(), C::int(profile.number));
                g.push(Stmt::If(is_member, vec![find()], chosen));
            }
        }
    });
    let own = C::bin(
        BinOp::Ge,
        entry.clone().arrow("action"),
        C::int(profile.number),
    );
    g.push(Stmt::If(own, leads, Block::new()));
}

/// Emits the choice of a group's member by hash, and runs `find` for it. The variable `member` holds the group's number
/// before, and the member's after.
fn choose<T: Tables>(
    g: &mut Gen<'_, T>,
    groups: &Groups,
    algorithm: Algorithm,
    data: &TableData,
    member: &SmolStr,
    find: Stmt,
) {
    let id = |name: &SmolStr| C::Ident(name.clone());
    let [group, at] = ["group", "at"].map(|wish| g.file.names.fresh(wish));
    let ty = CType::Struct(groups.group.clone()).ptr();
    let found = T::find(&groups.map, id(member).addr());
    g.push(Stmt::decl(ty, group.clone(), found));
    let inside = g.block(|g| {
        let keys = data.keys.iter();
        let selectors = keys.filter(|key| key.kind == MatchKind::Selector);
        let selectors: Vec<Expr> = selectors.map(|key| key.expr).collect();
        let Some(hash) = g.hash(algorithm, &selectors, data.span) else {
            return;
        };
        let count = id(&group).arrow(COUNT);
        let index = C::bin(BinOp::Mod, hash.cast(CType::U64), count);
        g.push(Stmt::decl(CType::U32, at.clone(), index));
        // No group has more members, but a checker cannot know that.
        g.on(Event::Computed(&id(&at)));
        let last = C::int((MOST_MEMBERS_OF_A_GROUP - 1).into());
        let within = C::bin(BinOp::And, id(&at), last);
        let chosen = id(&group).arrow(MEMBER).index(within);
        g.push(Stmt::Assign(id(member), chosen));
        g.push(find);
    });
    g.push(Stmt::If(id(&group), inside, Block::new()));
}
