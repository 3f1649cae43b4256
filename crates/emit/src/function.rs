//! Functions of the program that stay functions (see `ir::passes::inline::functions`).

use super::locals::LocalKind;
use super::values::Value;
use crate::emitter::{File, Gen};
use crate::target::Target;
use cgen::lower;
use cgen::tree::{Block, Expr as C, Item, Stmt, Type};
use diag::Span;
use ir::passes::inline::functions::scalar_signature;
use ir::{Arg, Routine, Type as IrType, Var};
use smol_str::SmolStr;
use std::collections::HashSet;

/// A C function. It uses names of its own, so that a routine becomes the same function wherever it is called from.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Linkage specifiers.
    pub linkage: SmolStr,
    /// Its name.
    pub name: SmolStr,
    /// The type of its result.
    pub result: Type,
    /// Its parameters.
    pub params: Vec<(Type, SmolStr)>,
    /// Body.
    pub body: Block,
}

impl Function {
    /// Returns the function as an item of the file.
    pub fn item(self) -> Item {
        Item::Function {
            linkage: self.linkage,
            result: self.result,
            name: self.name,
            params: self.params,
            body: self.body,
        }
    }
}

impl<T: Target> Gen<'_, T> {
    /// Calls a scalar function.
    pub(crate) fn function_call(&mut self, routine: Routine, args: &[Arg], span: Span) {
        let Some((params, result)) = scalar_signature(self.p, routine) else {
            return self.not_lowered("a call that was not inlined", span);
        };
        let name = self.function_of(routine, &params, result);
        let mut values = Vec::with_capacity(params.len());
        for arg in args {
            if let Arg::In(value) = arg {
                values.push(lower::scalar(self, *value));
            }
        }
        if let Some(Arg::Out(Some(place))) = args.last() {
            self.store(*place, Value::Scalar(C::call(name, values)));
        }
    }

    /// Returns the name of a routine's C function, which is made at the first call.
    fn function_of(&mut self, routine: Routine, params: &[Var], result: Var) -> SmolStr {
        let target = self.target.afresh();
        let mut inner = Gen::new(self.p, self.map, self.plan, target, File::default());
        let made = inner.number_function(routine, params, result);
        for diagnostic in inner.refusals().iter() {
            self.refuse(diagnostic.clone());
        }
        let same = |f: &&Function| {
            f.linkage == made.linkage
                && f.params == made.params
                && f.result == made.result
                && f.body == made.body
        };
        if let Some(known) = self.file.functions.iter().find(same) {
            return known.name.clone();
        }
        // The prefix avoids names of the C library, whose functions the compiler knows.
        let name = format!("p4_{}", self.p.routines[routine].name);
        let name = self.file.names.fresh(&name);
        self.file.functions.push(Function {
            name: name.clone(),
            ..made
        });
        name
    }

    /// Lowers a routine to a function without a name.
    fn number_function(&mut self, routine: Routine, params: &[Var], result: Var) -> Function {
        let register = |ty: IrType| Type::register(ty.width());
        let params: Vec<(Type, SmolStr)> = params
            .iter()
            .map(|&var| (register(self.p.vars[var].ty), self.name_of(var)))
            .collect();
        let value = self.local(LocalKind::Var(result));
        let end = self.file.names.fresh("done");
        self.scope.returns.push(end.clone());
        self.run(&self.p.routines[routine].body);
        self.scope.returns.pop();
        let mut code = std::mem::take(&mut self.out);
        code.push(Stmt::Label(end));
        code.push(Stmt::Return(Some(value)));
        let locals = &self.locals.list;
        let names: HashSet<SmolStr> = locals.iter().map(|l| l.name.clone()).collect();
        let used = cgen::tidy::tidy(&mut code, &names);
        let is_param = |name: &SmolStr| params.iter().any(|(_, param)| param == name);
        let declared = locals
            .iter()
            .filter(|l| used.contains(&l.name) && !is_param(&l.name));
        let mut body: Block = declared
            .map(|l| Stmt::Decl {
                ty: l.ty.clone(),
                name: l.name.clone(),
                init: l.init.clone(),
                align: None,
            })
            .collect();
        body.append(&mut code);
        Function {
            linkage: self.target.linkage().into(),
            name: SmolStr::default(),
            result: register(self.p.vars[result].ty),
            params,
            body,
        }
    }

    fn name_of(&mut self, var: Var) -> SmolStr {
        match self.local(LocalKind::Var(var)) {
            C::Ident(name) => name,
            _ => SmolStr::default(),
        }
    }
}
