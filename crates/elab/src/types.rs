//! Types: substitution of type parameters, and the shapes of types.

use crate::storage::join;
use crate::{Elab, Result, errors};
use diag::Span;
use hir::{CompositeKind, Ty};
use ir::{FieldData, HeaderType, HeaderTypeData, Type};
use smol_str::SmolStr;
use std::collections::HashMap;
use std::rc::Rc;

/// Shape of a type that can be stored.
#[derive(Debug)]
pub(crate) enum TypeShape {
    /// One value.
    Scalar(Type),
    /// A header.
    Header(HeaderType),
    /// A struct or tuple: names, types.
    Struct(Vec<(SmolStr, Ty)>),
    /// A header union: names, layouts.
    Union(Vec<(SmolStr, HeaderType)>),
    /// A header stack: element type, size.
    Stack(Ty, u32),
    /// An array of anything else: element type, size.
    Array(Ty, u32),
}

/// Type arguments by parameter.
pub(crate) type TypeMap = HashMap<hir::TypeParamId, Ty>;

/// Returns `ty` with type parameters replaced.
pub(crate) fn substitute(ty: &Ty, map: &TypeMap) -> Ty {
    let all = |args: &Rc<[Ty]>| -> Rc<[Ty]> { args.iter().map(|a| substitute(a, map)).collect() };
    match ty {
        Ty::Param(id) => map.get(id).cloned().unwrap_or_else(|| ty.clone()),
        Ty::Composite(id, args) => Ty::Composite(*id, all(args)),
        Ty::Stack(elem, size) => Ty::Stack(Rc::new(substitute(elem, map)), *size),
        Ty::Tuple(args) => Ty::Tuple(all(args)),
        Ty::List(elem) => Ty::List(Rc::new(substitute(elem, map))),
        Ty::Set(elem) => Ty::Set(Rc::new(substitute(elem, map))),
        Ty::Extern(id, args) => Ty::Extern(*id, all(args)),
        Ty::Parser(id, args) => Ty::Parser(*id, all(args)),
        Ty::Control(id, args) => Ty::Control(*id, all(args)),
        Ty::Package(id, args) => Ty::Package(*id, all(args)),
        _ => ty.clone(),
    }
}

/// Pairs type parameters with arguments.
pub(crate) fn type_map(params: &[hir::TypeParamId], args: &[Ty]) -> TypeMap {
    params.iter().copied().zip(args.iter().cloned()).collect()
}

