//! Removes unreferenced expressions, variables, headers and routines.
//!
//! Guarantees: every remaining expression, variable, header and routine has a use. They are renumbered without gaps, in
//! the same order. Entities that the control plane knows (tables, actions, extern objects, value sets), enums, layouts,
//! stacks and slots keep their numbers.

use super::{all_bodies, body_mut};
use crate::visit::{self, Access, Map};
use crate::*;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

/// Runs the pass.
pub fn run(program: &mut Program) {
    let used = Used::new(program);
    let mut renaming = Renaming {
        vars: renumber(&mut program.vars, &used.vars),
        headers: renumber(&mut program.headers, &used.headers),
        exprs: SecondaryMap::new(),
    };
    let routines = renumber(&mut program.routines, &used.routines);
    for (id, mut data) in std::mem::take(&mut program.exprs) {
        if used.exprs[id] {
            // Operands come before the expressions that contain them, so they are already renamed.
            data.kind = renaming.kind(data.kind);
            renaming.exprs[id] = Some(program.exprs.push(data));
        }
    }
    for id in all_bodies(program) {
        visit::walk_block_mut(body_mut(program, id), &mut |stmt| {
            visit::map_stmt(&mut stmt.kind, &mut renaming);
            if let StmtKind::Call(routine, _) = &mut stmt.kind {
                *routine = new(&routines, *routine);
            }
        });
    }
    for routine in program.routines.values_mut() {
        for param in &mut routine.params {
            match param {
                Param::In(v) | Param::Out(v) | Param::InOut(v) => *v = renaming.var(*v),
                Param::HeaderIn(h) | Param::HeaderOut(h) | Param::HeaderInOut(h) => {
                    *h = new(&renaming.headers, *h);
                }
            }
        }
    }
    for parser in program.parsers.values_mut() {
        for state in parser.states.values_mut() {
            if let Transition::Select { keys, .. } = &mut state.transition {
                keys.iter_mut().for_each(|key| *key = renaming.expr(*key));
            }
        }
    }
    for table in program.tables.values_mut() {
        for key in &mut table.keys {
            key.expr = renaming.expr(key.expr);
        }
    }
    for action in program.actions.values_mut() {
        for param in &mut action.params {
            *param = renaming.var(*param);
        }
    }
    for stack in program.stacks.values_mut() {
        stack.next = renaming.var(stack.next);
        for elem in &mut stack.elems {
            *elem = new(&renaming.headers, *elem);
        }
    }
    for slot in &mut program.slots {
        for (_, var) in &mut slot.vars {
            *var = renaming.var(*var);
        }
        for (_, header) in &mut slot.headers {
            *header = new(&renaming.headers, *header);
        }
    }
    for list in &mut program.field_lists {
        list.vars
            .iter_mut()
            .for_each(|var| *var = renaming.var(*var));
    }
    for block in &mut program.blocks {
        if let BlockBody::Control(routine) | BlockBody::Deparser(routine) = &mut block.body {
            *routine = new(&routines, *routine);
        }
    }
    for object in program.externs.values_mut() {
        for (_, routine) in &mut object.implementations {
            *routine = new(&routines, *routine);
        }
    }
}

type NewIds<K> = SecondaryMap<K, Option<K>>;

/// Retains the used entities and returns their new indices.
fn renumber<K: EntityRef, V>(
    map: &mut PrimaryMap<K, V>,
    used: &SecondaryMap<K, bool>,
) -> NewIds<K> {
    let mut ids = SecondaryMap::new();
    for (id, data) in std::mem::take(map) {
        if used[id] {
            ids[id] = Some(map.push(data));
        }
    }
    ids
}

fn new<K: EntityRef>(ids: &NewIds<K>, id: K) -> K {
    // Every entity with a reference was marked as used.
    ids[id].unwrap_or(id)
}

#[derive(Default)]
struct Used {
    exprs: SecondaryMap<Expr, bool>,
    vars: SecondaryMap<Var, bool>,
    headers: SecondaryMap<Header, bool>,
    routines: SecondaryMap<Routine, bool>,
}

