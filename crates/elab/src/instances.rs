//! Instances: externs become entities at once, parsers and controls when they are applied.

use crate::calls::RoutineInst;
use crate::errors;
use crate::names;
use crate::storage::Storage;
use crate::types::{TypeMap, type_map};
use crate::{Elab, Result};
use cranelift_entity::entity_impl;
use diag::Span;
use hir::{Arg, BodyDecl, ConstValue, Expr, ExprKind, InstanceId, LocalId, Ty};
use ir::CtorValue;
use num_traits::ToPrimitive;
use p4runtime::Prefix;
use smol_str::{SmolStr, format_smolstr};
use std::collections::HashMap;
use std::rc::Rc;

/// Number of levels for which a function, control or parser counts that is used by another.
const BODY_DEPTH: u32 = 8;

/// An instance of a control.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ControlInst(u32);
entity_impl!(ControlInst, "control");

/// An instance of a parser.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ParserInst(u32);
entity_impl!(ParserInst, "parser");

/// An object that a constructor makes, or the packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum InstRef {
    Extern(ir::ExternInst),
    Control(ControlInst),
    Parser(ParserInst),
    PacketIn,
    PacketOut,
}

/// Meaning of a name.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// A variable.
    Storage(Storage),
    /// A compile-time constant.
    Const(ConstValue),
    /// An object.
    Instance(InstRef),
}

/// Meanings of names in one instance of a parser or control, or in a function.
#[derive(Clone, Default)]
pub(crate) struct Env {
    pub(crate) types: TypeMap,
    pub(crate) locals: HashMap<LocalId, Binding>,
    pub(crate) instances: HashMap<InstanceId, InstRef>,
    /// Arrays of externs.
    pub(crate) arrays: HashMap<InstanceId, Rc<[InstRef]>>,
    pub(crate) actions: HashMap<hir::ActionId, ir::Action>,
    pub(crate) action_routines: HashMap<hir::ActionId, RoutineInst>,
    pub(crate) tables: HashMap<hir::TableId, crate::table::TableInst>,
    pub(crate) value_sets: HashMap<hir::ValueSetId, ir::ValueSet>,
    /// The control-plane name of the instance.
    pub(crate) path: SmolStr,
    /// Object whose method is being implemented.
    pub(crate) this: Option<InstRef>,
    /// Implementations of abstract methods that are built once all locals are declared.
    pub(crate) pending: Vec<PendingMethod>,
}

/// An implementation of an abstract method that is to be built.
#[derive(Clone)]
pub(crate) struct PendingMethod {
    pub(crate) object: ir::ExternInst,
    pub(crate) method: SmolStr,
    pub(crate) function: hir::FunctionId,
}

/// An instance of a control.
pub(crate) struct ControlData {
    pub(crate) control: hir::ControlId,
    /// Its constructor arguments and instances; all other names once it is built.
    pub(crate) env: Env,
    /// Number of its applications in the source. If it is applied once, by name, its parameters can be its user's
    /// variables.
    pub(crate) sites: u32,
    /// Location of its first application, once it is built.
    pub(crate) applied: Span,
    pub(crate) built: Option<RoutineInst>,
}

/// An instance of a parser.
pub(crate) struct ParserData {
    pub(crate) parser: hir::ParserId,
    pub(crate) env: Env,
    /// Number of copies of its states.
    pub(crate) copies: u32,
}

