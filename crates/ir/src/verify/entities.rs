//! Checks of declarations: ids that exist, layouts, stacks, tables and their entries, the pipeline.

use super::Errors;
use crate::*;
use cranelift_entity::{EntityRef, PrimaryMap};
use diag::Span;
use std::collections::{HashMap, HashSet};

/// Checks that every id outside code and every operand of an expression exists.
pub(super) fn ids(program: &Program, errors: &mut Errors) {
    let p = program;
    errors.enter("expressions".to_owned(), Span::NONE);
    for (id, data) in &p.exprs {
        errors.span = data.span;
        expr_ids(p, id, data, errors);
    }
    let ty = |ty: Type| match ty {
        Type::Enum(id) => p.enums.is_valid(id),
        _ => true,
    };
    for data in p.header_types.values() {
        errors.enter(format!("header type {}", data.name), Span::NONE);
        let known = data.fields.iter().all(|f| ty(f.ty));
        errors.check(known, || "a field's enum does not exist".to_owned());
    }
    for data in p.vars.values() {
        errors.enter(format!("variable {}", data.name), data.span);
        errors.check(ty(data.ty), || "its enum does not exist".to_owned());
    }
    for data in p.headers.values() {
        errors.enter(format!("header {}", data.name), data.span);
        exists(&p.header_types, data.ty, errors);
    }
    for data in p.stacks.values() {
        errors.enter(format!("stack {}", data.name), Span::NONE);
        exists(&p.vars, data.next, errors);
        for &elem in &data.elems {
            exists(&p.headers, elem, errors);
        }
    }
    for data in p.externs.values() {
        errors.enter(format!("extern object {}", data.name), data.span);
        for (_, value) in &data.args {
            ctor_value_ids(p, value, errors);
        }
        for (_, routine) in &data.implementations {
            exists(&p.routines, *routine, errors);
        }
        for (i, scalars) in data.type_args.iter().enumerate() {
            one_each(data.type_arg_declared.get(i), scalars.len(), errors);
        }
    }
    for data in p.actions.values() {
        errors.enter(format!("action {}", data.name), data.span);
        one_each(Some(&data.declared), data.params.len(), errors);
        for &param in &data.params {
            exists(&p.vars, param, errors);
        }
    }
    for data in p.value_sets.values() {
        errors.enter(format!("value set {}", data.name), data.span);
        one_each(Some(&data.declared), data.fields.len(), errors);
    }
    for data in p.tables.values() {
        errors.enter(format!("table {}", data.name), data.span);
        for key in &data.keys {
            exists(&p.exprs, key.expr, errors);
        }
        for action in &data.actions {
            exists(&p.actions, action.action, errors);
        }
        for (_, value) in &data.properties {
            ctor_value_ids(p, value, errors);
        }
    }
    for data in p.routines.values() {
        errors.enter(format!("routine {}", data.name), data.span);
        for param in &data.params {
            match *param {
                Param::In(v) | Param::Out(v) | Param::InOut(v) => exists(&p.vars, v, errors),
                Param::HeaderIn(h) | Param::HeaderOut(h) | Param::HeaderInOut(h) => {
                    exists(&p.headers, h, errors);
                }
            }
        }
    }
    for data in p.parsers.values() {
        errors.enter(format!("parser {}", data.name), data.span);
        exists(&data.states, data.start, errors);
    }
    errors.enter("pipeline".to_owned(), Span::NONE);
    for block in &p.blocks {
        match block.body {
            BlockBody::Parser(id) => exists(&p.parsers, id, errors),
            BlockBody::Control(id) | BlockBody::Deparser(id) => exists(&p.routines, id, errors),
        }
    }
    for slot in &p.slots {
        slot.vars
            .iter()
            .for_each(|&(_, v)| exists(&p.vars, v, errors));
        slot.headers
            .iter()
            .for_each(|&(_, h)| exists(&p.headers, h, errors));
    }
    for list in &p.field_lists {
        list.vars.iter().for_each(|&v| exists(&p.vars, v, errors));
    }
}

