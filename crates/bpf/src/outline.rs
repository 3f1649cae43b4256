//! Outlining of long programs into several functions: see [`cgen::outline`]. Each is a global function, which the
//! verifier checks once, wherever it is called. The verifier's limit for one sequence of jumps, and clang's for one
//! jump, start afresh in each.
//!
//! The function that calls them may be split into several programs chained by tail calls, with some of the outlined
//! functions each. The verifier's limit for all functions together starts afresh in each program.

use crate::abi::PROGRAMS_MAP;
use crate::copies;
use crate::costs::{code, weights};
use crate::emitter::{GLOBAL_FUNC, Gen};
use crate::placed::{Placed, declare};
use cgen::outline::{Chain, FINISHED, NUMBER, OutlineOptions, OutlinedFunction};
use cgen::tree::{Block, Expr as C, Stmt, Type};
use emit::locals::{Home, Local};
use emit::{Function, Target};
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// Helper by which a program continues in another one.
const TAIL_CALL: &str = "bpf_tail_call";

/// Pointers to the packet's begin and end, from which other variables and inputs are initialised.
const PACKET: [&str; 2] = ["data", "data_end"];

/// Function that takes a lock. No function may be called until the lock is released.
const LOCK: &str = "bpf_spin_lock";

/// Declares the variable in which an outlined function leaves the function's return value, if functions are outlined.
pub(crate) fn result(g: &mut Gen<'_>, locals: &mut Vec<Local>) -> Option<SmolStr> {
    g.target.options.outline?;
    let name = g.file.names.fresh("result");
    locals.push(Local {
        name: name.clone(),
        ty: Type::U32,
        init: Some(g.target.hook.refused(g.target.model)),
        home: Home::Memory,
    });
    Some(name)
}

/// Functions that were outlined from a function.
#[derive(Default)]
pub(crate) struct Cut {
    /// Sizes of the outlined functions by name, each including the functions that it calls.
    sizes: HashMap<SmolStr, u64>,
    /// Variable for the number of the label at which the next function is entered, if it is used.
    number: Option<SmolStr>,
}

impl Cut {
    /// Returns their number.
    pub(crate) fn count(&self) -> usize {
        self.sizes.len()
    }
}

/// Returns the labels of a function's body that earlier code jumps to.
pub(crate) fn entered() -> HashSet<SmolStr> {
    HashSet::from(["reject".into()])
}

/// Returns the number of programs that functions are to be chained over. No program leads back to another one, but
/// copies of packets need a loop; and functions of later stages are not chained.
fn programs(g: &Gen<'_>) -> usize {
    let asked = g.target.options.outline;
    let asked = asked.filter(|_| g.plan.state.is_none() && g.file.own.stages < 2);
    asked.map_or(1, |asked| asked.programs)
}

/// Returns true if functions are to be chained over several programs.
pub(crate) fn are_chained(g: &Gen<'_>) -> bool {
    programs(g) > 1
}

