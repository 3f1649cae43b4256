//! Arrays of anything but headers. Each scalar of an element has a header stack, whose headers have one field and
//! whose validity is never read. Thus every target can index arrays at run time as it indexes stacks. Arrays that
//! cannot be stored in this way are in `apart.rs`.

use crate::storage::{HeaderLoc, Leaf, Storage, join, union_of};
use crate::types::TypeShape;
use crate::value::Value;
use crate::{Elab, Result, errors};
use diag::Span;
use hir::Ty;
use ir::{
    BinaryOp, Expr, ExprKind, FieldData, HeaderRef, HeaderType, HeaderTypeData, Place, Stack, Type,
};
use smol_str::{SmolStr, format_smolstr};
use std::rc::Rc;

/// An array in storage: elements `size * base` to `size * base + size - 1` of its stacks.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ArrayLoc {
    /// Parts of an element.
    pub(crate) elem: Rc<ElementPart>,
    /// Number of elements.
    pub(crate) size: u32,
    /// Index of this array among those in its stacks, since arrays may be elements of arrays.
    pub(crate) base: Flat,
}

/// Part of an array's element, with the stack that holds it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ElementPart {
    /// A scalar: the one field of the stack's headers.
    Scalar(Stack),
    /// A header.
    Header(Stack, HeaderType),
    /// A header union: a stack for each member.
    Union(Rc<[(Stack, HeaderType)]>),
    /// A struct or tuple.
    Struct(Rc<[ElementPart]>),
    /// An array.
    Array(Rc<ElementPart>, u32),
}

/// An index into the stacks of an array.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Flat {
    /// A constant.
    At(u32),
    /// A `bit<32>`, which is out of bounds if one of the source's indices is.
    By(Expr),
}