impl Elab<'_> {
    /// Returns a type with the type arguments of the current scope, and with `type` declarations looked through at
    /// the top.
    pub(crate) fn resolve(&self, ty: &Ty) -> Ty {
        let mut ty = substitute(ty, &self.env.types);
        while let Ty::NewType(id) = ty {
            ty = substitute(&self.module.new_types[id].ty, &self.env.types);
        }
        ty
    }

    /// Returns the shape of `ty`; an error if it cannot be stored.
    pub(crate) fn shape(&mut self, ty: &Ty, span: Span) -> Result<Rc<TypeShape>> {
        let ty = self.resolve(ty);
        if let Some(shape) = self.shapes.get(&ty) {
            return Ok(shape.clone());
        }
        let shape = self.deeper(span, |elab| elab.make_shape(&ty, span))?;
        let shape = Rc::new(shape);
        self.shapes.insert(ty, shape.clone());
        Ok(shape)
    }

    fn make_shape(&mut self, ty: &Ty, span: Span) -> Result<TypeShape> {
        if let Some(scalar) = self.scalar_type(ty) {
            return Ok(TypeShape::Scalar(scalar));
        }
        Ok(match ty {
            Ty::Composite(id, args) => {
                let composite = &self.module.composites[*id];
                let map = type_map(&composite.type_params, args);
                let fields = composite
                    .fields
                    .iter()
                    .map(|f| (f.name.clone(), substitute(&f.ty, &map)));
                match composite.kind {
                    CompositeKind::Struct => TypeShape::Struct(fields.collect()),
                    CompositeKind::Header => TypeShape::Header(self.header_type(ty, span)?),
                    CompositeKind::Union => {
                        let fields: Vec<_> = fields.collect();
                        let mut members = Vec::new();
                        for (name, ty) in fields {
                            members.push((name, self.header_type(&ty, span)?));
                        }
                        TypeShape::Union(members)
                    }
                }
            }
            Ty::Tuple(elems) => TypeShape::Struct(
                elems
                    .iter()
                    .enumerate()
                    .map(|(i, t)| (smol_str::format_smolstr!("{i}"), t.clone()))
                    .collect(),
            ),
            Ty::Stack(elem, size) => {
                let elem = self.resolve(elem);
                match *self.shape(&elem, span)? {
                    TypeShape::Header(_) | TypeShape::Union(_) => TypeShape::Stack(elem, *size),
                    _ => TypeShape::Array(elem, *size),
                }
            }
            ty => return self.fail(errors::no_run_time_value(span, in_words(ty))),
        })
    }

    /// Returns the IR's type for a scalar type, `None` for any other.
    pub(crate) fn scalar_type(&mut self, ty: &Ty) -> Option<Type> {
        Some(match self.resolve(ty) {
            Ty::Bool => Type::Bool,
            Ty::Bits { width, signed } => Type::Bits { width, signed },
            Ty::Varbit(max) => Type::Varbit(max),
            Ty::Error => Type::Error,
            Ty::Enum(id) => match self.module.enums[id].underlying.clone() {
                Some(ty) => return self.scalar_type(&ty),
                None => Type::Enum(self.enum_of(id)),
            },
            _ => return None,
        })
    }

    /// Returns the IR's enum for one without representation.
    pub(crate) fn enum_of(&mut self, id: hir::EnumId) -> ir::Enum {
        if let Some(&known) = self.enums.get(&id) {
            return known;
        }
        let declared = &self.module.enums[id];
        let data = ir::EnumData {
            name: declared.name.clone(),
            members: declared.members.iter().map(|(n, _)| n.clone()).collect(),
        };
        let made = self.program.enums.push(data);
        self.enums.insert(id, made);
        made
    }

    /// Returns a member of an enum without representation. Warns about a member that may not do what a user
    /// expects.
    pub(crate) fn enum_member(
        &mut self,
        id: hir::EnumId,
        member: u32,
        at: Span,
    ) -> (ir::Enum, u32) {
        let declared = &self.module.enums[id];
        let fixed = arch::by_package(&self.program.arch).map_or(&[][..], |arch| arch.fixed);
        let named = declared.members.get(member as usize);
        let found = fixed
            .iter()
            .find(|f| declared.name == f.of && named.is_some_and(|(name, _)| name == f.member));
        if let Some(found) = found {
            let warning = errors::fixed_member(at, found.member, found.like);
            // A block that is applied twice is visited twice.
            if !self.diagnostics.iter().any(|known| *known == warning) {
                self.diagnostics.push(warning);
            }
        }
        (self.enum_of(id), member)
    }

    /// Returns the layout of a header.
    pub(crate) fn header_type(&mut self, ty: &Ty, span: Span) -> Result<HeaderType> {
        let ty = self.resolve(ty);
        if let Some(&known) = self.header_types.get(&ty) {
            return Ok(known);
        }
        let Ty::Composite(id, args) = &ty else {
            return self.fail(errors::not_storable(span));
        };
        let composite = &self.module.composites[*id];
        let map = type_map(&composite.type_params, args);
        let mut fields = Vec::new();
        for field in &composite.fields {
            let ty = substitute(&field.ty, &map);
            self.header_fields(&field.name, &ty, field.span, &mut fields)?;
        }
        let data = HeaderTypeData {
            name: composite.name.clone(),
            fields,
        };
        let made = self.program.header_types.push(data);
        self.header_types.insert(ty, made);
        Ok(made)
    }

    /// Refuses a header that is extracted or emitted although no target can do that.
    pub(crate) fn require_on_wire(&mut self, ty: HeaderType, span: Span) -> Result<()> {
        let data = &self.program.header_types[ty];
        let varbits = data.fields.iter();
        let varbits = varbits.filter(|f| matches!(f.ty, Type::Varbit(_))).count();
        let (name, width) = (data.name.clone(), data.fixed_width());
        let found = if varbits > 1 {
            errors::two_varbits(span, &name)
        } else if !width.is_multiple_of(8) {
            errors::header_width(span, &name, width)
        } else {
            return Ok(());
        };
        let mut composites = self.module.composites.values();
        let declared = composites.find(|c| c.name == name).map(|c| c.span);
        self.fail(found.also(declared.unwrap_or(Span::NONE), "declared here"))
    }

    fn header_fields(
        &mut self,
        name: &str,
        ty: &Ty,
        span: Span,
        into: &mut Vec<FieldData>,
    ) -> Result<()> {
        match &*self.shape(ty, span)? {
            TypeShape::Scalar(ty) => {
                // A field of an enum without representation has no bits to lie in.
                if matches!(ty, Type::Error | Type::Enum(_)) {
                    let what = match ty {
                        Type::Error => "an `error`",
                        _ => "an enum without a type",
                    };
                    return self.fail(errors::no_header_field(span, name, what));
                }
                into.push(FieldData {
                    name: name.into(),
                    ty: *ty,
                });
                Ok(())
            }
            TypeShape::Struct(fields) => {
                for (field, ty) in fields {
                    self.header_fields(&format!("{name}.{field}"), ty, span, into)?;
                }
                Ok(())
            }
            TypeShape::Array(elem, size) => {
                for i in 0..*size {
                    self.header_fields(&format!("{name}[{i}]"), elem, span, into)?;
                }
                Ok(())
            }
            _ => self.fail(errors::not_storable(span)),
        }
    }

    /// Returns the number of scalars that a type without headers is split into.
    pub(crate) fn leaf_count(&mut self, ty: &Ty, span: Span) -> Result<usize> {
        match &*self.shape(ty, span)? {
            TypeShape::Scalar(_) => Ok(1),
            TypeShape::Struct(fields) => {
                let mut count = 0;
                for (_, ty) in fields {
                    count += self.leaf_count(ty, span)?;
                }
                Ok(count)
            }
            TypeShape::Array(elem, size) => Ok(self.leaf_count(elem, span)? * *size as usize),
            _ => self.fail(errors::not_storable(span)),
        }
    }

    /// Adds the types of the scalars that a type is split into, including those of headers' fields.
    pub(crate) fn leaf_types(&mut self, ty: &Ty, span: Span, into: &mut Vec<Type>) -> Result<()> {
        match &*self.shape(ty, span)? {
            TypeShape::Scalar(ty) => into.push(*ty),
            TypeShape::Header(ty) => {
                into.extend(self.program.header_types[*ty].fields.iter().map(|f| f.ty));
            }
            TypeShape::Struct(fields) => {
                for (_, ty) in fields {
                    self.leaf_types(ty, span, into)?;
                }
            }
            TypeShape::Union(members) => {
                for (_, ty) in members {
                    into.extend(self.program.header_types[*ty].fields.iter().map(|f| f.ty));
                }
            }
            TypeShape::Stack(elem, size) | TypeShape::Array(elem, size) => {
                for _ in 0..*size {
                    self.leaf_types(elem, span, into)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the dotted names of those scalars, in the same order.
    pub(crate) fn leaf_names(
        &mut self,
        ty: &Ty,
        path: &str,
        span: Span,
        into: &mut Vec<SmolStr>,
    ) -> Result<()> {
        let header = |elab: &Self, ty: HeaderType, path: &str, into: &mut Vec<SmolStr>| {
            let fields = &elab.program.header_types[ty].fields;
            into.extend(fields.iter().map(|f| join(path, &f.name)));
        };
        match &*self.shape(ty, span)? {
            TypeShape::Scalar(_) => into.push(path.into()),
            TypeShape::Header(ty) => header(self, *ty, path, into),
            TypeShape::Struct(fields) => {
                for (name, ty) in fields {
                    self.leaf_names(ty, &join(path, name), span, into)?;
                }
            }
            TypeShape::Union(members) => {
                for (name, ty) in members {
                    header(self, *ty, &join(path, name), into);
                }
            }
            TypeShape::Stack(elem, size) | TypeShape::Array(elem, size) => {
                for i in 0..*size {
                    self.leaf_names(elem, &format!("{path}[{i}]"), span, into)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the declared fields of a header or struct, with their types.
    pub(crate) fn composite_fields(&self, ty: &Ty) -> Vec<(SmolStr, Ty)> {
        match self.resolve(ty) {
            Ty::Composite(id, args) => {
                let composite = &self.module.composites[id];
                let map = type_map(&composite.type_params, &args);
                composite
                    .fields
                    .iter()
                    .map(|f| (f.name.clone(), substitute(&f.ty, &map)))
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns a user's words for the values of a type that has none at run time.
fn in_words(ty: &Ty) -> &'static str {
    match ty {
        Ty::Int => "an `int`",
        Ty::String => "a string",
        Ty::List(_) => "a list",
        Ty::MatchKind => "a match kind",
        Ty::Void => "nothing",
        Ty::Extern(..) => "an extern object",
        Ty::Parser(..) => "a parser",
        Ty::Control(..) => "a control",
        Ty::Package(..) => "a package",
        _ => "this",
    }
}