/// Outlines functions from a function's body, and declares them. `before` precedes the body.
pub(crate) fn cut(
    g: &mut Gen<'_>,
    body: &mut Block,
    (before, locals): (&Block, &mut Vec<Local>),
    result: &SmolStr,
) -> Cut {
    let hook = g.target.hook;
    let asked = g.target.options.outline;
    let programs = programs(g);
    let differ = g.plan.state.is_some();
    let declared = before.iter().filter_map(|stmt| match stmt {
        Stmt::Decl { name, .. } if differ && copies::is_fetched(name) => None,
        Stmt::Decl { name, .. } => Some(name.clone()),
        _ => None,
    });
    let given = hook.kept(true).into_iter().map(|(_, name)| name);
    let given = given.chain(g.taken.iter().cloned());
    let form = OutlineOptions {
        variables: &locals.iter().map(|l| l.name.clone()).collect(),
        kept: &declared.chain(given).collect(),
        entered: &entered(),
        again: &differ.then(|| copies::NEXT.into()).into_iter().collect(),
        iteration: match g.plan.forms.iteration_limit {
            None => g.target.leave_loop("reject"),
            Some(_) => None,
        },
        stays: &|stmt| differ && copies::is_of_loop(stmt),
        deepest: match g.file.own.payload.reads_quic() {
            true => weights::outline::DEEPEST_WITH_QUIC,
            false => weights::outline::DEEPEST,
        },
        most: asked.map_or(u32::MAX, |asked| asked.size),
        count: programs * weights::outline::MOST.saturating_sub(g.file.functions.len()),
        size: &code::instructions,
        is_whole: &takes_lock,
        args: &[C::id("ctx")],
        result: C::id("scratch").arrow(result.clone()),
    };
    let names = &mut g.file.names;
    let (functions, number) = cgen::outline::cut(body, &form, &mut |wish| names.fresh(wish));
    let mut sizes = HashMap::new();
    for outlined in functions {
        // Those that it calls came before it.
        let within = calls(&outlined.body).into_iter();
        let within: u64 = within.filter_map(|callee| sizes.get(&callee)).sum();
        let own = u64::from(code::instructions(&outlined.body)).max(1);
        sizes.insert(outlined.name.clone(), own + within);
        let function = function(g, outlined, locals);
        g.file.functions.push(function);
    }
    // Pointers that only outlined functions use are declared there.
    let used: HashSet<SmolStr> = cgen::tidy::names(body).into_iter().collect();
    let stays = |l: &Local| {
        !matches!(l.ty, Type::Ptr(_)) || PACKET.contains(&l.name.as_str()) || used.contains(&l.name)
    };
    locals.retain(stays);
    locals.extend(number.clone().map(|name| Local {
        name,
        ty: NUMBER,
        init: Some(C::int(0)),
        home: Home::Function,
    }));
    Cut { sizes, number }
}

/// Returns the functions that statements call, each once.
pub(crate) fn calls(block: &[Stmt]) -> HashSet<SmolStr> {
    let mut found = HashSet::new();
    // The walk is over what may be changed.
    cgen::tidy::for_each(&mut block.to_vec(), &mut |e| {
        if let C::Call(callee, _) = e {
            found.insert(callee.name.clone());
        }
    });
    found
}

/// Variable that keeps its value while another program continues.
struct Kept {
    ty: Type,
    name: SmolStr,
    /// Memory for the value.
    place: C,
}

