//! Emits of headers that the deparser itself changes afterwards.
//!
//! The packet is rebuilt at the end of the deparser, from the final values of its headers. A header that is a local
//! of the deparser can be emitted, changed and emitted again, so each of its emits gets a copy.

use crate::plan::header_facts::instances;
use ir::{
    Block, Header, HeaderData, HeaderRef, Place, Program, Routine, Stmt, StmtKind, visit,
    visit::Access,
};
use std::collections::HashSet;

/// Returns the program with a copy for each such emit; `None` if there is no such emit.
pub(crate) fn of_emits(program: &Program, deparser: Routine) -> Option<Program> {
    let mut emitted = HashSet::new();
    let mut changed = HashSet::new();
    visit::walk_block(&program.routines[deparser].body, &mut |stmt| {
        if let StmtKind::Emit(h) = stmt.kind {
            emitted.extend(instances(program, h));
        } else {
            let mut written = HashSet::new();
            writes(program, stmt, &mut written);
            changed.extend(written.intersection(&emitted));
        }
    });
    if changed.is_empty() {
        return None;
    }
    let mut copy = program.clone();
    let mut body = std::mem::take(&mut copy.routines[deparser].body);
    rewrite(&mut copy, &mut body, &changed);
    copy.routines[deparser].body = body;
    copy.number_stmts();
    Some(copy)
}

/// Collects the headers that a statement changes, also through the actions of a table.
fn writes(program: &Program, stmt: &Stmt, into: &mut HashSet<Header>) {
    visit::accesses(program, &stmt.kind, |access| match access {
        Access::Write(Place::Field(h, _)) | Access::WriteHeader(h) | Access::SetValidity(h, _) => {
            into.extend(instances(program, h));
        }
        _ => {}
    });
    if let StmtKind::Apply { table, .. } = stmt.kind {
        for action in &program.tables[table].actions {
            visit::walk_block(&program.actions[action.action].body, &mut |s| {
                writes(program, s, into);
            });
        }
    }
}

fn rewrite(program: &mut Program, block: &mut Block, changed: &HashSet<Header>) {
    for mut stmt in std::mem::take(block) {
        for inner in visit::blocks_mut(&mut stmt.kind) {
            rewrite(program, inner, changed);
        }
        if let StmtKind::Emit(HeaderRef::Header(h)) = stmt.kind
            && changed.contains(&h)
        {
            let of = &program.headers[h];
            let data = HeaderData {
                name: format!("{}_out", of.name).into(),
                ty: of.ty,
                span: of.span,
            };
            let own = HeaderRef::Header(program.headers.push(data));
            let kind = StmtKind::CopyHeader {
                dst: own,
                src: HeaderRef::Header(h),
            };
            block.push(Stmt::new(kind, stmt.span));
            stmt.kind = StmtKind::Emit(own);
        }
        block.push(stmt);
    }
}
