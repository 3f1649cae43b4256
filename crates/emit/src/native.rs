//! Users' extern functions as C for this machine, for a program that runs without a target. Each has a wrapper that
//! takes all its values in an array.

use crate::user_function::UserFunction;
use cgen::tree::{Expr as C, Item, Stmt, Type as CType, Unit};
use diag::Diagnostics;
use ir::{Program, StmtKind, visit};
use smol_str::{SmolStr, format_smolstr};
use std::collections::BTreeMap;

/// Name of the parameter with the values.
const VALUES: &str = "values";

/// Users' functions that a program calls, and the C that calls them.
#[derive(Debug)]
pub struct Native {
    /// The functions by name.
    pub functions: BTreeMap<SmolStr, UserFunction>,
    /// A C file that includes the user's files. It has a wrapper ([`symbol`]) for each function.
    pub c: String,
}

/// Returns the name of the C wrapper of a user's function. It takes an array of `u64` with the values of the
/// parameters, and leaves written values there, followed by the result.
pub fn symbol(function: &str) -> String {
    format!("onpath_call_{function}")
}

/// Generates the C for those functions of a program for which `is_user` returns true. `files` has the names of the
/// user's files.
///
/// # Errors
///
/// Calls that cannot be expressed in C.
pub fn native(
    program: &Program,
    files: &[String],
    is_user: impl Fn(&str) -> bool,
) -> Result<Native, Diagnostics> {
    let functions = functions(program, is_user)?;
    let mut items = vec![
        Item::Include("onpath/hash.h".into()),
        Item::Include("onpath/checksum.h".into()),
    ];
    // If no call uses a function's result, its type is unknown here: only the function's own file declares it.
    let known = functions.iter().filter(|(_, f)| f.result.is_some());
    items.extend(known.map(|(name, f)| f.prototype(name)));
    items.extend(files.iter().cloned().map(Item::Include));
    items.extend(functions.iter().map(|(name, f)| caller(name, f)));
    let c = cgen::print::print(&Unit { items });
    Ok(Native { functions, c })
}

/// Returns the C prototypes of those functions of a program for which `is_user` returns true.
pub fn prototypes(program: &Program, is_user: impl Fn(&str) -> bool) -> Vec<String> {
    let functions = functions(program, is_user).unwrap_or_default();
    let shown = functions.iter().map(|(name, function)| {
        let items = vec![function.prototype(name)];
        let text = cgen::print::print(&Unit { items });
        text.trim().trim_end_matches(';').to_owned()
    });
    shown.collect()
}

/// Returns those functions of a program for which `is_user` returns true.
fn functions(
    program: &Program,
    is_user: impl Fn(&str) -> bool,
) -> Result<BTreeMap<SmolStr, UserFunction>, Diagnostics> {
    let mut functions: BTreeMap<SmolStr, UserFunction> = BTreeMap::new();
    let mut diagnostics = Diagnostics::new();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            let StmtKind::Extern(call) = &stmt.kind else {
                return;
            };
            if call.object.is_some() || !is_user(&call.name) {
                return;
            }
            match UserFunction::of(program, call, stmt.span) {
                Ok(function) => {
                    // A call whose result is unused does not show whether the function has one.
                    let known = functions
                        .entry(call.name.clone())
                        .or_insert_with(|| function.clone());
                    if known.result.is_none() {
                        known.result = function.result;
                    }
                }
                Err(refusal) => diagnostics.push(*refusal),
            }
        });
    }
    match diagnostics.has_errors() {
        true => Err(diagnostics),
        false => Ok(functions),
    }
}

/// Makes the wrapper of a user's function.
fn caller(name: &str, function: &UserFunction) -> Item {
    let value = |at: usize| C::id(VALUES).index(C::int(at as u64));
    let mut body = Vec::new();
    let mut args = Vec::new();
    let mut after = Vec::new();
    for (at, param) in function.params.iter().enumerate() {
        if !param.is_written {
            args.push(value(at));
            continue;
        }
        let holder: SmolStr = format_smolstr!("own_{}", param.name);
        body.push(Stmt::decl(param.c.clone(), holder.clone(), value(at)));
        args.push(C::Ident(holder.clone()).addr());
        after.push(Stmt::Assign(value(at), C::Ident(holder)));
    }
    let call = C::call(name, args);
    body.push(match &function.result {
        Some(_) => Stmt::Assign(value(function.params.len()), call),
        None => Stmt::Expr(call),
    });
    body.extend(after);
    Item::Function {
        linkage: SmolStr::default(),
        result: CType::Void,
        name: symbol(name).into(),
        params: vec![(CType::U64.ptr(), VALUES.into())],
        body,
    }
}