impl Elab<'_> {
    /// Makes storage for an array.
    pub(crate) fn allocate_array(
        &mut self,
        name: &str,
        elem: &Ty,
        size: u32,
        span: Span,
    ) -> Result<Storage> {
        if let Some(apart) = self.allocate_apart(name, elem, size, span)? {
            return Ok(apart);
        }
        let named = Named::of(name, size);
        let part = self.allocate_part(&named, name, elem, u64::from(size), span)?;
        Ok(Storage::Array(ArrayLoc {
            elem: Rc::new(part),
            size,
            base: Flat::At(0),
        }))
    }

    /// Allocates stacks of `count` elements for the parts of a type. `named` names the stacks; `array` is the array
    /// that they belong to.
    fn allocate_part(
        &mut self,
        named: &Named,
        array: &str,
        ty: &Ty,
        count: u64,
        span: Span,
    ) -> Result<ElementPart> {
        if count > u64::from(hir::MAX_STACK_SIZE) {
            return self.fail(errors::array_size(span, count, hir::MAX_STACK_SIZE));
        }
        let count = count as u32;
        Ok(match &*self.shape(ty, span)? {
            TypeShape::Scalar(scalar) => {
                let layout = self.boxed(*scalar);
                ElementPart::Scalar(self.allocate_elements(named, layout, count, span)?)
            }
            TypeShape::Header(layout) => ElementPart::Header(
                self.allocate_elements(named, *layout, count, span)?,
                *layout,
            ),
            TypeShape::Union(members) => {
                let mut stacks = Vec::new();
                for (member, layout) in members {
                    let named = named.field(member);
                    let stack = self.allocate_elements(&named, *layout, count, span)?;
                    stacks.push((stack, *layout));
                }
                ElementPart::Union(stacks.into())
            }
            TypeShape::Struct(fields) => {
                let mut parts = Vec::new();
                for (field, ty) in fields {
                    parts.push(self.allocate_part(
                        &named.field(field),
                        array,
                        ty,
                        count.into(),
                        span,
                    )?);
                }
                ElementPart::Struct(parts.into())
            }
            TypeShape::Array(elem, size) => {
                let all = u64::from(count) * u64::from(*size);
                let part = self.allocate_part(&named.array(*size), array, elem, all, span)?;
                ElementPart::Array(Rc::new(part), *size)
            }
            TypeShape::Stack(..) => return self.fail(errors::array_of_stacks(span, array)),
        })
    }

    fn allocate_elements(
        &mut self,
        named: &Named,
        layout: HeaderType,
        count: u32,
        span: Span,
    ) -> Result<Stack> {
        self.grow(count as usize, span)?;
        let name = named.stack();
        let next = self.new_var(join(&name, "nextIndex"), Type::bit(32), span);
        let element = |i| named.element(i);
        Ok(self.stack_of_headers(name, layout, count, next, span, &element))
    }

    /// Returns the layout of a header whose only field is a scalar of this type.
    fn boxed(&mut self, ty: Type) -> HeaderType {
        if let Some(&known) = self.boxes.get(&ty) {
            return known;
        }
        let name: SmolStr = "element".into();
        let fields = vec![FieldData {
            name: "value".into(),
            ty,
        }];
        let made = self
            .program
            .header_types
            .push(HeaderTypeData { name, fields });
        self.boxes.insert(ty, made);
        made
    }

    /// Returns an element of an array, by a `bit<32>`.
    pub(crate) fn array_element(&mut self, array: &ArrayLoc, index: Expr, span: Span) -> Storage {
        let known = match &self.program.exprs[index].kind {
            ExprKind::Const(bits) => bits.to_u64().filter(|&i| i < u64::from(array.size)),
            _ => None,
        };
        let at = match (array.base, known) {
            (Flat::At(base), Some(i)) => Flat::At(base * array.size + i as u32),
            // The stacks have no other elements, so their own bounds are the array's.
            (Flat::At(0), None)
                if !nests(&array.elem) && self.length(&array.elem) == Some(array.size) =>
            {
                Flat::By(index)
            }
            (base, _) => {
                let size = self.bits(32, array.size.into(), span);
                let base = match base {
                    Flat::At(base) => self.bits(32, base.into(), span),
                    Flat::By(base) => base,
                };
                let word = Type::bit(32);
                let from = self.binary(BinaryOp::Mul, base, size, word, span);
                let sum = self.binary(BinaryOp::Add, from, index, word, span);
                // An index that is out of bounds stays so: no multiple of it is a small number.
                let beyond = self.bits(32, u64::from(u32::MAX / 2), span);
                let limit = self.bits(32, u64::from(hir::MAX_STACK_SIZE), span);
                let inside = self.binary(BinaryOp::Lt, index, size, Type::Bool, span);
                let sound = self.binary(BinaryOp::Lt, base, limit, Type::Bool, span);
                let both = self.and(inside, sound, span);
                Flat::By(self.expr(ExprKind::Mux(both, sum, beyond), word, span))
            }
        };
        self.part_at(&array.elem, at)
    }

    /// Returns the number of instances of a part in its stacks.
    fn length(&self, part: &ElementPart) -> Option<u32> {
        match part {
            ElementPart::Scalar(stack) | ElementPart::Header(stack, _) => {
                Some(self.program.stacks[*stack].elems.len() as u32)
            }
            ElementPart::Union(members) => {
                Some(self.program.stacks[members.first()?.0].elems.len() as u32)
            }
            ElementPart::Struct(parts) => parts.iter().find_map(|part| self.length(part)),
            ElementPart::Array(elem, size) => Some(self.length(elem)? / (*size).max(1)),
        }
    }

    /// Returns the elements of an array in order.
    pub(crate) fn array_elements(&mut self, array: &ArrayLoc, span: Span) -> Vec<Storage> {
        (0..array.size)
            .map(|i| {
                let index = self.bits(32, i.into(), span);
                self.array_element(array, index, span)
            })
            .collect()
    }

    /// Returns the elements of an array whose index in its stacks is constant; none for any other array.
    pub(crate) fn fixed_elements(&self, array: &ArrayLoc) -> Vec<Storage> {
        let Flat::At(base) = array.base else {
            return Vec::new();
        };
        (0..array.size)
            .map(|i| self.part_at(&array.elem, Flat::At(base * array.size + i)))
            .collect()
    }

    fn part_at(&self, part: &Rc<ElementPart>, at: Flat) -> Storage {
        match &**part {
            ElementPart::Scalar(stack) => {
                Storage::Scalar(Place::Field(self.in_stack(*stack, at), 0))
            }
            ElementPart::Header(stack, ty) => Storage::Header(HeaderLoc {
                at: self.in_stack(*stack, at),
                ty: *ty,
                union: None,
            }),
            ElementPart::Union(members) => union_of(
                members
                    .iter()
                    .map(|&(stack, ty)| (self.in_stack(stack, at), ty)),
            ),
            ElementPart::Struct(parts) => Storage::Struct(
                parts
                    .iter()
                    .map(|part| self.part_at(&Rc::new(part.clone()), at))
                    .collect(),
            ),
            ElementPart::Array(elem, size) => Storage::Array(ArrayLoc {
                elem: elem.clone(),
                size: *size,
                base: at,
            }),
        }
    }

    fn in_stack(&self, stack: Stack, at: Flat) -> HeaderRef {
        match at {
            Flat::At(i) => HeaderRef::Header(self.program.stacks[stack].elems[i as usize]),
            Flat::By(index) => HeaderRef::Element(stack, index),
        }
    }

    /// Collects the headers that hold an array, in order. If the array's index in its stacks is not constant,
    /// collects one element of each stack, since the array may overlap any of them.
    pub(crate) fn array_headers(&self, array: &ArrayLoc, into: &mut Vec<HeaderRef>) {
        if let Flat::By(_) = array.base {
            return self.headers_of(&self.part_at(&array.elem, array.base), into);
        }
        for elem in self.fixed_elements(array) {
            self.headers_of(&elem, into);
        }
    }

    fn headers_of(&self, storage: &Storage, into: &mut Vec<HeaderRef>) {
        match storage {
            Storage::Scalar(Place::Field(header, _)) => into.push(*header),
            Storage::Scalar(Place::Var(_)) | Storage::Stack(_) => {}
            Storage::Header(header) => into.push(header.at),
            Storage::Union(members) => into.extend(members.iter().map(|m| m.at)),
            Storage::Struct(parts) => parts.iter().for_each(|p| self.headers_of(p, into)),
            Storage::Array(array) => self.array_headers(array, into),
        }
    }

    /// Returns the leaves of storage, including those of arrays at any index.
    pub(crate) fn leaves_at(&mut self, storage: &Storage, span: Span) -> Vec<Leaf> {
        match storage {
            Storage::Struct(parts) => {
                let parts = parts.iter().map(|part| self.leaves_at(part, span));
                parts.collect::<Vec<_>>().concat()
            }
            Storage::Array(array) if matches!(array.base, Flat::By(_)) => {
                let elements = self.array_elements(array, span);
                let leaves = elements.iter().map(|elem| self.leaves_at(elem, span));
                let leaves = leaves.collect::<Vec<_>>().concat();
                let whole = |leaf| match leaf {
                    Leaf::Scalar(Place::Field(header, _)) => Leaf::Header(header),
                    other => other,
                };
                leaves.into_iter().map(whole).collect()
            }
            _ => self.leaves(storage),
        }
    }

    /// Returns an array at a constant index that has this value: the array itself, or a copy.
    pub(crate) fn fixed_array(
        &mut self,
        value: &Value,
        like: &ArrayLoc,
        span: Span,
    ) -> Result<ArrayLoc> {
        if let Value::Stored(Storage::Array(array)) = value
            && let Flat::At(_) = array.base
        {
            return Ok(array.clone());
        }
        let copy = self.array_like(like, span)?;
        self.assign(&Storage::Array(copy.clone()), value.clone(), span)?;
        Ok(copy)
    }

    /// Allocates an array of the same form as another one.
    pub(crate) fn array_like(&mut self, like: &ArrayLoc, span: Span) -> Result<ArrayLoc> {
        Ok(ArrayLoc {
            elem: Rc::new(self.like(&like.elem, like.size, span)?),
            size: like.size,
            base: Flat::At(0),
        })
    }

    /// Allocates stacks of `count` elements with the layouts of a part.
    fn like(&mut self, part: &ElementPart, count: u32, span: Span) -> Result<ElementPart> {
        let layout = |elab: &Self, stack: Stack| {
            let first = elab.program.stacks[stack].elems[0];
            elab.program.headers[first].ty
        };
        Ok(match part {
            ElementPart::Scalar(stack) => {
                let layout = layout(self, *stack);
                ElementPart::Scalar(self.allocate_elements(
                    &Named::of("tmp", count),
                    layout,
                    count,
                    span,
                )?)
            }
            ElementPart::Header(_, ty) => ElementPart::Header(
                self.allocate_elements(&Named::of("tmp", count), *ty, count, span)?,
                *ty,
            ),
            ElementPart::Union(members) => {
                let mut stacks = Vec::new();
                for &(_, ty) in members.iter() {
                    stacks.push((
                        self.allocate_elements(&Named::of("tmp", count), ty, count, span)?,
                        ty,
                    ));
                }
                ElementPart::Union(stacks.into())
            }
            ElementPart::Struct(parts) => {
                let mut all = Vec::new();
                for part in parts.iter() {
                    all.push(self.like(part, count, span)?);
                }
                ElementPart::Struct(all.into())
            }
            ElementPart::Array(elem, size) => {
                ElementPart::Array(Rc::new(self.like(elem, count * size, span)?), *size)
            }
        })
    }
}