impl Used {
    fn new(program: &Program) -> Used {
        let mut used = Used::default();
        for stack in program.stacks.values() {
            used.vars[stack.next] = true;
            stack.elems.iter().for_each(|&h| used.headers[h] = true);
        }
        for slot in &program.slots {
            slot.vars.iter().for_each(|(_, v)| used.vars[*v] = true);
            slot.headers
                .iter()
                .for_each(|(_, h)| used.headers[*h] = true);
        }
        for list in &program.field_lists {
            list.vars.iter().for_each(|&v| used.vars[v] = true);
        }
        for action in program.actions.values() {
            action.params.iter().for_each(|&v| used.vars[v] = true);
            used.block(program, &action.body);
        }
        for table in program.tables.values() {
            table
                .keys
                .iter()
                .for_each(|key| used.expr(program, key.expr));
        }
        for parser in program.parsers.values() {
            for state in parser.states.values() {
                used.block(program, &state.body);
                if let Transition::Select { keys, .. } = &state.transition {
                    keys.iter().for_each(|&key| used.expr(program, key));
                }
            }
        }
        for block in &program.blocks {
            if let Some(routine) = block.body.routine() {
                used.routine(program, routine);
            }
        }
        for object in program.externs.values() {
            for &(_, routine) in &object.implementations {
                used.routine(program, routine);
            }
        }
        used
    }

    fn routine(&mut self, program: &Program, routine: Routine) {
        if std::mem::replace(&mut self.routines[routine], true) {
            return;
        }
        let data = &program.routines[routine];
        for &param in &data.params {
            match param {
                Param::In(v) | Param::Out(v) | Param::InOut(v) => self.vars[v] = true,
                Param::HeaderIn(h) | Param::HeaderOut(h) | Param::HeaderInOut(h) => {
                    self.headers[h] = true;
                }
            }
        }
        self.block(program, &data.body);
    }

    fn expr(&mut self, program: &Program, expr: Expr) {
        if std::mem::replace(&mut self.exprs[expr], true) {
            return;
        }
        let kind = &program.exprs[expr].kind;
        match *kind {
            ExprKind::Var(var) => self.vars[var] = true,
            ExprKind::Field(HeaderRef::Header(header), _)
            | ExprKind::IsValid(HeaderRef::Header(header)) => self.headers[header] = true,
            _ => {}
        }
        for operand in visit::operands(kind) {
            self.expr(program, operand);
        }
    }

    fn header(&mut self, header: HeaderRef) {
        if let HeaderRef::Header(header) = header {
            self.headers[header] = true;
        }
    }

    fn block(&mut self, program: &Program, block: &Block) {
        let mut called = Vec::new();
        visit::walk_block(block, &mut |stmt| {
            visit::accesses(program, &stmt.kind, |access| match access {
                Access::Eval(expr) => self.expr(program, expr),
                Access::Read(Place::Var(var)) | Access::Write(Place::Var(var)) => {
                    self.vars[var] = true;
                }
                Access::Read(Place::Field(header, _))
                | Access::Write(Place::Field(header, _))
                | Access::ReadHeader(header)
                | Access::WriteHeader(header)
                | Access::SetValidity(header, _) => self.header(header),
            });
            if let StmtKind::Call(routine, _) = stmt.kind {
                called.push(routine);
            }
        });
        for routine in called {
            self.routine(program, routine);
        }
    }
}

struct Renaming {
    vars: NewIds<Var>,
    headers: NewIds<Header>,
    exprs: NewIds<Expr>,
}

impl Renaming {
    fn kind(&mut self, kind: ExprKind) -> ExprKind {
        match kind {
            ExprKind::Var(var) => ExprKind::Var(self.var(var)),
            ExprKind::Field(header, field) => ExprKind::Field(self.header(header), field),
            ExprKind::IsValid(header) => ExprKind::IsValid(self.header(header)),
            operation => visit::map_operation(operation, |operand| self.expr(operand)),
        }
    }
}

impl Map for Renaming {
    fn expr(&mut self, expr: Expr) -> Expr {
        new(&self.exprs, expr)
    }

    fn header(&mut self, header: HeaderRef) -> HeaderRef {
        match header {
            HeaderRef::Header(header) => HeaderRef::Header(new(&self.headers, header)),
            HeaderRef::Element(stack, index) => HeaderRef::Element(stack, self.expr(index)),
        }
    }

    fn var(&mut self, var: Var) -> Var {
        new(&self.vars, var)
    }

    fn stack(&mut self, stack: Stack) -> Stack {
        stack
    }
}
