//! Estimates of the stack and the instructions of C, before any compiler or verifier has seen the program.

use super::weights::code::{CALL, HELPER, REGISTERS, STRUCT};
use cgen::tree::{Block, Expr as C, Stmt, Type};

/// Kernel functions that generated code calls by their own names.
const HELPERS: [&str; 4] = [
    "bpf_map_lookup_elem",
    "bpf_map_update_elem",
    "bpf_spin_lock",
    "bpf_spin_unlock",
];

/// Estimates the bytes of stack: for keys, and for variables that do not fit in the registers.
pub(crate) fn stack(body: &Block, variables: u32) -> u32 {
    (variables.saturating_sub(8 * REGISTERS) + declared(body)).next_multiple_of(8)
}

fn declared(block: &[Stmt]) -> u32 {
    block
        .iter()
        .map(|s| match s {
            Stmt::Decl {
                ty: Type::Struct(_),
                ..
            } => STRUCT,
            Stmt::If(_, a, b) => declared(a).max(declared(b)),
            Stmt::Switch { cases, default, .. } => cases
                .iter()
                .map(|(_, b)| declared(b))
                .max()
                .unwrap_or(0)
                .max(declared(default)),
            Stmt::Loop(b) | Stmt::Block(b) => declared(b),
            _ => 0,
        })
        .sum()
}

/// Estimates the number of instructions, by the usual size of each C construct.
pub(crate) fn instructions(block: &[Stmt]) -> u32 {
    block
        .iter()
        .map(|s| match s {
            Stmt::Line { .. } | Stmt::Comment(_) | Stmt::Label(_) => 0,
            Stmt::Expr(e) | Stmt::Return(Some(e)) => 1 + cost(e),
            Stmt::Hint { on, .. } => 1 + CALL + cost(on),
            Stmt::MayJump { .. } => 1 + CALL,
            Stmt::Assign(_, e) | Stmt::Update(_, _, e) => cost(e).max(1),
            Stmt::Decl { init, .. } => init.as_ref().map_or(0, cost),
            Stmt::If(c, a, b) => 1 + cost(c) + instructions(a) + instructions(b),
            Stmt::Switch { on, cases, default } => {
                let arms: u32 = cases.iter().map(|(_, b)| 1 + instructions(b)).sum();
                cost(on) + arms + instructions(default)
            }
            Stmt::Loop(b) | Stmt::Block(b) => instructions(b),
            _ => 1,
        })
        .sum()
}

fn cost(e: &C) -> u32 {
    match e {
        C::Ident(_) | C::Word(_) | C::Int { .. } | C::Signed(_) | C::SizeOf(_) => 0,
        C::Call(callee, args) => {
            let helper = HELPERS.contains(&callee.name.as_str());
            let own = if helper { HELPER } else { CALL };
            own + args.iter().map(cost).sum::<u32>()
        }
        C::Binary(_, a, b) => 1 + cost(a) + cost(b),
        C::Unary(_, a) | C::Cast(_, a) | C::Member(a, _) => cost(a),
        C::Arrow(a, _) | C::Index(a, _) => 1 + cost(a),
        C::Cond(a, b, c) => 2 + cost(a) + cost(b) + cost(c),
        C::Init(list) | C::Compound(_, list) => list.iter().map(|(_, e)| 1 + cost(e)).sum(),
    }
}
