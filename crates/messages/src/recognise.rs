//! Recognition of a schema's messages by their first bytes.

use crate::file::File;
use crate::pattern::{Bytes, Patterns};
use crate::scan::{may_stand, stands};
use crate::writer::{MEMORY, left, status};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use payload::{Schema, Signature};
use smol_str::SmolStr;

/// Emits a return of OTHER for bytes that do not begin as the schema's messages do. If `begins`, it returns BEGINS
/// where the bytes are too few to decide. Declares a variable for each expression by which messages are recognised.
pub(crate) fn recognised(
    (file, patterns): (&mut File<'_>, &mut Patterns),
    schema: &Schema,
    structure: &SmolStr,
    begins: bool,
) -> Stmt {
    let left_is = || C::id("left");
    let (mut found, mut may_begin) = (Vec::new(), Vec::new());
    let mut states = Block::new();
    let mut found_behind = Vec::new();
    for signature in &schema.recognise {
        match signature {
            Signature::Bytes { at, bytes, and } => {
                let offset = C::int(*at as u64);
                let first = match at {
                    0 => stands(&offset, left_is(), bytes),
                    _ => {
                        let here = stands(&offset, left(&left_is(), offset.clone()), bytes);
                        C::and(C::bin(BinOp::Gt, left_is(), offset), here)
                    }
                };
                found.push(match and {
                    None => first,
                    Some((at, bytes)) => C::and(first, may_stand(*at, &left_is(), bytes)),
                });
                if *at == 0 {
                    let is_shorter = C::bin(BinOp::Lt, left_is(), C::int(bytes.len() as u64));
                    may_begin.push(C::and(is_shorter, may_stand(0, &left_is(), bytes)));
                }
            }
            Signature::Pattern(pattern) => {
                let Some((function, automaton)) =
                    patterns.beginning(file, pattern.text(), &Bytes::message(structure))
                else {
                    continue;
                };
                let name = SmolStr::from(format!("beginning{}", found_behind.len()));
                let args = vec![C::id(MEMORY), C::int(0), left_is()];
                let state = C::call(function, args);
                states.push(Stmt::decl(CType::U32, name.clone(), state));
                let state = C::Ident(name);
                found_behind.push(automaton.has_found(state.clone()));
                may_begin.push(state);
            }
        }
    }
    let refused = |why: &str| vec![Stmt::Return(Some(status(why)))];
    let mut none = Block::new();
    if let Some(begin) = may_begin.into_iter().reduce(C::or).filter(|_| begins) {
        none.push(Stmt::If(begin, refused("BEGINS"), Block::new()));
    }
    none.extend(refused("OTHER"));
    if let Some(is_found) = found_behind.into_iter().reduce(C::or) {
        states.push(Stmt::If(C::not(is_found), none, Block::new()));
        none = states;
    }
    match found.into_iter().reduce(C::or) {
        Some(is_found) => Stmt::If(C::not(is_found), none, Block::new()),
        None => Stmt::Block(none),
    }
}
