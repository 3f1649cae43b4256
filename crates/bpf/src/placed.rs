//! Storage of a function's variables: on the stack, or in the memory of a stage, which is in a per-CPU map.

use crate::copies::THIS;
use crate::emitter::{Gen, barrier};
use cgen::tree::{Block, Expr as C, Stmt, Type};
use emit::locals::{Local, LocalKind};
use emit::names::Names;
use ir::Var;
use smol_str::SmolStr;
use std::collections::HashSet;

/// A function's variables by their storage.
pub(crate) struct Placed {
    /// Variables on the stack.
    pub locals: Vec<Local>,
    /// Variables in the per-CPU map.
    pub spilled: Option<Spilled>,
    /// Names of variables in the state that copies of the packet begin with.
    pub copied: HashSet<SmolStr>,
}

impl Placed {
    /// Returns the l-value of a variable, if it is used.
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

/// Declares a function's variables, with their first values.
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
            // If only the packet's length is computed from it here, clang keeps 32 bits of it. Spilled to the stack,
            // they are no pointer to the verifier.
            out.push(barrier(&C::id(local.name.clone())));
        }
    }
    out
}

/// Names of a stage's scratch memory.
#[derive(Clone)]
pub(crate) struct Scratch {
    /// Name of the struct.
    pub tag: SmolStr,
    /// Name of the map with the struct.
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
    /// Makes fresh names, for another stage.
    pub(crate) fn fresh(names: &mut Names) -> Scratch {
        let Scratch { tag, map } = Scratch::default();
        Scratch {
            tag: names.fresh(&tag),
            map: names.fresh(&map),
        }
    }

    /// Finds this processor's scratch memory. If everything is to be kept there, the pointer is volatile. Otherwise
    /// clang would hold values in registers after stores and loads, and spill those to the stack that do not fit.
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
