//! Action profiles and selectors: actions of entries that refer to a member or a group.

use cranelift_entity::EntityRef;
use externs::hash::Algorithm;
use externs::{ExternState, Profile};
use ir::{ActionCall, Bits, CtorValue, MatchKind, Program, Table, Type};
use schema::{Object, Reference, Schema, TableSchema};

/// Action that runs, with the group and member through which it was found.
#[derive(Clone, Debug)]
pub(crate) struct Chosen<'a> {
    /// Index of the action in the table's list.
    pub action: u32,
    pub args: &'a [Bits],
    /// Group that the entry refers to.
    pub group: Option<u32>,
    /// Member that the entry refers to, or that was chosen from the group.
    pub member: Option<u32>,
}

impl Chosen<'_> {
    /// Returns an action of the table itself.
    pub(crate) fn own(call: &ActionCall) -> Chosen<'_> {
        Chosen {
            action: call.action,
            args: &call.args,
            group: None,
            member: None,
        }
    }
}

/// Action profile of a table.
#[derive(Debug)]
pub(super) struct TableProfile {
    object: Object,
    /// Schema of the table.
    schema: TableSchema,
    /// Index in the table's list of each action that a member may run.
    actions: Vec<u32>,
    /// Algorithm that chooses a group's member.
    algorithm: Algorithm,
}

/// Returns the action profile of a table, if it has one.
pub(super) fn of_table(program: &Program, schema: &Schema, table: Table) -> Option<TableProfile> {
    let object = schema.profile_of(table)?;
    let data = &schema.tables[table];
    let profile = schema.objects[object].kind.profile()?;
    let number = |action: &ir::Action| {
        let mut listed = data.actions.iter();
        listed.position(|listed| listed.action == *action)
    };
    let actions = profile.actions.iter().filter_map(number);
    let args = program.externs[object].args.iter();
    let algorithm = args.filter_map(|(_, value)| match value {
        CtorValue::Member(id, member) => program.enums[*id].members.get(*member as usize),
        _ => None,
    });
    let mut algorithms = algorithm.filter_map(|name| Algorithm::of_member(name));
    Some(TableProfile {
        object,
        schema: data.clone(),
        actions: actions.map(|number| number as u32).collect(),
        algorithm: algorithms.next_back().unwrap_or(Algorithm::Crc16),
    })
}

impl TableProfile {
    /// Resolves an entry's reference. `None` if its call is one of the table's own actions.
    pub(super) fn follow<'a>(
        &self,
        call: &ActionCall,
        kinds: &[(MatchKind, Type)],
        key: &[Bits],
        externs: &'a [ExternState],
    ) -> Option<Chosen<'a>> {
        let ExternState::Profile(profile) = &externs[self.object.index()] else {
            return None;
        };
        let (group, member) = match self.schema.reference(call)? {
            Reference::Member(member) => (None, member),
            Reference::Group(group) => (Some(group), self.choose(profile, group, kinds, key)?),
        };
        let call = profile.members.get(&member)?;
        Some(Chosen {
            action: *self.actions.get(call.action as usize)?,
            args: &call.args,
            group,
            member: Some(member),
        })
    }

    fn choose(
        &self,
        profile: &Profile,
        group: u32,
        kinds: &[(MatchKind, Type)],
        key: &[Bits],
    ) -> Option<u32> {
        let members = profile.groups.get(&group)?;
        let fields = kinds.iter().zip(key);
        let fields = fields.filter(|((kind, _), _)| *kind == MatchKind::Selector);
        let fields: Vec<Bits> = fields.map(|(_, value)| value.clone()).collect();
        members
            .get(self.algorithm.select(&fields, members.len()))
            .copied()
    }
}
