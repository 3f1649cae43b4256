//! The schema of a program in IR.

mod objects;
mod profiles;

use crate::{
    ActionRef, ActionSchema, Annotation, DigestSchema, EnumSchema, Field, Format, KeySchema,
    Schema, TableSchema, Translation, ValueSetSchema,
};
use ir::{
    ActionData, CtorValue, Declared, Entry, ExprKind, MatchKind, Place, Program, StmtKind,
    TableData, Type, Var, visit,
};
use p4runtime::{Prefix, assign, of_siblings};

impl Schema {
    /// Derives a program's schema. Entity ids are those of the program, which passes preserve.
    pub fn of(program: &Program) -> Schema {
        let actions = program.actions.values();
        let action_ids = assign(
            Prefix::Action,
            actions.clone().map(|a| (&*a.name, given(&a.annotations))),
        );
        let tables = program.tables.values();
        let table_ids = assign(
            Prefix::Table,
            tables.clone().map(|t| (&*t.name, given(&t.annotations))),
        );
        let sets = program.value_sets.values();
        let set_ids = assign(
            Prefix::ValueSet,
            sets.clone().map(|s| (&*s.name, given(&s.annotations))),
        );
        let enums = program.enums.values().map(|data| EnumSchema {
            name: data.name.clone(),
            members: data.members.clone(),
        });
        let mut schema = Schema {
            arch: program.arch.clone(),
            errors: program.errors.clone(),
            enums: enums.collect(),
            actions: actions
                .zip(action_ids)
                .map(|(data, id)| action(program, data, id))
                .collect(),
            tables: tables
                .zip(table_ids)
                .map(|(data, id)| table(program, data, id))
                .collect(),
            objects: objects::all(program),
            value_sets: sets
                .zip(set_ids)
                .map(|(data, id)| value_set(data, id))
                .collect(),
            digests: digests(program),
            clones: program.copies,
        };
        profiles::connect(&mut schema);
        schema
    }
}

fn action(program: &Program, data: &ActionData, id: u32) -> ActionSchema {
    let params = data
        .params
        .iter()
        .zip(&data.declared)
        .zip(ids(&data.declared));
    ActionSchema {
        id,
        name: data.name.clone(),
        params: params
            .map(|((&var, declared), id)| {
                let data_of_var = &program.vars[var];
                Field {
                    port: is_port(program, data, var),
                    ..field(id, &data_of_var.name, data_of_var.ty, declared)
                }
            })
            .collect(),
        annotations: data.annotations.clone(),
    }
}

/// Returns true if the action assigns this parameter, perhaps cast, to the field that selects the output port.
fn is_port(program: &Program, action: &ActionData, param: Var) -> bool {
    const NAMES: [&str; 2] = ["output_port", "egress_spec"];
    let slots = program.slots.iter().flat_map(|slot| &slot.vars);
    let is_where = |name: &str| NAMES.contains(&name.rsplit('.').next().unwrap_or_default());
    let ports: Vec<Var> = slots
        .filter(|(name, _)| is_where(name))
        .map(|(_, var)| *var)
        .collect();
    let mut found = false;
    visit::walk_block(&action.body, &mut |stmt| {
        if let StmtKind::Assign {
            dst: Place::Var(to),
            value,
        } = &stmt.kind
        {
            let mut value = *value;
            while let ExprKind::Cast(inner) = program.exprs[value].kind {
                value = inner;
            }
            let is_param = matches!(program.exprs[value].kind, ExprKind::Var(var) if var == param);
            found |= is_param && ports.contains(to);
        }
    });
    found
}

fn table(program: &Program, data: &TableData, id: u32) -> TableSchema {
    let of_keys = data.keys.iter().map(|key| given(&key.declared.annotations));
    let keys = data.keys.iter().zip(of_siblings(of_keys));
    let keys = keys.map(|(key, id)| KeySchema {
        field: field(id, &key.name, program.exprs[key.expr].ty, &key.declared),
        kind: key.kind,
    });
    let actions = data.actions.iter().map(|listed| ActionRef {
        action: listed.action,
        default_only: listed.default_only,
        table_only: listed.table_only,
    });
    let objects = data
        .properties
        .iter()
        .filter_map(|(name, value)| match value {
            CtorValue::Extern(object) => Some((name.clone(), *object)),
            _ => None,
        });
    TableSchema {
        id,
        name: data.name.clone(),
        keys: keys.collect(),
        actions: actions.collect(),
        references: Vec::new(),
        default_action: data.default_action.clone(),
        const_default: data.const_default,
        entries: data
            .entries
            .iter()
            .map(|e| without_selectors(data, e))
            .collect(),
        const_entries: data.const_entries,
        size: data.size,
        objects: objects.collect(),
        annotations: data.annotations.clone(),
    }
}

fn value_set(data: &ir::ValueSetData, id: u32) -> ValueSetSchema {
    let fields = data
        .fields
        .iter()
        .zip(&data.declared)
        .zip(ids(&data.declared));
    ValueSetSchema {
        id,
        name: data.name.clone(),
        fields: fields
            .map(|(((name, ty, kind), declared), id)| KeySchema {
                field: field(id, name, *ty, declared),
                kind: *kind,
            })
            .collect(),
        size: data.size,
        annotations: data.annotations.clone(),
    }
}

fn digests(program: &Program) -> Vec<DigestSchema> {
    let names = program.digests.iter().map(|d| (d.name.as_str(), None));
    let ids = assign(Prefix::Digest, names);
    let all = program.digests.iter().zip(ids);
    all.map(|(data, id)| DigestSchema {
        id,
        name: data.name.clone(),
        fields: scalars(&data.fields, &data.declared, "value"),
    })
    .collect()
}

/// Returns the scalars of a type. `own` names the scalar if the type is not a struct.
fn scalars(all: &[(smol_str::SmolStr, Type)], declared: &[Declared], own: &str) -> Vec<Field> {
    let all = all.iter().zip(declared).zip(ids(declared));
    all.map(|(((name, ty), declared), id)| {
        let name = if name.is_empty() { own } else { name };
        field(id, name, *ty, declared)
    })
    .collect()
}

fn ids(declared: &[Declared]) -> Vec<u32> {
    of_siblings(declared.iter().map(|declared| given(&declared.annotations)))
}

/// Returns the id given by `@id`, if there is one.
fn given(annotations: &[Annotation]) -> Option<u32> {
    let id = annotations.iter().find(|a| a.name == "id")?;
    p4runtime::given(&id.values)
}

fn field(id: u32, name: &str, ty: Type, declared: &Declared) -> Field {
    let annotations = &declared.annotations;
    Field {
        id,
        name: name.into(),
        ty,
        type_name: declared.type_name.clone(),
        format: Format::of(annotations, ty),
        translation: Translation::of(annotations, ty),
        port: false,
        annotations: annotations.clone(),
    }
}

#[cfg(test)]
mod tests;

/// Returns a program's entry without matches for selector keys, as the control plane sees it.
pub fn without_selectors(table: &TableData, entry: &Entry) -> Entry {
    let all = entry.keys.iter().zip(&table.keys);
    let matched = all.filter(|(_, key)| key.kind != MatchKind::Selector);
    Entry {
        keys: matched.map(|(found, _)| found.clone()).collect(),
        ..entry.clone()
    }
}
