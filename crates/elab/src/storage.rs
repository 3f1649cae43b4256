//! Storage of values: structs, tuples, unions and stacks are split into variables and headers.

use crate::array::{ArrayLoc, Flat};
use crate::types::TypeShape;
use crate::{Elab, Result};
use diag::Span;
use hir::Ty;
use ir::{ExprKind, Header, HeaderData, HeaderRef, HeaderType, Place, Stack, StackData, Type, Var};
use smol_str::{SmolStr, format_smolstr};
use std::rc::Rc;

/// Storage of a value of any type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Storage {
    /// One value.
    Scalar(Place),
    /// A header.
    Header(HeaderLoc),
    /// The elements of a struct or tuple, or of an array whose elements lie apart.
    Struct(Rc<[Storage]>),
    /// A header union's members.
    Union(Rc<[HeaderLoc]>),
    /// A header stack.
    Stack(StackLoc),
    /// An array of anything else.
    Array(ArrayLoc),
}

/// A header in storage.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct HeaderLoc {
    /// The header.
    pub(crate) at: HeaderRef,
    /// Its layout.
    pub(crate) ty: HeaderType,
    /// All members of the union that it is in, itself included; at most one of them is valid.
    pub(crate) union: Option<Rc<[HeaderRef]>>,
}

impl HeaderLoc {
    /// The other members of its union.
    pub(crate) fn siblings(&self) -> impl Iterator<Item = HeaderRef> + '_ {
        let all = self.union.as_deref().unwrap_or(&[]);
        all.iter().copied().filter(|&h| h != self.at)
    }
}

/// A stack in storage. A stack of unions has one stack for each member; they share the next index.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct StackLoc {
    /// One stack, or one for each member of the union.
    pub(crate) members: Rc<[(Stack, HeaderType)]>,
    /// True if its elements are unions.
    pub(crate) of_unions: bool,
    /// Number of elements.
    pub(crate) size: u32,
    /// Variable with the next index.
    pub(crate) next: Var,
}

impl StackLoc {
    /// Returns an element, given its headers.
    fn element(&self, headers: Vec<(HeaderRef, HeaderType)>) -> Storage {
        match headers[..] {
            [(at, ty)] if !self.of_unions => Storage::Header(HeaderLoc {
                at,
                ty,
                union: None,
            }),
            _ => union_of(headers.into_iter()),
        }
    }
}

/// A scalar or a header: a leaf of storage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Leaf {
    /// A scalar.
    Scalar(Place),
    /// A header.
    Header(HeaderRef),
}

