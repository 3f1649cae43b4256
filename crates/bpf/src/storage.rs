//! Storage of the program's variables: on the stack, or in a per-CPU map if the stack has no room for them.

use crate::abi::{MapAbi, MapKind};
use crate::copies;
use crate::costs::weights::kernel::SCRATCH;
use crate::costs::weights::memory::{self, MOST_DESCRIBED};
use crate::emitter::Gen;
use crate::errors;
use crate::function::Function;
use crate::hook::tc::copies::declare_states;
use crate::outline::{self, Cut};
use crate::placed::{Placed, Scratch, Spilled, declare};
use cgen::tree::{Block, Expr as C, Stmt, Type};
use diag::Diagnostics;
use emit::Code;
use emit::locals::{Home, Local};
use emit::record::Record;
use smol_str::SmolStr;
use std::collections::HashSet;

/// Makes the function of a stage: places its variables, and adds the code before its statements.
pub(crate) fn function(g: &mut Gen<'_>, code: Code) -> Result<Function, Diagnostics> {
    let Code {
        mut locals,
        mut body,
    } = code;
    let copied = copied(g, &mut locals, &mut body);
    let result = outline::result(g, &mut locals);
    let spilled = spill(g, &mut locals, &mut body)?;
    let mut placed = Placed {
        locals,
        spilled,
        copied,
    };
    let hook = g.target.hook;
    let mut whole = hook.start(g);
    let cut = match &result {
        Some(result) => outline::cut(g, &mut body, (&whole, &mut placed.locals), result),
        None => Cut::default(),
    };
    let others = outline::chain(g, &mut body, (&whole, &mut placed), &cut);
    let outlined = cut.count();
    whole.extend(start(g, &placed, outlined > 0));
    whole.append(&mut body);
    if let Some(spilled) = &placed.spilled {
        declare_scratch(g, spilled);
    }
    Ok(Function {
        model: g.target.model,
        body: whole,
        locals: placed.locals,
        front: g.target.wire.reads,
        outlined,
        others,
        spilled: placed.spilled,
        extra_instructions: g.target.extra_instructions,
        moves_head: g.rebuilding.resizes,
        parse_record: g.plan.record.is_some(),
        verifier_estimate: g.target.estimate,
        copied_headers: g.copied_headers(),
        rolled_stacks: g.rolled_stacks(),
        remembers_type: hook.remembers_type(g),
        parser_iterations: parser_iterations(g),
    })
}

/// Returns the number of loop iterations that a packet may take, if they are counted. Both loops of the parser's
/// states and those of statements count.
fn parser_iterations(g: &Gen<'_>) -> Option<u32> {
    g.plan
        .forms
        .iteration_limit
        .filter(|_| g.file.contents.loops)
}

/// Moves the state that copies of a packet begin with to a struct of its own. Returns the names of its members.
fn copied(g: &mut Gen<'_>, locals: &mut Vec<Local>, body: &mut Block) -> HashSet<SmolStr> {
    let (all, stay): (Vec<Local>, Vec<Local>) =
        locals.drain(..).partition(|l| l.home == Home::State);
    *locals = stay;
    if g.plan.state.is_none() {
        return HashSet::new();
    }
    let record = members(&all);
    g.file.declare_struct(&copies::STATE.into(), record.members);
    declare_states(g, record.size);
    let names: HashSet<SmolStr> = all.into_iter().map(|l| l.name).collect();
    cgen::tidy::substitute(body, &|name| {
        let is_copied = names.contains(name);
        is_copied.then(|| C::id(copies::THIS).arrow(name.clone()))
    });
    names
}

/// Makes variables the members of a struct.
fn members(locals: &[Local]) -> Record {
    let mut record = Record::default();
    add_members(&mut record, locals);
    record.finish();
    record
}

fn add_members(record: &mut Record, locals: &[Local]) {
    for local in locals {
        let (size, align) = (local.size(), local.align());
        record.add(local.ty.clone(), local.name.clone(), size, align, "");
    }
}

/// Returns true if a variable may be in the per-CPU map.
pub(crate) fn is_movable(local: &Local) -> bool {
    local.home == Home::Anywhere && !matches!(local.ty, Type::Ptr(_))
}

