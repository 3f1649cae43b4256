//! Tables.

mod actions;
mod entries;
mod key;

use crate::checker::{Checker, Context};
use crate::errors::{constants, tables, types};
use crate::scope::Entity;
use diag::Span;
use hir::*;
use std::collections::HashMap;
use syntax::ast;

impl Checker<'_> {
    /// Checks `table t { properties }`.
    pub(crate) fn table_decl(
        &mut self,
        decl: &ast::Decl,
        name: &ast::Ident,
        properties: &[ast::Property],
    ) -> TableId {
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        if let Some(atomic) = annotations.iter().find(|a| a.name == "atomic") {
            self.report(tables::atomic_table(atomic.span));
        }
        self.declare(name, Entity::InProgress("a table"));
        let table = Table {
            name: name.name.clone(),
            keys: Vec::new(),
            actions: Vec::new(),
            default_action: None,
            const_default: false,
            entries: Vec::new(),
            const_entries: false,
            size: None,
            properties: Vec::new(),
            annotations,
            span: name.span,
        };
        let table = self.in_context(Context::Table, |c| c.table(table, name, properties));
        let id = self.module.tables.push(table);
        self.expect_use("table", name);
        self.settle(name, Entity::Table(id));
        id
    }

    fn table(
        &mut self,
        mut table: Table,
        name: &ast::Ident,
        properties: &[ast::Property],
    ) -> Table {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        let mut has_actions = false;
        // Check keys and actions first, since the other properties refer to them.
        for property in properties {
            let text = property.name.name.as_str();
            if let Some(first) = seen.get(text) {
                self.report(tables::property_twice(&property.name, *first));
                continue;
            }
            seen.insert(text, property.name.span);
            match &property.value {
                ast::PropertyValue::Key(elements) => {
                    self.annotations(&property.annotations);
                    table.keys = self.key(elements);
                }
                ast::PropertyValue::Actions(refs) => {
                    has_actions = true;
                    table.actions = self.action_list(refs);
                }
                _ => {}
            }
        }
        if !has_actions {
            self.report(tables::no_actions(name));
        }
        let mut done: Vec<&str> = Vec::new();
        for property in properties {
            let text = property.name.name.as_str();
            if done.contains(&text) {
                continue;
            }
            done.push(text);
            self.property(&mut table, property, has_actions);
        }
        if !seen.contains_key("default_action") {
            self.implicit_default(&mut table);
        }
        self.refuse_uncarried(&table);
        table
    }

    fn property(&mut self, table: &mut Table, property: &ast::Property, has_actions: bool) {
        match (&property.value, property.name.name.as_str()) {
            (ast::PropertyValue::Key(_) | ast::PropertyValue::Actions(_), _) => {}
            (ast::PropertyValue::Entries(entries), _) => {
                table.const_entries = property.is_const;
                if table.keys.is_empty() && !entries.is_empty() {
                    self.report(tables::entries_without_key(property.name.span));
                } else if has_actions {
                    table.entries = self.in_order(table, entries, property.is_const);
                    self.priorities(table, entries);
                    if !self.diagnostics.has_errors() {
                        self.double_entries(&table.entries);
                    }
                }
            }
            (ast::PropertyValue::Expr(value), "default_action") => {
                table.const_default = property.is_const;
                if has_actions {
                    table.default_action = self.default_action(table, value);
                }
            }
            (ast::PropertyValue::Expr(value), "size") => table.size = self.table_size(value),
            (ast::PropertyValue::Expr(value), _) => {
                self.annotations(&property.annotations);
                let before = std::mem::replace(&mut self.constructors_allowed, true);
                let value = self.expr(value, None);
                self.constructors_allowed = before;
                if value.ty != Ty::Poison
                    && self.require_property_type(&property.name, &value)
                    && self.require_compile_time(&value, "the value of a table's property")
                {
                    table
                        .properties
                        .push((property.name.name.clone(), value, property.is_const));
                }
            }
        }
    }

    /// Reports a value of the wrong type in a property of the language, or one that all architectures share.
    fn require_property_type(&mut self, name: &ast::Ident, value: &Expr) -> bool {
        let (fits, wanted) = match name.name.as_str() {
            "largest_priority_wins" | "support_timeout" => {
                (value.ty == Ty::Bool, "`true` or `false`")
            }
            "priority_delta" => {
                let number = matches!(value.ty, Ty::Int | Ty::Bits { .. });
                (number, "a number")
            }
            _ => return true,
        };
        if !fits {
            let shown = self.show(&value.ty);
            self.report(tables::property_type(
                value.span, &name.name, wanted, &shown,
            ));
        }
        fits
    }

    fn table_size(&mut self, value: &ast::Expr) -> Option<Expr> {
        let size = self.expr(value, None);
        match (&size.ty, &size.kind) {
            (Ty::Poison, _) => None,
            (Ty::Int | Ty::Bits { .. }, ExprKind::Const(ConstValue::Int(n)))
                if n.sign() == num_bigint::Sign::Minus =>
            {
                self.report(crate::errors::declarations::bad_size(
                    size.span, "a table", n,
                ));
                None
            }
            (Ty::Int | Ty::Bits { .. }, _) if !self.is_compile_time(&size) => {
                self.report(constants::not_constant(size.span, "the size of a table"));
                None
            }
            (Ty::Int | Ty::Bits { .. }, _) => Some(size),
            (ty, _) => {
                let shown = self.show(ty);
                self.report(types::mismatch(size.span, "a number", &shown));
                None
            }
        }
    }
}
