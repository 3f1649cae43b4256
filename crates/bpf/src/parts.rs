//! Long programs as several functions: see [`cgen::parts`]. Each is a global function, which the verifier checks once, from no matter where it
//! is called, and in which its limits for one sequence of jumps and clang's for one jump begin anew.

use crate::budget;
use crate::storage::fetch_scratch;
use crate::target::{GLOBAL_FUNC, Gen};
use cgen::parts::{FINISHED, Form, NUMBER, Part};
use cgen::tree::{Block, Expr as C, Stmt, Type};
use emit::Function;
use emit::locals::{Home, Local};
use smol_str::SmolStr;
use std::collections::HashSet;

/// Instructions that a statement of a program tends to become.
const STATEMENT: u32 = 25;

/// Functions of a program besides those of headers, of the 256 that the kernel lets it have.
const MOST_PARTS: usize = 220;

/// Where the packet begins and ends, which other variables and inputs begin with.
const PACKET: [&str; 2] = ["data", "data_end"];

/// The function that takes a lock. No function may be called until it is given back.
const LOCK: &str = "bpf_spin_lock";

/// How many statements lie between places where a function can be cut into parts of so many instructions.
pub(crate) fn statements(most: u32) -> u32 {
    most.div_ceil(8 * STATEMENT)
}

/// The variable in which a part leaves what the function is to return, if it is to be cut.
pub(crate) fn result(g: &mut Gen<'_>, locals: &mut Vec<Local>) -> Option<SmolStr> {
    // What runs for each copy of a packet is a loop around most of it.
    if g.target.options.parts.is_none() || g.plan.state.is_some() {
        return None;
    }
    let name = g.file.names.fresh("result");
    locals.push(Local {
        name: name.clone(),
        ty: Type::U32,
        init: Some(g.target.hook.refused(g.target.model)),
        home: Home::Memory,
    });
    Some(name)
}

/// Cuts parts out of a function's body, and declares them: how many. `before` comes in front of it.
pub(crate) fn cut(
    g: &mut Gen<'_>,
    body: &mut Block,
    (before, locals): (&Block, &mut Vec<Local>),
    result: &SmolStr,
) -> usize {
    let hook = g.target.hook;
    let context = hook.text().context;
    let declared = before.iter().filter_map(|stmt| match stmt {
        Stmt::Decl { name, .. } => Some(name.clone()),
        _ => None,
    });
    let given = hook.kept(true).into_iter().map(|(_, name)| name);
    let form = Form {
        variables: &locals.iter().map(|l| l.name.clone()).collect(),
        kept: &declared.chain(given).collect(),
        entered: &HashSet::from(["reject".into()]),
        most: g.target.options.parts.unwrap_or(u32::MAX),
        count: MOST_PARTS.saturating_sub(g.file.functions.len()),
        size: &budget::instructions,
        is_whole: &takes_lock,
        args: &[C::id("ctx")],
        result: C::id("scratch").arrow(result.clone()),
    };
    let names = &mut g.file.names;
    let (parts, number) = cgen::parts::cut(body, &form, &mut |wish| names.fresh(wish));
    let count = parts.len();
    for part in parts {
        let function = function(part, locals, context);
        g.file.functions.push(function);
    }
    // The pointers that only parts have are theirs.
    let used: HashSet<SmolStr> = cgen::tidy::names(body).into_iter().collect();
    let stays = |l: &Local| {
        !matches!(l.ty, Type::Ptr(_)) || PACKET.contains(&l.name.as_str()) || used.contains(&l.name)
    };
    locals.retain(stays);
    locals.extend(number.map(|name| Local {
        name,
        ty: NUMBER,
        init: Some(C::int(0)),
        home: Home::Function,
    }));
    count
}

fn function(part: Part, locals: &[Local], context: &str) -> Function {
    let mut body = Block::new();
    for local in locals.iter().filter(|l| part.variables.contains(&l.name)) {
        body.push(Stmt::Decl {
            ty: local.ty.clone(),
            name: local.name.clone(),
            init: None,
            align: None,
        });
    }
    body.extend(fetch_scratch(true, C::int(FINISHED)));
    body.extend(part.body);
    let packet = (Type::Struct(context.into()).ptr(), "ctx".into());
    let entered = part.entered.map(|name| (NUMBER, name));
    Function {
        linkage: GLOBAL_FUNC.into(),
        name: part.name,
        result: NUMBER,
        params: std::iter::once(packet).chain(entered).collect(),
        body,
    }
}

/// Whether a statement takes a lock, and gives it back.
fn takes_lock(stmt: &Stmt) -> bool {
    fn takes(block: &[Stmt]) -> bool {
        block.iter().any(|stmt| match stmt {
            Stmt::Expr(C::Call(callee, _)) => callee.name == LOCK,
            Stmt::If(_, yes, no) => takes(yes) || takes(no),
            Stmt::Block(block) => takes(block),
            _ => false,
        })
    }
    matches!(stmt, Stmt::Block(block) if takes(block))
}