/// Splits a function's body into programs chained by tail calls. The body becomes the first program's; the bodies of
/// the others are returned, complete. `before` precedes the body.
pub(crate) fn chain(
    g: &mut Gen<'_>,
    body: &mut Block,
    (before, placed): (&Block, &mut Placed),
    cut: &Cut,
) -> Vec<Block> {
    let programs = programs(g);
    if programs < 2 || cut.sizes.is_empty() {
        return Vec::new();
    }
    let hook = g.target.hook;
    let mut memory = Vec::new();
    // Values computed before anything else, and the place where the next function is entered.
    let before = before.iter().filter_map(|stmt| match stmt {
        Stmt::Decl { name, ty, .. } => Some((ty.clone(), name.clone())),
        _ => None,
    });
    let given = hook.kept(hook.remembers_type(g));
    let number = cut.number.clone().map(|name| (NUMBER, name));
    let mut in_memory = |name: &str, ty: &Type| {
        let place = g.file.names.fresh(name);
        memory.push(Local {
            name: place.clone(),
            ty: ty.clone(),
            init: None,
            home: Home::Memory,
        });
        C::id("scratch").arrow(place)
    };
    let site = in_memory("go_on_at", &Type::U32);
    let kept: Vec<Kept> = given
        .into_iter()
        .chain(before)
        .chain(number)
        .map(|(ty, name)| Kept {
            place: in_memory(&format!("{name}_kept"), &ty),
            ty,
            name,
        })
        .collect();
    let known: HashSet<&str> = PACKET
        .into_iter()
        .chain(kept.iter().map(|kept| kept.name.as_str()))
        .collect();
    let mut lost: HashSet<SmolStr> = placed.locals.iter().map(|l| l.name.clone()).collect();
    declared(body, &mut lost);
    lost.retain(|name| !known.contains(name.as_str()));
    let refused = hook.refused(g.target.model);
    let stop = Stmt::Return(Some(refused.clone()));
    let hand_over = |number: u64, program: usize| {
        let mut out = vec![Stmt::Assign(site.clone(), C::int(number))];
        let keep = |kept: &Kept| Stmt::Assign(kept.place.clone(), C::Ident(kept.name.clone()));
        out.extend(kept.iter().map(keep));
        let args = vec![
            C::id("ctx"),
            C::id(PROGRAMS_MAP).addr(),
            C::int(program as u64),
        ];
        out.extend([Stmt::Expr(C::call(TAIL_CALL, args)), stop.clone()]);
        out
    };
    let form = Chain {
        sizes: &cut.sizes,
        lost: &lost,
        entered: &entered(),
        legs: programs,
        hand_over: &hand_over,
        site: site.clone(),
        lost_way: vec![stop.clone()],
    };
    let names = &mut g.file.names;
    let Some(legs) = cgen::outline::chain(body, &form, &mut |wish| names.fresh(wish)) else {
        return Vec::new();
    };
    let mut legs = legs.into_iter();
    *body = legs.next().unwrap_or_default();
    if let Some(spilled) = &mut placed.spilled {
        spilled.gone.extend(memory);
    }
    let goes_on = |leg: Block| {
        let own = placed.locals.iter();
        let own = own.filter(|l| !kept.iter().any(|kept| kept.name == l.name));
        let mut out = declare(own, true);
        out.extend(g.file.own.scratch.fetch(true, refused.clone()));
        let take = |kept: &Kept| Stmt::decl(kept.ty.clone(), kept.name.clone(), kept.place.clone());
        out.extend(kept.iter().map(take));
        out.extend(leg);
        out
    };
    legs.map(goes_on).collect()
}

/// Adds the names of the variables that statements declare.
fn declared(block: &mut Block, names: &mut HashSet<SmolStr>) {
    for stmt in block {
        if let Stmt::Decl { name, .. } = stmt {
            names.insert(name.clone());
        }
        for nested in cgen::tidy::blocks_mut(stmt) {
            declared(nested, names);
        }
    }
}

fn function(g: &Gen<'_>, outlined: OutlinedFunction, locals: &[Local]) -> Function {
    let mut body = Block::new();
    for local in locals
        .iter()
        .filter(|l| outlined.variables.contains(&l.name))
    {
        body.push(Stmt::Decl {
            ty: local.ty.clone(),
            name: local.name.clone(),
            init: None,
            align: None,
        });
    }
    body.extend(g.file.own.scratch.fetch(true, C::int(FINISHED)));
    if g.plan.state.is_some() {
        let mut used: HashSet<SmolStr> = cgen::tidy::names(&outlined.body).into_iter().collect();
        used.extend(calls(&outlined.body));
        let uses = |name: &str| used.contains(name);
        body.extend(copies::fetch(&C::id("zero"), &C::int(FINISHED), true, uses));
    }
    body.extend(outlined.body);
    let packet = g.target.hook.text().packet();
    let entered = outlined.entered.map(|name| (NUMBER, name));
    Function {
        linkage: GLOBAL_FUNC.into(),
        name: outlined.name,
        result: NUMBER,
        params: std::iter::once(packet).chain(entered).collect(),
        body,
    }
}

/// Returns true if a statement takes a lock, and releases it.
fn takes_lock(stmt: &Stmt) -> bool {
    fn takes(block: &[Stmt]) -> bool {
        block.iter().any(|stmt| match stmt {
            Stmt::Expr(C::Call(callee, _)) => callee.name == LOCK,
            Stmt::If(_, yes, no) => takes(yes) || takes(no),
            Stmt::Block(block) | Stmt::Loop(block) => takes(block),
            _ => false,
        })
    }
    matches!(stmt, Stmt::Block(block) if takes(block))
}
