//! Tables and their action profiles: the actions that a member may run, and the references that entries may contain.

use crate::{Action, ActionRef, ActionSchema, Field, Object, ObjectKind, Schema, Table, Type};

/// Gives each profile the actions of its tables, and each table the references that its entries may contain.
pub(super) fn connect(schema: &mut Schema) {
    let profiles = schema.objects.iter();
    let profiles = profiles.filter(|(_, object)| object.kind.profile().is_some());
    let profiles: Vec<Object> = profiles.map(|(profile, _)| profile).collect();
    for profile in profiles {
        let tables: Vec<Table> = schema.tables_of(profile).collect();
        let actions = common(schema, &tables);
        let object = &mut schema.objects[profile];
        let mut references = vec![reference(&object.name, "member")];
        match &mut object.kind {
            ObjectKind::ActionProfile(profile) => profile.actions = actions,
            ObjectKind::ActionSelector(selector) => {
                selector.actions = actions;
                references.push(reference(&object.name, "group"));
            }
            _ => {}
        }
        for table in tables {
            schema.tables[table].references.clone_from(&references);
        }
    }
}

/// Returns the actions that all of these tables allow in entries, in the order of the first table.
fn common(schema: &Schema, tables: &[Table]) -> Vec<Action> {
    let allowed = |table: &Table| {
        let listed = schema.tables[*table].actions.iter();
        listed.filter(|listed: &&ActionRef| !listed.default_only)
    };
    let Some((first, others)) = tables.split_first() else {
        return Vec::new();
    };
    let everywhere = |action: &Action| {
        let mut others = others.iter();
        others.all(|table| allowed(table).any(|listed| listed.action == *action))
    };
    let actions = allowed(first).map(|listed| listed.action);
    actions.filter(everywhere).collect()
}

/// Returns the reference that an entry may have in place of an action: `PROFILE.member(id)` or `PROFILE.group(id)`.
fn reference(profile: &str, what: &str) -> ActionSchema {
    ActionSchema {
        id: 0,
        name: format!("{profile}.{what}").into(),
        params: vec![Field::new("id", Type::bit(32))],
        annotations: Vec::new(),
    }
}
