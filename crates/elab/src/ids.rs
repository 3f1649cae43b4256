//! Ids that `@id` gives to objects of the control plane. Each id must be valid and unique.

use crate::{Elab, errors, names};
use diag::Span;
use hir::Annotation;
use p4runtime::{NUMBER, Prefix};
use std::collections::HashMap;

/// The owners of ids.
#[derive(Default)]
pub(crate) struct Ids {
    /// Location of each id's first use, and the declaration that has it.
    owners: HashMap<(Prefix, u32), (Span, Span)>,
    /// Locations that are already reported: structs and actions are checked repeatedly.
    reported: Vec<Span>,
}

impl Elab<'_> {
    /// Checks the `@id` of a declaration whose ids have a prefix. A declaration that is visited again, as in a
    /// control with several instances, is the same owner.
    pub(crate) fn check_id(&mut self, prefix: Prefix, annotations: &[Annotation], declared: Span) {
        let Some((at, id)) = self.id(annotations) else {
            return;
        };
        let (upper, number) = (id >> 24, id & NUMBER);
        if number == 0 {
            return self.wrong_id(errors::id_zero(at));
        }
        if upper != 0 && upper != prefix as u32 {
            return self.wrong_id(errors::id_prefix(at, id, prefix));
        }
        let (first, owner) = *self
            .ids
            .owners
            .entry((prefix, number))
            .or_insert((at, declared));
        if owner != declared {
            let what = format!("two {}", prefix.plural());
            self.wrong_id(errors::same_id(at, &what, id, first));
        }
    }

    /// Checks the `@id`s of keys, parameters or fields of one declaration.
    pub(crate) fn check_sibling_ids<'a>(
        &mut self,
        siblings: impl Iterator<Item = &'a [Annotation]>,
    ) {
        let mut owners: HashMap<u32, Span> = HashMap::new();
        for annotations in siblings {
            let Some((at, id)) = self.id(annotations) else {
                continue;
            };
            match owners.get(&id) {
                _ if id == 0 => self.wrong_id(errors::id_zero(at)),
                Some(first) => self.wrong_id(errors::same_id(at, "two of them", id, *first)),
                None => {
                    owners.insert(id, at);
                }
            }
        }
    }

    /// Returns the location and the value of an `@id`. Reports one that is not a number.
    fn id(&mut self, annotations: &[Annotation]) -> Option<(Span, u32)> {
        let at = annotations.iter().find(|a| a.name == "id")?.span;
        let kept = names::keep(annotations)
            .into_iter()
            .find(|a| a.name == "id")?;
        let id = p4runtime::given(&kept.values);
        if id.is_none() {
            self.wrong_id(errors::id_form(at));
        }
        Some((at, id?))
    }

    fn wrong_id(&mut self, diagnostic: diag::Diagnostic) {
        let at = diagnostic.primary.span;
        if !self.ids.reported.contains(&at) {
            self.ids.reported.push(at);
            self.diagnostics.push(diagnostic);
        }
    }
}