pub(super) fn exists<K: EntityRef + std::fmt::Display, V>(
    map: &PrimaryMap<K, V>,
    id: K,
    errors: &mut Errors,
) {
    errors.check(map.is_valid(id), || format!("{id} does not exist"));
}

/// Checks that each scalar has a declaration.
fn one_each(declared: Option<&Vec<Declared>>, scalars: usize, errors: &mut Errors) {
    let declared = declared.map_or(0, Vec::len);
    errors.check(declared == scalars, || {
        format!("{declared} declarations for {scalars} scalars")
    });
}

fn expr_ids(program: &Program, id: Expr, data: &ExprData, errors: &mut Errors) {
    // This also prevents cyclic expressions.
    let before = visit::operands(&data.kind).all(|operand| operand < id);
    errors.check(before, || {
        format!("{id} has an operand that is not before it")
    });
    if let Type::Enum(ty) = data.ty {
        exists(&program.enums, ty, errors);
    }
    match data.kind {
        ExprKind::Var(var) => exists(&program.vars, var, errors),
        ExprKind::Field(header, _) | ExprKind::IsValid(header) => match header {
            HeaderRef::Header(header) => exists(&program.headers, header, errors),
            HeaderRef::Element(stack, _) => exists(&program.stacks, stack, errors),
        },
        _ => {}
    }
}

fn ctor_value_ids(program: &Program, value: &CtorValue, errors: &mut Errors) {
    match *value {
        CtorValue::Member(id, _) => exists(&program.enums, id, errors),
        CtorValue::Extern(id) => exists(&program.externs, id, errors),
        _ => {}
    }
}

/// Checks declarations.
pub(super) fn check(program: &Program, errors: &mut Errors) {
    for data in program.header_types.values() {
        errors.enter(format!("header type {}", data.name), Span::NONE);
        let mut varbits = 0;
        let mut names = HashSet::new();
        for field in &data.fields {
            varbits += u32::from(matches!(field.ty, Type::Varbit(_)));
            errors.check(names.insert(&field.name), || {
                format!("two fields are called `{}`", field.name)
            });
            errors.check(!matches!(field.ty, Type::Error | Type::Enum(_)), || {
                format!("field `{}` has no layout", field.name)
            });
        }
        errors.check(varbits <= 1, || "more than one varbit field".to_owned());
    }
    for data in program.stacks.values() {
        errors.enter(format!("stack {}", data.name), Span::NONE);
        let mut types = data.elems.iter().map(|&h| program.headers[h].ty);
        let first = types.next();
        errors.check(types.all(|ty| Some(ty) == first), || {
            "elements of different types".to_owned()
        });
        let distinct: HashSet<_> = data.elems.iter().collect();
        errors.check(distinct.len() == data.elems.len(), || {
            "an element occurs twice".to_owned()
        });
        errors.check(program.vars[data.next].ty == Type::bit(32), || {
            "its next index is not bit<32>".to_owned()
        });
    }
    for data in program.tables.values() {
        errors.enter(format!("table {}", data.name), data.span);
        table(program, data, errors);
    }
    errors.enter("pipeline".to_owned(), Span::NONE);
    let mut names = HashSet::new();
    for block in &program.blocks {
        let name = &block.name;
        errors.check(names.insert(name), || {
            format!("two blocks are called `{name}`")
        });
        if let Some(routine) = block.body.routine() {
            let data = &program.routines[routine];
            errors.check(data.params.is_empty(), || {
                format!("the routine of block `{name}` has parameters")
            });
        }
    }
    let mut names = HashSet::new();
    let mut kinds = HashMap::new();
    for slot in &program.slots {
        errors.check(names.insert(&slot.name), || {
            format!("two slots are called `{}`", slot.name)
        });
        for &(_, var) in &slot.vars {
            errors.check(*kinds.entry(var).or_insert(slot.kind) == slot.kind, || {
                format!(
                    "`{}` is in an intrinsic slot and in another",
                    program.vars[var].name
                )
            });
        }
    }
    let mut numbers = HashSet::new();
    for list in &program.field_lists {
        errors.check(numbers.insert(list.number), || {
            format!("two field lists have the number {}", list.number)
        });
        let distinct: HashSet<_> = list.vars.iter().collect();
        errors.check(distinct.len() == list.vars.len(), || {
            format!("field list {} has a variable twice", list.number)
        });
    }
}