impl Elab<'_> {
    /// Returns the instance that an id stands for here; makes it if it is new.
    pub(crate) fn instance(&mut self, id: InstanceId) -> Result<InstRef> {
        if let Some(&known) = self
            .env
            .instances
            .get(&id)
            .or_else(|| self.globals.get(&id))
        {
            return Ok(known);
        }
        let declared = &self.module.instances[id];
        let name = match (&*declared.name, self.resolve(&declared.ty)) {
            ("", Ty::Control(control, _)) => self.module.controls[control].name.clone(),
            ("", Ty::Parser(parser, _)) => self.module.parsers[parser].name.clone(),
            ("", Ty::Extern(object, _)) => self.module.externs[object].name.clone(),
            (name, _) => name.into(),
        };
        self.instantiate(id, &name)
    }

    /// Returns the elements of an array of externs; makes them if they are new.
    pub(crate) fn instance_array(&mut self, id: InstanceId) -> Result<Rc<[InstRef]>> {
        let known = self.env.arrays.get(&id);
        if let Some(known) = known.or_else(|| self.global_arrays.get(&id)) {
            return Ok(known.clone());
        }
        let declared = &self.module.instances[id];
        let Ty::Extern(object, args) = self.resolve(&declared.ty) else {
            return self.fail(errors::not_an_instance(declared.span));
        };
        let count = declared.count.unwrap_or(0);
        self.grow(count as usize, declared.span)?;
        let mut made = Vec::new();
        for i in 0..count {
            let name = format_smolstr!("{}[{i}]", declared.name);
            made.push(self.instantiate_extern(id, object, &args, &name)?);
        }
        let made: Rc<[InstRef]> = made.into();
        if self.module.top_level.contains(&id) {
            self.global_arrays.insert(id, made.clone());
        } else {
            self.env.arrays.insert(id, made.clone());
        }
        Ok(made)
    }

    /// Makes the instance, or the array of instances, that is declared.
    pub(crate) fn declare_instance(&mut self, id: InstanceId) -> Result<()> {
        match self.module.instances[id].count {
            Some(_) => self.instance_array(id).map(|_| ()),
            None => self.instance(id).map(|_| ()),
        }
    }

    /// Makes an instance under a name of its own.
    pub(crate) fn instantiate(&mut self, id: InstanceId, name: &str) -> Result<InstRef> {
        let declared = &self.module.instances[id];
        self.grow(1, declared.span)?;
        let made = match self.resolve(&declared.ty) {
            Ty::Extern(object, args) => self.instantiate_extern(id, object, &args, name)?,
            Ty::Control(control, args) => {
                let data = &self.module.controls[control];
                let path = self.instance_path(name, declared, &data.name, &data.annotations);
                let types = type_map(&data.type_params, &args);
                let env = self.instance_env(declared, &data.ctor_params, types, path)?;
                let sites = self.apply_sites.get(&id).copied().unwrap_or(0);
                InstRef::Control(self.controls.push(ControlData {
                    control,
                    env,
                    sites,
                    applied: Span::NONE,
                    built: None,
                }))
            }
            Ty::Parser(parser, args) => {
                let data = &self.module.parsers[parser];
                let path = self.instance_path(name, declared, &data.name, &data.annotations);
                let types = type_map(&data.type_params, &args);
                let env = self.instance_env(declared, &data.ctor_params, types, path)?;
                let made = self.parsers.push(ParserData {
                    parser,
                    env,
                    copies: 0,
                });
                self.declare_parser(made)?;
                InstRef::Parser(made)
            }
            _ => return self.fail(errors::not_an_instance(declared.span)),
        };
        if self.module.top_level.contains(&id) {
            self.globals.insert(id, made);
        } else {
            self.env.instances.insert(id, made);
        }
        Ok(made)
    }

    fn instance_path(
        &self,
        name: &str,
        declared: &hir::Instance,
        type_name: &str,
        type_annotations: &[hir::Annotation],
    ) -> SmolStr {
        // An unnamed instance is called by its type's name, and so by its type's `@name`.
        let annotations = if declared.name.is_empty() && name == type_name {
            type_annotations
        } else {
            &declared.annotations
        };
        names::control_plane(&self.env.path, name, annotations)
    }

    /// Makes the environment of a new instance, with constructor arguments bound.
    fn instance_env(
        &mut self,
        declared: &hir::Instance,
        params: &[LocalId],
        types: TypeMap,
        path: SmolStr,
    ) -> Result<Env> {
        let mut env = Env {
            types,
            path,
            ..Env::default()
        };
        for (&param, arg) in params.iter().zip(&declared.args) {
            let Arg::In(expr) = arg else { continue };
            let binding = match self.object(expr)? {
                Some(object) => Binding::Instance(object),
                None => Binding::Const(self.must_evaluate(expr)?),
            };
            env.locals.insert(param, binding);
        }
        Ok(env)
    }

    /// Returns the object that an expression stands for; `None` if it is a value.
    pub(crate) fn object(&mut self, expr: &Expr) -> Result<Option<InstRef>> {
        Ok(match &expr.kind {
            // An array of objects is not an object.
            ExprKind::Instance(id) if self.module.instances[*id].count.is_some() => None,
            ExprKind::Instance(id) => Some(self.instance(*id)?),
            ExprKind::This => self.env.this,
            ExprKind::StackIndex(array, index) => match array.kind {
                ExprKind::Instance(id) => {
                    let all = self.instance_array(id)?;
                    let number = self.must_be_int(index)?;
                    let object = number.to_usize().and_then(|i| all.get(i).copied());
                    if object.is_none() {
                        let count = all.len();
                        return self.fail(errors::no_such_object(index.span, &number, count));
                    }
                    object
                }
                _ => None,
            },
            ExprKind::Call(call) if matches!(self.resolve(&call.result), Ty::Extern(..)) => {
                return self.fail(errors::factory(expr.span));
            }
            ExprKind::Local(id) => match self.env.locals.get(id) {
                Some(Binding::Instance(object)) => Some(*object),
                _ => None,
            },
            _ => None,
        })
    }

    /// Returns the object that an expression must stand for.
    pub(crate) fn must_be_object(&mut self, expr: &Expr) -> Result<InstRef> {
        match self.object(expr)? {
            Some(object) => Ok(object),
            None => self.fail(errors::not_an_instance(expr.span)),
        }
    }

    fn instantiate_extern(
        &mut self,
        id: InstanceId,
        object: hir::ExternId,
        type_args: &[Ty],
        name: &str,
    ) -> Result<InstRef> {
        let declared = &self.module.instances[id];
        let data = &self.module.externs[object];
        let mut args = Vec::new();
        if let Some(constructor) = data.constructors.get(declared.constructor as usize) {
            for (&param, arg) in constructor.params.iter().zip(&declared.args) {
                let value = match arg {
                    Arg::In(expr) => self.ctor_value(expr)?,
                    _ => CtorValue::Absent,
                };
                args.push((self.module.locals[param].name.clone(), value));
            }
        }
        let mut types = Vec::new();
        let mut type_arg_names = Vec::new();
        let mut type_arg_declared = Vec::new();
        for ty in type_args {
            let mut leaves = Vec::new();
            let mut leaf_names = Vec::new();
            let mut declared_leaves = Vec::new();
            // Only what a type argument can hold is kept; an extern may be generic in something
            // that is never stored.
            if !matches!(self.resolve(ty), Ty::Void | Ty::String | Ty::Param(_)) {
                self.leaf_types(ty, declared.span, &mut leaves)?;
                self.declared_leaves(ty, &[], &mut declared_leaves);
                if self.scalar_type(ty).is_none() {
                    self.leaf_names(ty, "", declared.span, &mut leaf_names)?;
                }
            }
            types.push(leaves);
            type_arg_names.push(leaf_names);
            type_arg_declared.push(declared_leaves);
        }
        let name = names::control_plane(&self.env.path, name, &declared.annotations);
        if let Some(prefix) = Prefix::of_extern(&data.name) {
            self.check_id(prefix, &declared.annotations, declared.span);
        }
        if let Some(kind) = names::NamedKind::of_extern(&data.name) {
            self.claim_name(kind, &name, &declared.annotations, declared.span);
        }
        let made = self.program.externs.push(ir::ExternData {
            name,
            ty: data.name.clone(),
            type_args: types,
            type_arg_names,
            type_arg_declared,
            args,
            implementations: Vec::new(),
            annotations: names::keep(&declared.annotations),
            span: declared.span,
        });
        for &(method, function) in &declared.implementations {
            let method = data.methods[method as usize].proto.name.clone();
            self.env.pending.push(PendingMethod {
                object: made,
                method,
                function,
            });
        }
        Ok(InstRef::Extern(made))
    }

    /// Evaluates a constructor argument of an extern, or a table's property.
    pub(crate) fn ctor_value(&mut self, expr: &Expr) -> Result<CtorValue> {
        if let Some(object) = self.object(expr)? {
            return match object {
                InstRef::Extern(object) => Ok(CtorValue::Extern(object)),
                _ => self.fail(errors::not_an_instance(expr.span)),
            };
        }
        Ok(match self.must_evaluate(expr)? {
            ConstValue::Bool(v) => CtorValue::Bool(v),
            ConstValue::Int(v) => CtorValue::Int(v),
            ConstValue::String(v) => CtorValue::String(v),
            ConstValue::Error(v) => CtorValue::Int(v.into()),
            ConstValue::Enum(v) => match self.resolve(&expr.ty) {
                Ty::Enum(id) => {
                    let (of, member) = self.enum_member(id, v, expr.span);
                    CtorValue::Member(of, member)
                }
                _ => return self.fail(errors::not_constant(expr.span)),
            },
            _ => return self.fail(errors::ctor_value(expr.span)),
        })
    }

    /// Makes the instances, variables and value sets of a parser or control, in order.
    pub(crate) fn declare_locals(&mut self, locals: &[BodyDecl]) -> Result<()> {
        for local in locals {
            match local {
                BodyDecl::Local(id, init) => self.declare(*id, init.as_ref())?,
                BodyDecl::Instance(id) => self.declare_instance(*id)?,
                BodyDecl::ValueSet(id) => {
                    let made = self.declare_value_set(*id)?;
                    self.env.value_sets.insert(*id, made);
                }
                BodyDecl::Action(_) | BodyDecl::Table(_) => {}
            }
        }
        Ok(())
    }

    /// Binds a variable to new storage, or a constant to its value.
    pub(crate) fn declare(&mut self, id: LocalId, init: Option<&Expr>) -> Result<()> {
        let local = &self.module.locals[id];
        let binding = match (local.kind, init) {
            (hir::LocalKind::Const, Some(init)) => match self.object(init)? {
                Some(object) => Binding::Instance(object),
                None => Binding::Const(self.must_evaluate(init)?),
            },
            _ => Binding::Storage(self.allocate(&local.name, &local.ty, local.span)?),
        };
        self.env.locals.insert(id, binding);
        Ok(())
    }

    /// Assigns the initial values of a parser's or control's variables.
    pub(crate) fn initialise_locals(&mut self, locals: &[BodyDecl]) -> Result<()> {
        for local in locals {
            if let BodyDecl::Local(id, init) = local {
                self.initialise(*id, init.as_ref(), self.module.locals[*id].span)?;
            }
        }
        Ok(())
    }

    /// Assigns a variable's initial value, or the value that stands for an undefined one.
    pub(crate) fn initialise(
        &mut self,
        id: LocalId,
        init: Option<&Expr>,
        span: Span,
    ) -> Result<()> {
        let Some(Binding::Storage(storage)) = self.env.locals.get(&id).cloned() else {
            return Ok(());
        };
        match init {
            Some(init) => {
                let value = self.eval(init)?;
                self.assign(&storage, value, span)
            }
            None => self.reset(&storage, span),
        }
    }

    /// Makes the value set that is declared here.
    pub(crate) fn declare_value_set(&mut self, id: hir::ValueSetId) -> Result<ir::ValueSet> {
        let set = &self.module.value_sets[id];
        let size = self.must_be_size(&set.size, "the size of a value set")?;
        let elem = self.resolve(&set.elem);
        let (mut fields, mut declared) = (Vec::new(), Vec::new());
        match &elem {
            Ty::Composite(composite, _) => {
                let annotations: Vec<_> = self.module.composites[*composite]
                    .fields
                    .iter()
                    .map(|f| f.annotations.clone())
                    .collect();
                self.check_sibling_ids(annotations.iter().map(Vec::as_slice));
                for ((name, ty), annotations) in
                    self.composite_fields(&elem).into_iter().zip(annotations)
                {
                    declared.push(self.declared(&ty, &annotations));
                    let Some(ty) = self.scalar_type(&ty) else {
                        return self.fail(errors::not_storable(set.span));
                    };
                    fields.push((name, ty, self.match_annotation(&annotations, set.span)?));
                }
            }
            Ty::Tuple(elems) => {
                for (i, ty) in elems.iter().enumerate() {
                    declared.push(self.declared(ty, &[]));
                    let Some(ty) = self.scalar_type(ty) else {
                        return self.fail(errors::not_storable(set.span));
                    };
                    fields.push((smol_str::format_smolstr!("{i}"), ty, ir::MatchKind::Exact));
                }
            }
            _ => {
                declared.push(self.declared(&set.elem, &set.annotations));
                let Some(ty) = self.scalar_type(&elem) else {
                    return self.fail(errors::not_storable(set.span));
                };
                let kind = self.match_annotation(&set.annotations, set.span)?;
                fields.push((set.name.clone(), ty, kind));
            }
        }
        let name = names::control_plane(&self.env.path, &set.name, &set.annotations);
        self.claim_name(
            names::NamedKind::ValueSet,
            &name,
            &set.annotations,
            set.span,
        );
        Ok(self.program.value_sets.push(ir::ValueSetData {
            name,
            fields,
            declared,
            size,
            annotations: names::keep(&set.annotations),
            span: set.span,
        }))
    }

    /// Returns the kind in `@match(kind)`; exact without it.
    fn match_annotation(
        &mut self,
        annotations: &[hir::Annotation],
        span: Span,
    ) -> Result<ir::MatchKind> {
        let Some(annotation) = annotations.iter().find(|a| a.name == "match") else {
            return Ok(ir::MatchKind::Exact);
        };
        let kind = match &annotation.body {
            hir::AnnotationBody::Tokens(tokens) => tokens.first().cloned(),
            hir::AnnotationBody::Values(values) => match values.first() {
                Some(ConstValue::MatchKind(index)) => {
                    self.module.match_kinds.get(*index as usize).cloned()
                }
                Some(ConstValue::String(name)) => Some(name.into()),
                Some(ConstValue::Int(index)) => index
                    .to_usize()
                    .and_then(|i| self.module.match_kinds.get(i).cloned()),
                _ => None,
            },
            _ => None,
        };
        self.match_kind(kind.as_deref().unwrap_or("?"), span)
    }

    /// Returns the IR's match kind with a name.
    pub(crate) fn match_kind(&mut self, name: &str, span: Span) -> Result<ir::MatchKind> {
        match ir::MatchKind::from_name(name) {
            Some(kind) => Ok(kind),
            None => self.fail(errors::match_kind(span, name)),
        }
    }

    /// Runs `build` with another environment; returns its result and this environment.
    pub(crate) fn within<R>(
        &mut self,
        env: Env,
        build: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<(R, Env)> {
        // A body within a body takes many frames of the stack.
        self.depth += BODY_DEPTH;
        let outer = std::mem::replace(&mut self.env, env);
        let built = build(self);
        let inner = std::mem::replace(&mut self.env, outer);
        self.depth -= BODY_DEPTH;
        built.map(|result| (result, inner))
    }
}
