//! Field lists: the fields that a packet preserves when it is resubmitted, recirculated or cloned.
//!
//! `@field_list(1, 2)` before a field of the program's metadata puts it, and everything in it, in two lists. The
//! older externs name the fields in an argument. Such an argument becomes a list with a number that no annotation
//! can have.

use crate::storage::Storage;
use crate::types::TypeShape;
use crate::{Elab, Result, errors};
use diag::Span;
use hir::{Annotation, AnnotationBody, ConstValue, Ty};
use ir::{Expr, ExprKind, ExternArg, ExternCall, FieldList, Place, Type, Var};

/// First number of the lists that calls give: annotations number theirs by a `bit<8>`.
const FIRST_UNNAMED: u32 = 256;

impl Elab<'_> {
    /// Makes the field lists that the annotations of a slot's type define, if packets preserve fields of this slot.
    pub(crate) fn note_field_lists(
        &mut self,
        slot: &str,
        ty: &Ty,
        storage: &Storage,
        span: Span,
    ) -> Result<()> {
        let arch = arch::by_package(&self.program.arch);
        if arch
            .and_then(|arch| arch.anew)
            .is_none_or(|anew| anew.keeps != slot)
        {
            return Ok(());
        }
        let mut lists: Vec<FieldList> = Vec::new();
        self.field_lists_in(ty, storage, &[], span, &mut lists)?;
        lists.sort_by_key(|list| list.number);
        self.program.field_lists = lists;
        Ok(())
    }

    fn field_lists_in(
        &mut self,
        ty: &Ty,
        storage: &Storage,
        numbers: &[u32],
        span: Span,
        lists: &mut Vec<FieldList>,
    ) -> Result<()> {
        match storage {
            Storage::Scalar(Place::Var(var)) => {
                for &number in numbers {
                    add(lists, number, *var);
                }
            }
            Storage::Struct(elements) if matches!(*self.shape(ty, span)?, TypeShape::Array(..)) => {
                let elem = self.element_type(ty, span)?;
                for element in elements.iter() {
                    self.field_lists_in(&elem, element, numbers, span, lists)?;
                }
            }
            Storage::Struct(parts) => {
                let below = self.lists_of_fields(ty);
                let TypeShape::Struct(fields) = &*self.shape(ty, span)? else {
                    return Ok(());
                };
                for (i, ((_, ty), part)) in fields.iter().zip(parts.iter()).enumerate() {
                    let (own, at) = below.get(i).cloned().unwrap_or((Vec::new(), span));
                    let mut all = numbers.to_vec();
                    all.extend(own);
                    self.field_lists_in(ty, part, &all, at, lists)?;
                }
            }
            _ if numbers.is_empty() => {}
            _ => return self.fail(errors::header_in_field_list(span)),
        }
        Ok(())
    }

    /// Returns the lists that each field of a struct names, with the location of the annotation.
    fn lists_of_fields(&mut self, ty: &Ty) -> Vec<(Vec<u32>, Span)> {
        let Ty::Composite(id, _) = self.resolve(ty) else {
            return Vec::new();
        };
        self.module.composites[id]
            .fields
            .iter()
            .map(|field| {
                let at = list_annotations(&field.annotations)
                    .map(|a| a.span)
                    .next()
                    .unwrap_or(field.span);
                let numbers = list_annotations(&field.annotations).flat_map(numbers);
                (numbers.collect(), at)
            })
            .collect()
    }

    /// Returns, for each field of a struct, true if a packet preserves it. Arrays in such a field lie apart, since
    /// a list consists of variables.
    pub(crate) fn kept_of(&self, ty: &Ty) -> Vec<bool> {
        let Ty::Composite(id, _) = self.resolve(ty) else {
            return Vec::new();
        };
        let fields = &self.module.composites[id].fields;
        let kept = |field: &hir::Field| list_annotations(&field.annotations).next().is_some();
        fields.iter().map(kept).collect()
    }

    /// Gives a call that preserves fields the number of a list. If its extern names the fields themselves, it
    /// becomes a call of the extern that takes the number. Records that there are copies.
    pub(crate) fn kept_fields(&mut self, call: &mut ExternCall, span: Span) -> Result<()> {
        let arch = arch::by_package(&self.program.arch);
        let Some(anew) = arch.and_then(|arch| arch.anew) else {
            return Ok(());
        };
        if let Some((name, instead)) = anew.by_fields.iter().find(|(name, _)| *name == call.name) {
            let number = match call.args.pop() {
                Some(ExternArg::In(exprs)) => self.unnamed_list(&exprs),
                _ => None,
            };
            let Some(number) = number else {
                return self.fail(errors::kept_by_value(span, name, instead));
            };
            let number = ir::Bits::new(32, number);
            let number = self.expr(ExprKind::Const(number), Type::bit(32), span);
            call.args.push(ExternArg::In(vec![number]));
            call.name = (*instead).into();
        } else if anew.by_fields.iter().any(|(_, name)| *name == call.name) {
            self.warn_of_empty_list(call, span);
        }
        self.program.copies |= anew.copies.contains(&call.name.as_str());
        Ok(())
    }

    /// Returns the number of the list of these fields; `None` if one of them is not a field of a slot.
    fn unnamed_list(&mut self, exprs: &[Expr]) -> Option<u32> {
        let program = &mut self.program;
        let mut vars: Vec<Var> = Vec::new();
        for &expr in exprs {
            let ExprKind::Var(var) = program.exprs[expr].kind else {
                return None;
            };
            let mut fields = program.slots.iter().flat_map(|slot| &slot.vars);
            fields.find(|(_, field)| *field == var)?;
            if !vars.contains(&var) {
                vars.push(var);
            }
        }
        let mut known = program.field_lists.iter();
        if let Some(list) = known.find(|l| l.number >= FIRST_UNNAMED && l.vars == vars) {
            return Some(list.number);
        }
        let last = program.field_lists.last().map_or(0, |list| list.number + 1);
        let number = last.max(FIRST_UNNAMED);
        program.field_lists.push(FieldList { number, vars });
        Some(number)
    }

    fn warn_of_empty_list(&mut self, call: &ExternCall, span: Span) {
        let Some(ExternArg::In(exprs)) = call.args.last() else {
            return;
        };
        let [number] = exprs[..] else {
            return;
        };
        let constant = ir::eval::constant(&self.program, number);
        let number = constant.and_then(|value| value.to_bits().to_u64());
        let Some(number) = number.and_then(|n| u32::try_from(n).ok()) else {
            return;
        };
        let known = self.program.field_lists.iter().any(|l| l.number == number);
        if number != 0 && !known {
            self.diagnostics
                .push(errors::empty_field_list(span, number));
        }
    }
}

fn list_annotations(annotations: &[Annotation]) -> impl Iterator<Item = &Annotation> {
    annotations.iter().filter(|a| a.name == "field_list")
}

fn numbers(annotation: &Annotation) -> Vec<u32> {
    let AnnotationBody::Values(values) = &annotation.body else {
        return Vec::new();
    };
    let number = |value: &ConstValue| match value {
        ConstValue::Int(number) => u32::try_from(number).ok(),
        _ => None,
    };
    values.iter().filter_map(number).collect()
}

fn add(lists: &mut Vec<FieldList>, number: u32, var: Var) {
    match lists.iter_mut().find(|list| list.number == number) {
        Some(list) if list.vars.contains(&var) => {}
        Some(list) => list.vars.push(var),
        None => lists.push(FieldList {
            number,
            vars: vec![var],
        }),
    }
}