fn table(program: &Program, table: &TableData, errors: &mut Errors) {
    action_call(program, table, &table.default_action, true, errors);
    let widths: Vec<_> = table
        .keys
        .iter()
        .map(|key| program.ty(key.expr).width())
        .collect();
    for key in &table.keys {
        let ty = program.ty(key.expr);
        errors.check(!matches!(ty, Type::Varbit(_)), || {
            format!("key `{}` is a varbit", key.name)
        });
        errors.check(
            matches!(ty, Type::Bits { .. })
                || !matches!(key.kind, MatchKind::Lpm | MatchKind::Range),
            || format!("key `{}` is no number", key.name),
        );
    }
    let ordered = table.keys.iter().any(|key| {
        matches!(
            key.kind,
            MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
        )
    });
    let mut priorities = HashSet::new();
    for (i, entry) in table.entries.iter().enumerate() {
        action_call(program, table, &entry.action, false, errors);
        errors.check(!ordered || priorities.insert(entry.priority), || {
            format!("entry {i} has another's priority")
        });
        errors.check(entry.keys.len() == table.keys.len(), || {
            format!("entry {i} has {} keys", entry.keys.len())
        });
        for ((key, found), &width) in table.keys.iter().zip(&entry.keys).zip(&widths) {
            let signed = types::is_signed(program.ty(key.expr));
            errors.check(key_match(key.kind, found, width, signed), || {
                format!("entry {i} has {found:?} for key `{}`", key.name)
            });
        }
    }
}

fn key_match(kind: MatchKind, found: &KeyMatch, width: u32, signed: bool) -> bool {
    match (found, kind) {
        (KeyMatch::Exact(value), MatchKind::Exact | MatchKind::Optional) => value.width() == width,
        (KeyMatch::Lpm(value, len), MatchKind::Lpm) => {
            let free = width.saturating_sub(*len);
            let low = value.value().trailing_zeros();
            value.width() == width && *len <= width && low.is_none_or(|zeros| zeros >= free.into())
        }
        (KeyMatch::Ternary(value, mask), MatchKind::Ternary) => {
            let inside = value.value() & mask.value() == *value.value();
            value.width() == width && mask.width() == width && inside
        }
        (KeyMatch::Range(lo, hi), MatchKind::Range) => {
            lo.width() == width && hi.width() == width && lo.to_int(signed) <= hi.to_int(signed)
        }
        (KeyMatch::Any, kind) => kind != MatchKind::Exact,
        _ => false,
    }
}

fn action_call(
    program: &Program,
    table: &TableData,
    call: &ActionCall,
    is_default: bool,
    errors: &mut Errors,
) {
    let Some(listed) = table.actions.get(call.action as usize) else {
        errors.add(format!("no action has index {}", call.action));
        return;
    };
    let action = &program.actions[listed.action];
    let forbidden = if is_default {
        listed.table_only
    } else {
        listed.default_only
    };
    errors.check(!forbidden, || format!("`{}` may not run here", action.name));
    let widths = call.args.iter().map(Bits::width);
    let expected = action.params.iter().map(|&p| program.vars[p].ty.width());
    errors.check(widths.eq(expected), || {
        format!("wrong arguments for `{}`", action.name)
    });
}
