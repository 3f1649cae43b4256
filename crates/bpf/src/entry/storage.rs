//! Where the program's variables are: on the stack, or in a per-CPU map if it has no room for them.

use crate::abi::{Hook, MapAbi, MapKind};
use crate::emit::Gen;
use crate::emit::locals::{Local, Role};
use crate::errors;
use crate::record::Record;
use cgen::tree::{Block, Expr as C, Stmt, Type};
use diag::Diagnostics;
use ir::Var;
use smol_str::SmolStr;
use std::collections::HashSet;

/// Bytes of the BPF stack that variables may take, so that the compiler has room for what it adds.
const STACK_FOR_VARIABLES: u32 = 320;
/// What the functions of `onpath/rewrite.h` take of the same stack.
const STACK_FOR_REWRITING: u32 = 96;
/// What a per-CPU array's value may have, in bytes.
const SCRATCH_LIMIT: u32 = 32 << 10;

impl Gen<'_> {
    /// The variables that every function may have.
    pub(super) fn fixed_locals(&self) -> Vec<Local> {
        let plain = |name: &str, ty: Type, init: Option<C>| Local {
            name: name.into(),
            ty,
            init,
        };
        vec![
            pointer("data"),
            pointer("data_end"),
            plain("off", Type::U64, Some(C::int(0))),
            plain("cur", Type::U8.ptr(), Some(C::id("data"))),
            plain("keep", Type::U32, Some(C::int(0))),
            plain("touched", Type::U32, Some(C::int(0))),
        ]
    }

    /// Moves variables that the stack has no room for to a per-CPU map, the largest first.
    pub(super) fn spill(
        &mut self,
        locals: &mut Vec<Local>,
        body: &mut Block,
    ) -> Result<Option<Spilled>, Diagnostics> {
        let movable = |l: &Local| {
            !matches!(l.ty, Type::Ptr(_))
                && !matches!(l.name.as_str(), "off" | "keep" | "touched")
                && !self.locals.followed.contains(&l.name)
        };
        let mut order: Vec<usize> = (0..locals.len()).filter(|&i| movable(&locals[i])).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(locals[i].size()));
        let mut on_stack: u32 = locals.iter().map(Local::size).sum();
        let limit = if self.options.spill_everything {
            0
        } else if self.plan.wire.writes && self.options.hook != Hook::Xdp {
            STACK_FOR_VARIABLES - STACK_FOR_REWRITING
        } else {
            STACK_FOR_VARIABLES
        };
        // Scalars live in registers most of the time; arrays do too while they are small.
        let mut moved: HashSet<SmolStr> = HashSet::new();
        for i in order {
            let worth =
                locals[i].size() > 32 || on_stack > 4 * limit || self.options.spill_everything;
            if on_stack <= limit || !worth {
                break;
            }
            on_stack -= locals[i].size();
            moved.insert(locals[i].name.clone());
        }
        if moved.is_empty() && self.moving_bytes == 0 {
            return Ok(None);
        }
        let (gone, stay): (Vec<Local>, Vec<Local>) =
            locals.drain(..).partition(|l| moved.contains(&l.name));
        *locals = stay;
        let bytes = gone.iter().map(Local::size).sum::<u32>() + self.moving_bytes;
        if bytes > SCRATCH_LIMIT {
            self.refuse(errors::too_much_state(bytes, SCRATCH_LIMIT));
            return Err(std::mem::take(&mut self.diags));
        }
        cgen::tidy::substitute(body, &|name| {
            moved
                .contains(name)
                .then(|| C::id("scratch").arrow(name.clone()))
        });
        Ok(Some(Spilled { gone, bytes }))
    }

    /// Declarations and what has to be fetched first.
    pub(super) fn start(&mut self, locals: &[Local], spilled: Option<&Spilled>) -> Block {
        let mut out = Block::new();
        for local in locals {
            out.push(Stmt::Decl {
                ty: local.ty.clone(),
                name: local.name.clone(),
                init: local.init.clone(),
                align: None,
            });
        }
        if let Some(spilled) = spilled {
            out.extend(fetch_scratch(self.refused()));
            for local in spilled.gone.iter().filter(|l| l.init.is_some()) {
                let place = C::id("scratch").arrow(local.name.clone());
                match &local.ty {
                    Type::Array(_, n) => out.extend((0..*n).map(|i| {
                        let limb = place.clone().index(C::int(i.into()));
                        Stmt::Assign(limb, C::int(0))
                    })),
                    _ => out.push(Stmt::Assign(place, C::int(0))),
                }
            }
        }
        match self.options.hook {
            Hook::Xdp => out.extend(self.xdp_inputs(locals, spilled)),
            Hook::TcIngress | Hook::TcEgress => out.extend(self.tc_inputs(locals, spilled)),
        }
        out
    }

    /// Where a variable ended up, if it is used.
    pub(super) fn place_of_local(
        &mut self,
        v: Var,
        locals: &[Local],
        spilled: Option<&Spilled>,
    ) -> Option<C> {
        let C::Ident(name) = self.local(Role::Var(v)) else {
            return None;
        };
        if locals.iter().any(|l| l.name == name) {
            return Some(C::Ident(name));
        }
        let in_scratch = spilled?.gone.iter().any(|l| l.name == name);
        in_scratch.then(|| C::id("scratch").arrow(name))
    }

    pub(super) fn declare_scratch(&mut self, spilled: &Spilled) {
        let mut record = Record::default();
        if self.moving_bytes > 0 {
            let ty = Type::U8.array(self.moving_bytes);
            record.add(ty, "moving", self.moving_bytes, 1, "headers on their way");
        }
        for local in &spilled.gone {
            let align = if local.size() == 4 { 4 } else { 8 };
            record.add(
                local.ty.clone(),
                local.name.clone(),
                local.size(),
                align,
                "",
            );
        }
        record.finish();
        self.maps.declare_struct(&"scratch".into(), record.members);
        self.maps.declare(
            MapAbi {
                name: "scratch_map".into(),
                kind: MapKind::PercpuArray,
                key_size: 4,
                value_size: record.size,
                max_entries: 1,
                no_prealloc: false,
            },
            Some((Type::U32, Type::Struct("scratch".into()))),
        );
    }
}

/// Finds this processor's scratch memory.
fn fetch_scratch(refused: C) -> Block {
    vec![
        Stmt::decl(Type::U32, "zero", C::int(0)),
        Stmt::decl(
            Type::Struct("scratch".into()).ptr(),
            "scratch",
            C::call(
                "bpf_map_lookup_elem",
                vec![C::id("scratch_map").addr(), C::id("zero").addr()],
            ),
        ),
        Stmt::If(
            C::not(C::id("scratch")),
            vec![Stmt::Return(Some(refused))],
            Block::new(),
        ),
    ]
}

/// Variables in the per-CPU map.
pub(super) struct Spilled {
    pub gone: Vec<Local>,
    pub bytes: u32,
}

pub(super) fn pointer(name: &str) -> Local {
    let init = C::id("ctx")
        .arrow(name)
        .cast(Type::Named("long".into()))
        .cast(Type::U8.ptr());
    Local {
        name: name.into(),
        ty: Type::U8.ptr(),
        init: Some(init),
    }
}

/// Whether an expression asks where the packet is.
pub(super) fn mentions_data(e: &C) -> bool {
    match e {
        C::Ident(name) => name == "data",
        C::Binary(_, a, b) => mentions_data(a) || mentions_data(b),
        _ => false,
    }
}