impl Elab<'_> {
    /// Makes a variable.
    pub(crate) fn new_var(&mut self, name: impl Into<SmolStr>, ty: Type, span: Span) -> Var {
        self.size += 1;
        self.program.vars.push(ir::VarData {
            name: name.into(),
            ty,
            span,
        })
    }

    /// Makes a header.
    pub(crate) fn new_header(
        &mut self,
        name: impl Into<SmolStr>,
        ty: HeaderType,
        span: Span,
    ) -> Header {
        self.size += 1;
        self.program.headers.push(HeaderData {
            name: name.into(),
            ty,
            span,
        })
    }

    /// Makes storage for a value of a type.
    pub(crate) fn allocate(&mut self, name: &str, ty: &Ty, span: Span) -> Result<Storage> {
        self.grow(1, span)?;
        self.deeper(span, |elab| elab.allocate_shape(name, ty, span))
    }

    fn allocate_shape(&mut self, name: &str, ty: &Ty, span: Span) -> Result<Storage> {
        Ok(match &*self.shape(ty, span)? {
            TypeShape::Scalar(ty) => Storage::Scalar(Place::Var(self.new_var(name, *ty, span))),
            TypeShape::Header(ty) => {
                let header = self.new_header(name, *ty, span);
                Storage::Header(HeaderLoc {
                    at: HeaderRef::Header(header),
                    ty: *ty,
                    union: None,
                })
            }
            TypeShape::Struct(fields) => {
                let (composite, kept) = (ty, self.kept_of(ty));
                let mut storage = Vec::new();
                for (i, (field, ty)) in fields.iter().enumerate() {
                    let outer = self.apart;
                    self.apart |= kept.get(i).is_some_and(|kept| *kept);
                    let at = self.declared_at(composite, i, ty).unwrap_or(span);
                    let made = self.allocate(&join(name, field), ty, at);
                    self.apart = outer;
                    storage.push(made?);
                }
                Storage::Struct(storage.into())
            }
            TypeShape::Union(members) => {
                let headers: Vec<_> = members
                    .iter()
                    .map(|(field, ty)| (self.new_header(join(name, field), *ty, span), *ty))
                    .collect();
                union_of(
                    headers
                        .into_iter()
                        .map(|(h, ty)| (HeaderRef::Header(h), ty)),
                )
            }
            TypeShape::Stack(elem, size) => self.allocate_stack(name, elem, *size, span)?,
            TypeShape::Array(elem, size) => self.allocate_array(name, elem, *size, span)?,
        })
    }

    /// Returns the location of a field's declaration, if it is a header stack or another array. Its size is given
    /// there, and not where a variable of the struct is declared.
    fn declared_at(&self, composite: &Ty, field: usize, ty: &Ty) -> Option<Span> {
        let (Ty::Composite(id, _), Ty::Stack(..)) = (self.resolve(composite), self.resolve(ty))
        else {
            return None;
        };
        let fields = &self.module.composites[id].fields;
        fields.get(field).map(|field| field.span)
    }

    fn allocate_stack(&mut self, name: &str, elem: &Ty, size: u32, span: Span) -> Result<Storage> {
        self.grow(size as usize, span)?;
        let shape = self.shape(elem, span)?;
        let (members, of_unions): (Vec<(SmolStr, HeaderType)>, bool) = match &*shape {
            TypeShape::Union(members) => (members.clone(), true),
            TypeShape::Header(ty) => (vec![(SmolStr::default(), *ty)], false),
            _ => return self.fail(crate::errors::not_storable(span)),
        };
        let next = self.new_var(join(name, "nextIndex"), Type::bit(32), span);
        let mut stacks = Vec::new();
        for (member, ty) in members {
            let element = |i| join(&format!("{name}[{i}]"), &member);
            let stack = join(name, &member);
            let stack = self.stack_of_headers(stack, ty, size, next, span, &element);
            stacks.push((stack, ty));
        }
        Ok(Storage::Stack(StackLoc {
            members: stacks.into(),
            of_unions,
            size,
            next,
        }))
    }

    /// Makes a stack of headers, each with the name that `element` returns.
    pub(crate) fn stack_of_headers(
        &mut self,
        name: SmolStr,
        ty: HeaderType,
        size: u32,
        next: Var,
        span: Span,
        element: &dyn Fn(u32) -> SmolStr,
    ) -> Stack {
        // A stack in the IR has an element, even if no index reaches it.
        let elems: Vec<Header> = (0..size.max(1))
            .map(|i| self.new_header(element(i), ty, span))
            .collect();
        let stack = self.program.stacks.push(StackData {
            name,
            elems: elems.clone(),
            next,
            rolled: false,
        });
        self.stack_of.extend(elems.iter().map(|&h| (h, stack)));
        stack
    }

    /// Allocates storage of the same form as other storage.
    pub(crate) fn storage_like(&mut self, like: &Storage, span: Span) -> Result<Storage> {
        self.grow(1, span)?;
        Ok(match like {
            Storage::Scalar(place) => {
                let ty = self.place_type(*place);
                Storage::Scalar(Place::Var(self.new_var("tmp", ty, span)))
            }
            Storage::Header(header) => Storage::Header(HeaderLoc {
                at: HeaderRef::Header(self.new_header("tmp", header.ty, span)),
                ty: header.ty,
                union: None,
            }),
            Storage::Union(members) => {
                let types: Vec<HeaderType> = members.iter().map(|m| m.ty).collect();
                let made = types.into_iter().map(|ty| {
                    let header = self.new_header("tmp", ty, span);
                    (HeaderRef::Header(header), ty)
                });
                union_of(made.collect::<Vec<_>>().into_iter())
            }
            Storage::Struct(parts) => {
                let mut made = Vec::new();
                for part in parts.iter() {
                    made.push(self.storage_like(part, span)?);
                }
                Storage::Struct(made.into())
            }
            Storage::Stack(stack) => {
                let next = self.new_var("tmp.nextIndex", Type::bit(32), span);
                let mut members = Vec::new();
                for &(_, ty) in stack.members.iter() {
                    let element = |i| format_smolstr!("tmp[{i}]");
                    let name = SmolStr::from("tmp");
                    let made = self.stack_of_headers(name, ty, stack.size, next, span, &element);
                    members.push((made, ty));
                }
                Storage::Stack(StackLoc {
                    members: members.into(),
                    next,
                    ..stack.clone()
                })
            }
            Storage::Array(array) => Storage::Array(self.array_like(array, span)?),
        })
    }

    /// Returns an element of a stack; a constant index gives the header itself.
    pub(crate) fn element(&self, stack: &StackLoc, index: ir::Expr) -> Storage {
        let constant = match &self.program.exprs[index].kind {
            ExprKind::Const(bits) => bits.to_u64().filter(|&i| i < u64::from(stack.size)),
            _ => None,
        };
        let refs: Vec<_> = stack
            .members
            .iter()
            .map(|&(member, ty)| match constant {
                Some(i) => {
                    let header = self.program.stacks[member].elems[i as usize];
                    (HeaderRef::Header(header), ty)
                }
                None => (HeaderRef::Element(member, index), ty),
            })
            .collect();
        stack.element(refs)
    }

    /// Returns the elements of a stack in order.
    pub(crate) fn elements(&self, stack: &StackLoc) -> Vec<Storage> {
        (0..stack.size as usize)
            .map(|i| {
                let refs: Vec<_> = stack
                    .members
                    .iter()
                    .map(|&(member, ty)| {
                        (HeaderRef::Header(self.program.stacks[member].elems[i]), ty)
                    })
                    .collect();
                stack.element(refs)
            })
            .collect()
    }

    /// Returns the storage of a header's field, by the field's index in the declaration.
    pub(crate) fn field_storage(
        &mut self,
        header: &HeaderLoc,
        ty: &Ty,
        index: u32,
        span: Span,
    ) -> Result<Storage> {
        let (start, field) = self.flat_index(ty, index, span)?;
        let mut at = start;
        self.field_at(header.at, &field, &mut at, span)
    }

    /// Returns the index of a declared field's first scalar in a header's layout, and the field's type.
    pub(crate) fn flat_index(&mut self, ty: &Ty, index: u32, span: Span) -> Result<(u32, Ty)> {
        let fields = self.composite_fields(ty);
        let mut start = 0;
        for (_, field) in &fields[..index as usize] {
            start += self.leaf_count(field, span)? as u32;
        }
        Ok((start, fields[index as usize].1.clone()))
    }

    fn field_at(
        &mut self,
        header: HeaderRef,
        ty: &Ty,
        at: &mut u32,
        span: Span,
    ) -> Result<Storage> {
        Ok(match &*self.shape(ty, span)? {
            TypeShape::Struct(fields) => {
                let mut storage = Vec::new();
                for (_, ty) in fields {
                    storage.push(self.field_at(header, ty, at, span)?);
                }
                Storage::Struct(storage.into())
            }
            TypeShape::Array(elem, size) => {
                let mut storage = Vec::new();
                for _ in 0..*size {
                    storage.push(self.field_at(header, elem, at, span)?);
                }
                Storage::Struct(storage.into())
            }
            _ => {
                *at += 1;
                Storage::Scalar(Place::Field(header, *at - 1))
            }
        })
    }

    /// Returns the scalars and headers of storage in order; a stack's elements come before its next index.
    pub(crate) fn leaves(&self, storage: &Storage) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect_leaves(storage, &mut leaves);
        leaves
    }

    fn collect_leaves(&self, storage: &Storage, into: &mut Vec<Leaf>) {
        match storage {
            Storage::Scalar(place) => into.push(Leaf::Scalar(*place)),
            Storage::Header(header) => into.push(Leaf::Header(header.at)),
            Storage::Struct(fields) => fields.iter().for_each(|f| self.collect_leaves(f, into)),
            Storage::Union(members) => into.extend(members.iter().map(|m| Leaf::Header(m.at))),
            Storage::Stack(stack) => {
                for elem in self.elements(stack) {
                    self.collect_leaves(&elem, into);
                }
                into.push(Leaf::Scalar(Place::Var(stack.next)));
            }
            Storage::Array(array) => {
                let mut headers = Vec::new();
                self.array_headers(array, &mut headers);
                into.extend(headers.into_iter().map(Leaf::Header));
            }
        }
    }

    /// Returns the places of all scalars of storage, including headers' fields but not next indices.
    pub(crate) fn places(&self, storage: &Storage) -> Vec<Place> {
        let mut places = Vec::new();
        self.collect_places(storage, &mut places);
        places
    }

    fn collect_places(&self, storage: &Storage, into: &mut Vec<Place>) {
        match storage {
            Storage::Scalar(place) => into.push(*place),
            Storage::Header(header) => into.extend(self.header_places(header)),
            Storage::Struct(fields) => fields.iter().for_each(|f| self.collect_places(f, into)),
            Storage::Union(members) => {
                for member in members.iter() {
                    into.extend(self.header_places(member));
                }
            }
            Storage::Stack(stack) => {
                for elem in self.elements(stack) {
                    self.collect_places(&elem, into);
                }
            }
            Storage::Array(array) => {
                for elem in self.fixed_elements(array) {
                    self.collect_places(&elem, into);
                }
            }
        }
    }

    fn header_places(&self, header: &HeaderLoc) -> impl Iterator<Item = Place> + use<> {
        let count = self.program.header_types[header.ty].fields.len() as u32;
        let at = header.at;
        (0..count).map(move |i| Place::Field(at, i))
    }

    /// Returns the type of a place.
    pub(crate) fn place_type(&self, place: Place) -> Type {
        match place {
            Place::Var(var) => self.program.vars[var].ty,
            Place::Field(header, index) => {
                let ty = self.header_ref_type(header);
                self.program.header_types[ty].fields[index as usize].ty
            }
        }
    }

    /// Returns the layout of a header.
    pub(crate) fn header_ref_type(&self, header: HeaderRef) -> HeaderType {
        match header {
            HeaderRef::Header(header) => self.program.headers[header].ty,
            HeaderRef::Element(stack, _) => {
                // A stack in the IR has at least one element.
                let first = self.program.stacks[stack].elems[0];
                self.program.headers[first].ty
            }
        }
    }

    /// Returns true if storage is always in the same place, so that no index is evaluated to find it.
    pub(crate) fn is_static(&self, storage: &Storage) -> bool {
        let fixed = |h: HeaderRef| matches!(h, HeaderRef::Header(_));
        match storage {
            Storage::Scalar(Place::Var(_)) | Storage::Stack(_) => true,
            Storage::Scalar(Place::Field(header, _)) => fixed(*header),
            Storage::Header(header) => fixed(header.at),
            Storage::Struct(fields) => fields.iter().all(|f| self.is_static(f)),
            Storage::Union(members) => members.iter().all(|m| fixed(m.at)),
            Storage::Array(array) => matches!(array.base, Flat::At(_)),
        }
    }
}

/// Returns the storage of a union.
pub(crate) fn union_of(members: impl Iterator<Item = (HeaderRef, HeaderType)>) -> Storage {
    let members: Vec<_> = members.collect();
    let all: Rc<[HeaderRef]> = members.iter().map(|&(at, _)| at).collect();
    Storage::Union(
        members
            .into_iter()
            .map(|(at, ty)| HeaderLoc {
                at,
                ty,
                union: Some(all.clone()),
            })
            .collect(),
    )
}

/// `a.b`, or one of them if the other is empty.
pub(crate) fn join(a: &str, b: &str) -> SmolStr {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b.into(),
        (_, true) => a.into(),
        _ => format_smolstr!("{a}.{b}"),
    }
}
