//! Structs, headers, header unions.

use crate::checker::Checker;
use crate::errors::{names, types};
use crate::scope::Entity;
use crate::types::{Measure, container_of};
use hir::*;
use syntax::ast;

impl Checker<'_> {
    pub(super) fn composite_decl(
        &mut self,
        decl: &ast::Decl,
        kind: ast::CompositeKind,
        name: &ast::Ident,
        type_params: &[ast::Ident],
        fields: &[ast::FieldDecl],
    ) {
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        let kind = match kind {
            ast::CompositeKind::Struct => CompositeKind::Struct,
            ast::CompositeKind::Header => CompositeKind::Header,
            ast::CompositeKind::Union => CompositeKind::Union,
        };
        self.declare(name, Entity::InProgress("a type"));
        let (type_params, fields) = self.scoped(|c| {
            let type_params = c.type_params(type_params);
            (type_params, c.fields(kind, fields))
        });
        let generic: std::rc::Rc<[Ty]> = type_params.iter().map(|p| Ty::Param(*p)).collect();
        let id = self.module.composites.push(Composite {
            kind,
            name: name.name.clone(),
            type_params,
            fields,
            annotations,
            span: name.span,
        });
        let measure = self.measure(&Ty::Composite(id, generic));
        let mut entity = Entity::Composite(id);
        if measure.is_too_large() {
            self.report(types::too_large(name.span, "this type", &Measure::most()));
            entity = Entity::Poison;
        }
        self.settle(name, entity);
    }

    fn fields(&mut self, kind: CompositeKind, fields: &[ast::FieldDecl]) -> Vec<Field> {
        let mut done: Vec<Field> = Vec::with_capacity(fields.len());
        for field in fields {
            let annotations = self.annotations(&field.annotations);
            let annotations = self.with_display(annotations, &field.ty);
            let ty = self.full_ty(&field.ty);
            let ty = self.require_holds(container_of(kind), ty, field.ty.span);
            if let Some(first) = done.iter().find(|f| f.name == field.name.name) {
                let diagnostic = names::duplicate(&field.name, first.span);
                self.report(diagnostic);
                continue;
            }
            done.push(Field {
                name: field.name.name.clone(),
                ty,
                annotations,
                span: field.name.span,
            });
        }
        done
    }
}
