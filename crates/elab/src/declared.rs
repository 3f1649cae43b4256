//! Declarations of everything that the control plane can name: names of types, and annotations.

use crate::types::{substitute, type_map};
use crate::{Elab, Result, names};
use diag::Span;
use hir::{Annotation, Expr, ExprKind, KeyElement, Ty};
use ir::{Declared, DigestData};
use smol_str::SmolStr;

impl Elab<'_> {
    /// Returns the declaration of a scalar with this type and these annotations.
    pub(crate) fn declared(&self, ty: &Ty, annotations: &[Annotation]) -> Declared {
        let mut declared = Declared {
            type_name: None,
            annotations: names::keep(annotations),
        };
        let mut ty = substitute(ty, &self.env.types);
        while let Ty::NewType(id) = ty {
            let new_type = &self.module.new_types[id];
            declared.type_name.get_or_insert(new_type.name.clone());
            let more = names::keep(&new_type.annotations);
            declared.annotations.extend(more);
            ty = substitute(&new_type.ty, &self.env.types);
        }
        if let Ty::Enum(id) = ty
            && self.module.enums[id].underlying.is_some()
        {
            let name = &self.module.enums[id].name;
            declared.type_name.get_or_insert(name.clone());
        }
        declared
    }

    /// Adds the declarations of all scalars that a type is split into, in the order of
    /// [`leaf_types`](Self::leaf_types).
    pub(crate) fn declared_leaves(
        &mut self,
        ty: &Ty,
        annotations: &[Annotation],
        into: &mut Vec<Declared>,
    ) {
        match self.resolve(ty) {
            Ty::Composite(id, args) => {
                let module = self.module;
                let composite = &module.composites[id];
                self.check_sibling_ids(composite.fields.iter().map(|f| &*f.annotations));
                let map = type_map(&composite.type_params, &args);
                for field in &composite.fields {
                    let ty = substitute(&field.ty, &map);
                    self.declared_leaves(&ty, &field.annotations, into);
                }
            }
            Ty::Tuple(elems) => {
                for elem in elems.iter() {
                    self.declared_leaves(elem, &[], into);
                }
            }
            Ty::Stack(elem, size) => {
                for _ in 0..size {
                    self.declared_leaves(&elem, &[], into);
                }
            }
            _ => into.push(self.declared(ty, annotations)),
        }
    }

    /// Returns the annotations of the field or variable that an expression is.
    fn annotations_of(&self, expr: &Expr) -> &[Annotation] {
        match &expr.kind {
            ExprKind::Field(base, index) => match self.resolve(&base.ty) {
                Ty::Composite(id, _) => {
                    let fields = &self.module.composites[id].fields;
                    fields
                        .get(*index as usize)
                        .map_or(&[][..], |f| &f.annotations)
                }
                _ => &[],
            },
            ExprKind::Local(local) => &self.module.locals[*local].annotations,
            _ => &[],
        }
    }

    /// Adds the declarations of all scalars of an expression, in the order of [`leaf_types`](Self::leaf_types).
    pub(crate) fn declared_parts(&mut self, expr: &Expr, into: &mut Vec<Declared>) {
        match &expr.kind {
            ExprKind::List(parts) => {
                for part in parts {
                    self.declared_parts(part, into);
                }
            }
            // A tuple that becomes a struct.
            ExprKind::Cast(inner) if matches!(inner.kind, ExprKind::List(_)) => {
                self.declared_parts(inner, into);
            }
            _ => {
                let annotations = self.annotations_of(expr).to_vec();
                self.declared_leaves(&expr.ty, &annotations, into);
            }
        }
    }

    /// Returns the declaration of a key: its own annotations, then those of the field or variable that it is.
    pub(crate) fn declared_key(&self, key: &KeyElement) -> Declared {
        let mut declared = self.declared(&key.expr.ty, self.annotations_of(&key.expr));
        let mut annotations = names::keep(&key.annotations);
        // An id belongs to the declaration that it stands at.
        let inherited = declared.annotations.into_iter().filter(|a| a.name != "id");
        annotations.extend(inherited);
        declared.annotations = annotations;
        declared
    }

    /// Records that packets send data of a type to the control plane; returns the digest's number. Data of an
    /// unnamed type is called `digest`. A further digest of the same name gets a number as its suffix.
    pub(crate) fn note_digest(&mut self, ty: &Ty, span: Span) -> Result<u32> {
        let own: SmolStr = match self.resolve(ty) {
            Ty::Composite(id, _) => self.module.composites[id].name.clone(),
            _ => "digest".into(),
        };
        let (mut paths, mut types, mut declared) = (Vec::new(), Vec::new(), Vec::new());
        self.leaf_types(ty, span, &mut types)?;
        self.leaf_names(ty, "", span, &mut paths)?;
        self.declared_leaves(ty, &[], &mut declared);
        let fields: Vec<_> = paths.into_iter().zip(types).collect();
        let mut name = own.clone();
        let mut same = 1;
        let digests = &mut self.program.digests;
        while let Some(at) = digests.iter().position(|known| known.name == name) {
            if digests[at].fields == fields {
                return Ok(at as u32);
            }
            same += 1;
            name = format!("{own}_{same}").into();
        }
        digests.push(DigestData {
            name,
            fields,
            declared,
        });
        Ok(digests.len() as u32 - 1)
    }
}