/// Moves variables that the stack has no room for to a per-CPU map, the largest first.
fn spill(
    g: &mut Gen<'_>,
    locals: &mut Vec<Local>,
    body: &mut Block,
) -> Result<Option<Spilled>, Diagnostics> {
    let in_memory = |l: &&Local| l.home == Home::Memory;
    // Paths with different values do not meet while such a variable lives, so memory would not help.
    let stay = match g.target.options.spill_everything {
        true => cgen::outline::short_lived(body),
        false => HashSet::new(),
    };
    let mut order: Vec<usize> = (0..locals.len())
        .filter(|&i| is_movable(&locals[i]))
        .filter(|&i| !stay.contains(&locals[i].name))
        .collect();
    order.sort_by_key(|&i| std::cmp::Reverse(locals[i].size()));
    let mut moved: HashSet<SmolStr> = locals
        .iter()
        .filter(in_memory)
        .map(|l| l.name.clone())
        .collect();
    let on_stack = locals.iter().filter(|l| !in_memory(l));
    let mut on_stack: u32 = on_stack.map(Local::size).sum();
    let limit = if g.target.options.spill_everything {
        0
    } else if g.target.wire.writes {
        memory::STACK - g.target.hook.stack_for_rewriting()
    } else {
        memory::STACK
    };
    // Scalars live in registers most of the time; arrays do too while they are small.
    for i in order {
        let worth =
            locals[i].size() > 32 || on_stack > 4 * limit || g.target.options.spill_everything;
        if on_stack <= limit || !worth {
            break;
        }
        on_stack -= locals[i].size();
        moved.insert(locals[i].name.clone());
    }
    if moved.is_empty() && g.rebuilding.relocated_bytes == 0 {
        return Ok(None);
    }
    let (mut gone, stay): (Vec<Local>, Vec<Local>) =
        locals.drain(..).partition(|l| moved.contains(&l.name));
    if g.target.options.spill_everything {
        drop_dead_zeros(&mut gone, body);
    }
    *locals = stay;
    let bytes = gone.iter().map(Local::size).sum::<u32>() + g.rebuilding.relocated_bytes;
    if bytes > SCRATCH {
        g.refuse(errors::too_much_state(bytes, SCRATCH));
        return Err(g.refusals());
    }
    cgen::tidy::substitute(body, &|name| {
        moved
            .contains(name)
            .then(|| C::id("scratch").arrow(name.clone()))
    });
    Ok(Some(Spilled { gone, bytes }))
}

/// Drops the initial values of variables that are always written before they are read. The compiler does that for
/// variables on the stack, but keeps all stores to volatile memory.
fn drop_dead_zeros(gone: &mut [Local], body: &Block) {
    // Code that is added later reads the others.
    let mentioned: HashSet<SmolStr> = cgen::tidy::names(body).into_iter().collect();
    let limbs = |local: &Local| match local.ty {
        Type::Array(_, n) => n as usize,
        _ => 1,
    };
    let own = gone.iter().filter(|l| mentioned.contains(&l.name));
    let own = own.map(|l| (l.name.clone(), limbs(l))).collect();
    let read = cgen::outline::live_at_start(body, &own, &outline::entered());
    for local in gone {
        if own.contains_key(&local.name) && !read.contains(&local.name) {
            local.init = None;
        }
    }
}

/// Returns the declarations, and the code that fetches memory and inputs first.
fn start(g: &mut Gen<'_>, placed: &Placed, is_cut: bool) -> Block {
    let mut out = declare(placed.locals.iter(), is_cut);
    if let Some(spilled) = &placed.spilled {
        let kept = g.target.options.spill_everything;
        let names = &g.file.own.scratch;
        out.extend(names.fetch(kept, g.target.hook.refused(g.target.model)));
        for local in spilled.gone.iter().filter(|l| l.init.is_some()) {
            let place = C::id("scratch").arrow(local.name.clone());
            match &local.ty {
                Type::Array(of, n) if **of == Type::U8 => {
                    let args = vec![place, C::int(0), C::int((*n).into())];
                    out.push(Stmt::Expr(C::call("__builtin_memset", args)));
                }
                Type::Array(_, n) => out.extend((0..*n).map(|i| {
                    let limb = place.clone().index(C::int(i.into()));
                    Stmt::Assign(limb, C::int(0))
                })),
                _ => out.push(Stmt::Assign(place, C::int(0))),
            }
        }
    }
    // A later stage takes the inputs from the one before, with everything that goes along.
    if g.taken.is_empty() {
        out.extend(g.target.hook.inputs(g, placed));
    }
    out
}

fn declare_scratch(g: &mut Gen<'_>, spilled: &Spilled) {
    let mut record = Record::default();
    if g.rebuilding.relocated_bytes > 0 {
        let ty = Type::U8.array(g.rebuilding.relocated_bytes);
        record.add(
            ty,
            "relocated",
            g.rebuilding.relocated_bytes,
            1,
            "relocated headers",
        );
    }
    add_members(&mut record, &spilled.gone);
    record.finish();
    let described = record.members.len() <= MOST_DESCRIBED;
    let Scratch { tag, map } = g.file.own.scratch.clone();
    g.file.declare_struct(&tag, record.members);
    g.file.own.maps.declare(
        MapAbi {
            name: map.to_string(),
            kind: MapKind::PercpuArray,
            key_size: 4,
            value_size: record.size,
            max_entries: 1,
            no_prealloc: false,
            mmapable: false,
        },
        described.then_some((Type::U32, Type::Struct(tag))),
    );
}