/// Names of the elements of a stack that holds one part of each element of an array.
struct Named {
    /// Enclosing arrays, the outermost first: the path to each from the one before, and its size.
    arrays: Vec<(SmolStr, u32)>,
    /// Path from the last array to the part.
    rest: SmolStr,
}

impl Named {
    fn of(name: &str, size: u32) -> Named {
        Named {
            arrays: vec![(name.into(), size)],
            rest: SmolStr::default(),
        }
    }

    fn field(&self, name: &str) -> Named {
        Named {
            arrays: self.arrays.clone(),
            rest: join(&self.rest, name),
        }
    }

    fn array(&self, size: u32) -> Named {
        let mut arrays = self.arrays.clone();
        arrays.push((self.rest.clone(), size));
        Named {
            arrays,
            rest: SmolStr::default(),
        }
    }

    /// `a.b.c`
    fn stack(&self) -> SmolStr {
        let paths = self.arrays.iter().map(|(path, _)| path);
        paths
            .chain([&self.rest])
            .fold(SmolStr::default(), |all, path| join(&all, path))
    }

    /// `a[1].b[0].c`
    fn element(&self, number: u32) -> SmolStr {
        let sizes = self.arrays.iter().map(|(_, size)| *size);
        let mut behind = sizes.fold(1, u32::saturating_mul);
        let mut name = SmolStr::default();
        for (path, size) in &self.arrays {
            behind /= (*size).max(1);
            let index = number / behind.max(1) % (*size).max(1);
            name = format_smolstr!("{}[{index}]", join(&name, path));
        }
        join(&name, &self.rest)
    }
}

/// Returns true if a part contains an array.
fn nests(part: &ElementPart) -> bool {
    match part {
        ElementPart::Scalar(_) | ElementPart::Header(..) | ElementPart::Union(_) => false,
        ElementPart::Struct(parts) => parts.iter().any(nests),
        ElementPart::Array(..) => true,
    }
}
