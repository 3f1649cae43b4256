//! Entries in the program.

use crate::checker::Checker;
use crate::errors::{constants, tables, types, warnings};
use hir::*;
use num_bigint::BigInt;
use num_traits::One;
use syntax::ast;

impl Checker<'_> {
    fn entry(&mut self, table: &Table, entry: &ast::Entry, all_const: bool) -> Option<Entry> {
        let priority = entry.priority.as_ref().and_then(|p| self.priority(p));
        let keyset = self.entry_keysets(table, entry);
        let call = self.listed_call(
            table,
            entry.action.global,
            &entry.action.name,
            &entry.action.args,
            entry.action.span,
        );
        if let Some(call) = &call {
            let action = &table.actions[call.action as usize];
            if action.annotations.iter().any(|a| a.name == "defaultonly") {
                self.report(tables::default_only(
                    entry.action.span,
                    &entry.action.name.name,
                    action.span,
                ));
            }
        }
        Some(Entry {
            is_const: all_const || entry.is_const,
            priority,
            keyset: keyset?,
            action: call?,
            span: entry.span,
        })
    }

    /// Returns the entries in the order of their `@priority`, used in programs for `v1model`: the lowest is first, as
    /// in BMv2. An entry without one has its position, from 1 on.
    pub(super) fn in_order(
        &mut self,
        table: &Table,
        entries: &[ast::Entry],
        all_const: bool,
    ) -> Vec<Entry> {
        let mut ordered = Vec::with_capacity(entries.len());
        for (i, entry) in entries.iter().enumerate() {
            let annotations = self.annotations(&entry.annotations);
            let annotated = annotations.iter().find(|a| a.name == "priority");
            let place = match annotated.map(|a| &a.body) {
                Some(AnnotationBody::Values(values)) => match &values[..] {
                    [ConstValue::Int(number)] => number.clone(),
                    _ => BigInt::from(i + 1),
                },
                _ => BigInt::from(i + 1),
            };
            ordered.extend(self.entry(table, entry, all_const).map(|e| (place, e)));
        }
        if !self.has_unique_matches(table) && ordered.iter().all(|(_, e)| e.priority.is_none()) {
            ordered.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        ordered.into_iter().map(|(_, entry)| entry).collect()
    }

    /// True if no two entries of a table can match the same packet equally well.
    fn has_unique_matches(&self, table: &Table) -> bool {
        let unique = |kind: &str| matches!(kind, "exact" | "lpm");
        table.keys.iter().all(|key| {
            let kind = self.module.match_kinds.get(key.match_kind as usize);
            kind.is_some_and(|k| unique(k))
        })
    }

    /// Checks priorities. They are allowed if several entries may match a packet; then, if any entry has one, the first
    /// must have one (specification section "Entry priorities").
    pub(super) fn priorities(&mut self, table: &Table, entries: &[ast::Entry]) {
        let Some(first) = entries.iter().find_map(|e| e.priority.as_ref()) else {
            return;
        };
        if self.has_unique_matches(table) {
            self.report(tables::priority_unused(first.span, &table.name));
        } else if table.const_entries {
            self.report(tables::priority_of_const(first.span, &table.name));
        } else if entries[0].priority.is_none() {
            self.report(tables::priority_missing(entries[0].span, first.span));
        }
    }

    fn priority(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let value = self.expr(expr, None);
        match value.ty {
            Ty::Poison => None,
            Ty::Int | Ty::Bits { .. } if self.is_compile_time(&value) => Some(value),
            Ty::Int | Ty::Bits { .. } => {
                self.report(constants::not_constant(value.span, "a priority"));
                None
            }
            ref ty => {
                let shown = self.show(ty);
                self.report(types::mismatch(value.span, "a number", &shown));
                None
            }
        }
    }

    fn entry_keysets(&mut self, table: &Table, entry: &ast::Entry) -> Option<Vec<Keyset>> {
        let n = table.keys.len();
        let elems: &[ast::Expr] = match &entry.keyset[..] {
            [one] if matches!(one.kind, ast::ExprKind::Default | ast::ExprKind::DontCare) => {
                for key in &table.keys {
                    self.legal(&Keyset::Any, one.span, key);
                }
                return Some(vec![Keyset::Any; n]);
            }
            [
                ast::Expr {
                    kind: ast::ExprKind::Tuple(inner),
                    ..
                },
            ] if n > 1 || inner.len() == 1 => inner,
            elems => elems,
        };
        if elems.len() != n {
            let at = elems
                .first()
                .zip(elems.last())
                .map_or(entry.span, |(a, b)| a.span.to(b.span));
            self.report(tables::key_count(at, &table.name, n, elems.len()));
            return None;
        }
        // Braces around a single key.
        let elems = match elems {
            [
                ast::Expr {
                    kind: ast::ExprKind::List(inner),
                    ..
                },
            ] if inner.len() == 1 => inner,
            elems => elems,
        };
        let mut out = Vec::with_capacity(n);
        for (i, (elem, key)) in elems.iter().zip(&table.keys).enumerate() {
            let errors = self.diagnostics.len();
            self.keyset(elem, &key.expr.ty, &mut out);
            out.resize(i + 1, Keyset::Any);
            if errors == self.diagnostics.len() {
                let set = self.as_value(out[i].clone(), key);
                out[i] = set.clone();
                self.legal(&set, elem.span, key);
            }
        }
        Some(out)
    }

    /// Converts a mask of all ones to its value, if the match kind takes values but no masks.
    fn as_value(&self, set: Keyset, key: &KeyElement) -> Keyset {
        let kind = self.module.match_kinds.get(key.match_kind as usize);
        let takes_values = kind.is_some_and(|k| matches!(k.as_str(), "exact" | "optional"));
        match set {
            Keyset::Mask(value, mask) if takes_values && self.is_all_ones(&mask) => {
                Keyset::Value(value)
            }
            set => set,
        }
    }

    fn is_all_ones(&self, mask: &Expr) -> bool {
        match (&mask.kind, self.representation(&mask.ty)) {
            (ExprKind::Const(ConstValue::Int(mask)), Ty::Bits { width, .. }) => {
                crate::constant::wrap(mask, width, false) == (BigInt::one() << width) - 1
            }
            _ => false,
        }
    }

    /// Reports a set that the match kind does not allow.
    fn legal(&mut self, set: &Keyset, span: diag::Span, key: &KeyElement) {
        let Some(kind) = self
            .module
            .match_kinds
            .get(key.match_kind as usize)
            .cloned()
        else {
            return;
        };
        if key.expr.ty == Ty::Poison {
            return;
        }
        let fits = match (kind.as_str(), set) {
            (_, Keyset::ValueSet(..)) => false,
            (_, Keyset::Value(_)) => true,
            ("exact", _) => false,
            ("lpm", Keyset::Any) | ("ternary", Keyset::Any | Keyset::Mask(..)) => true,
            ("lpm", Keyset::Mask(_, mask)) => {
                if let (ExprKind::Const(ConstValue::Int(mask)), Ty::Bits { width, .. }) =
                    (&mask.kind, self.representation(&key.expr.ty))
                    && !is_prefix(mask, width)
                {
                    self.report(tables::mask_not_prefix(span));
                }
                true
            }
            ("range", Keyset::Any | Keyset::Range(..)) | ("optional", Keyset::Any) => true,
            ("lpm" | "ternary" | "range" | "optional", _) => false,
            _ => true,
        };
        if !fits {
            let what = match set {
                Keyset::Any => "`_`",
                Keyset::Mask(..) => "a mask",
                Keyset::Range(..) => "a range",
                Keyset::ValueSet(..) => "a value set",
                Keyset::Value(_) => "a value",
            };
            self.report(tables::keyset_kind(span, what, &kind, key.span));
        }
    }

    /// Warns of entries that an equal earlier one hides.
    pub(super) fn double_entries(&mut self, entries: &[Entry]) {
        let mut seen = std::collections::HashMap::new();
        for entry in entries {
            if entry.priority.is_some() {
                continue;
            }
            let Some(key) = entry
                .keyset
                .iter()
                .map(fixed)
                .collect::<Option<Vec<String>>>()
            else {
                continue;
            };
            match seen.get(&key) {
                Some(first) => self.report(warnings::entry_twice(entry.span, *first)),
                None => {
                    seen.insert(key, entry.span);
                }
            }
        }
    }
}

