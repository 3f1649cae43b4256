//! Users' C of extern functions for the interpreter, compiled for this machine and loaded into this process. No
//! verifier bounds it: an access out of bounds may end the process, and a loop may never end.

use crate::bpf_target::{extern_folders, file_name};
use clang::SharedObject;
use clang::{Effort, Jumps, Source};
use diag::{Diagnostic, Diagnostics};
use emit::UserFunction;
use emit::native::{Native, symbol};
use externs::{Arg, Fault, Reply};
use interp::{Supplied, SuppliedFunction};
use ir::{Bits, Program, Type};
use std::path::PathBuf;
use std::rc::Rc;

/// The C of a program's extern functions as an object for this machine.
pub(crate) struct NativeExterns {
    native: Native,
    object: Vec<u8>,
}

impl NativeExterns {
    /// Compiles the user's files. `None` if there are none.
    pub(crate) fn compile(
        program: &Program,
        files: &[PathBuf],
    ) -> Result<Option<NativeExterns>, Diagnostics> {
        if files.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
        let is_user = |name: &str| externs::find(name).is_none();
        let native = emit::native::native(program, &names, is_user)?;
        let include_dirs = extern_folders(files)?;
        let source = Source {
            text: &native.c,
            headers: &emit::HEADERS,
            include_dirs: &include_dirs,
            defines: &[],
            effort: Effort::Full,
            jumps: Jumps::Short,
        };
        let object = clang::compile_shared(&clang::find()?, source)?;
        Ok(Some(NativeExterns { native, object }))
    }

    /// Loads the functions, with all C variables in their initial state.
    pub(crate) fn load(&self) -> Result<Supplied, Box<Diagnostic>> {
        let object = SharedObject::load(&self.object)?;
        let functions = self.native.functions.iter().map(|(name, function)| {
            let supplied = supply(&object, name, function.clone())?;
            Ok((name.clone(), supplied))
        });
        functions.collect()
    }
}

/// Wraps a C function so that the interpreter can call it.
fn supply(
    object: &SharedObject,
    name: &str,
    function: UserFunction,
) -> Result<SuppliedFunction, Box<Diagnostic>> {
    let values = function.params.len() + usize::from(function.result.is_some());
    // SAFETY: `emit::native` wrote it so.
    let native = unsafe { object.function(&symbol(name), values)? };
    Ok(Rc::new(move |args| {
        let mut values = Vec::with_capacity(function.params.len() + 1);
        for param in &function.params {
            let given = match args.get(param.arg) {
                Some(Arg::Values(values)) => values.get(param.part),
                Some(Arg::Member(_, number)) => number.first(),
                _ => None,
            };
            let given = given.ok_or(Fault::Malformed)?;
            values.push(match param.is_read {
                true => given.to_u64().ok_or(Fault::Malformed)?,
                false => 0,
            });
        }
        values.push(0);
        native.call(&mut values);
        let mut reply = Reply::none();
        for (param, &value) in function.params.iter().zip(&values) {
            if !param.is_written {
                continue;
            }
            let value = bits(param.ty, value);
            match reply.outs.last_mut() {
                Some((arg, parts)) if *arg == param.arg => parts.push(value),
                _ => reply.outs.push((param.arg, vec![value])),
            }
        }
        if let Some((ty, _)) = &function.result {
            reply.result.push(bits(*ty, values[function.params.len()]));
        }
        Ok(reply)
    }))
}

/// Converts a C number to a value of a P4 type. Bits beyond the type's width are cut off.
fn bits(ty: Type, value: u64) -> Bits {
    match ty {
        Type::Bool => Bits::from_bool(value != 0),
        ty => Bits::new(ty.width(), value),
    }
}
