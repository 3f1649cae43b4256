//! Places of a function's variables: on the stack, or in the memory of a stage, which is in a per-CPU map.

use crate::copies::THIS;
use crate::emitter::{Gen, barrier};
use cgen::tree::{Block, Expr as C, Stmt, Type};
use emit::locals::{Local, LocalKind};
use emit::names::Names;
use ir::Var;
use smol_str::SmolStr;
use std::collections::HashSet;

/// Places of a function's variables.
pub(crate) struct Placed {
    /// On the stack.
    pub locals: Vec<Local>,
    /// In the per-CPU map.
    pub spilled: Option<Spilled>,
    /// With what copies of the packet begin with, by name.
    pub copied: HashSet<SmolStr>,
}

impl Placed {
    /// The place of a variable, if it is used.
    pub(crate) fn place_of(&self, g: &mut Gen<'_>, v: Var) -> Option<C> {
        let C::Ident(name) = g.local(LocalKind::Var(v)) else {
            return None;
        };
        if self.locals.iter().any(|l| l.name == name) {
            return Some(C::Ident(name));
        }
        if self.copied.contains(&name) {
            return Some(C::id(THIS).arrow(name));
        }
        let spilled = self.spilled.as_ref()?;
        let in_scratch = spilled.gone.iter().any(|l| l.name == name);
        in_scratch.then(|| C::id("scratch").arrow(name))
    }
}

/// Variables in the per-CPU map.
pub(crate) struct Spilled {
    /// The variables.
    pub gone: Vec<Local>,
    /// Bytes in all.
    pub bytes: u32,
}

/// Declarations of a function's variables, with their first values.
pub(crate) fn declare<'l>(locals: impl Iterator<Item = &'l Local>, is_cut: bool) -> Block {
    let mut out = Block::new();
    for local in locals {
        out.push(Stmt::Decl {
            ty: local.ty.clone(),
            name: local.name.clone(),
            init: local.init.clone(),
            align: None,
        });
        if is_cut && matches!(local.ty, Type::Ptr(_)) {
            // If nothing but the packet's length is asked of it here, clang keeps 32 bits of it, which on the stack are no pointer to
            // the verifier.
            out.push(barrier(&C::id(local.name.clone())));
        }
    }
    out
}

/// Names of a stage's scratch memory.
#[derive(Clone)]
pub(crate) struct Scratch {
    /// The struct.
    pub tag: SmolStr,
    /// The map that it is in.
    pub map: SmolStr,
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            tag: "scratch".into(),
            map: "scratch_map".into(),
        }
    }
}

impl Scratch {
    /// That of another stage.
    pub(crate) fn fresh(names: &mut Names) -> Scratch {
        let Scratch { tag, map } = Scratch::default();
        Scratch {
            tag: names.fresh(&tag),
            map: names.fresh(&map),
        }
    }

    /// Finds this processor's scratch memory. If everything is to be kept there, each access is one of memory: clang would hold in
    /// registers what was stored or loaded before, and put on the stack those that there are not.
    pub(crate) fn fetch(&self, kept: bool, refused: C) -> Block {
        let scratch = match kept {
            true => Type::Named(format!("volatile struct {}", self.tag).into()),
            false => Type::Struct(self.tag.clone()),
        };
        vec![
            Stmt::decl(Type::U32, "zero", C::int(0)),
            Stmt::decl(
                scratch.ptr(),
                "scratch",
                C::call(
                    "bpf_map_lookup_elem",
                    vec![C::Ident(self.map.clone()).addr(), C::id("zero").addr()],
                ),
            ),
            Stmt::If(
                C::not(C::id("scratch")),
                vec![Stmt::Return(Some(refused))],
                Block::new(),
            ),
        ]
    }
}