/// Formats a set, if its values are known.
fn fixed(set: &Keyset) -> Option<String> {
    let value = |e: &Expr| match &e.kind {
        ExprKind::Const(value) => Some(format!("{value:?}")),
        _ => None,
    };
    Some(match set {
        Keyset::Any => "_".to_owned(),
        Keyset::Value(e) => value(e)?,
        Keyset::Mask(a, b) => format!("{}&{}", value(a)?, value(b)?),
        Keyset::Range(a, b) => format!("{}..{}", value(a)?, value(b)?),
        Keyset::ValueSet(..) => return None,
    })
}

/// Returns true if a mask's ones are its highest bits.
fn is_prefix(mask: &BigInt, width: u32) -> bool {
    let mask = crate::constant::wrap(mask, width, false);
    let rest = (BigInt::one() << width) - 1 - &mask;
    // The complement is zeros above ones, so adding one to it leaves a single bit.
    (&rest & (&rest + 1)) == BigInt::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_have_no_holes() {
        assert!(is_prefix(&BigInt::from(0xff00), 16));
        assert!(is_prefix(&BigInt::from(0), 16));
        assert!(is_prefix(&BigInt::from(0xffff), 16));
        assert!(!is_prefix(&BigInt::from(0x00ff), 16));
        assert!(!is_prefix(&BigInt::from(0xf0f0), 16));
    }
}
