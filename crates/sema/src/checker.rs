//! State of one check, and small functions that every part of it uses.

use crate::Checked;
use crate::call::Undecided;
use crate::errors;
use crate::scope::{Entity, Scopes};
use diag::{Diagnostic, Diagnostics, Severity, SourceMap, Span};
use hir::*;
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};
use syntax::ast;

/// Deepest nesting of expressions, statements and types.
pub(crate) const MAX_DEPTH: u32 = 200;

/// Context of the code being checked. It determines what may be called, declared and written there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Context {
    /// Top level, outside all declarations.
    TopLevel,
    /// The local declarations of a parser.
    ParserLocals,
    /// A parser state.
    ParserState,
    /// The local declarations of a control.
    ControlLocals,
    /// A control's `apply` block.
    ControlApply,
    /// An action's body.
    Action,
    /// A function's body.
    Function,
    /// The implementation of an abstract method.
    Method,
    /// A property or entry of a table.
    Table,
    /// A table's key, which is evaluated where the table is applied.
    Key,
}

impl Context {
    /// Returns its name in messages, with its article.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Context::TopLevel => "the top level",
            Context::ParserLocals => "a parser's declarations",
            Context::ParserState => "a parser state",
            Context::ControlLocals => "a control's declarations",
            Context::ControlApply => "a control's `apply` block",
            Context::Action => "an action",
            Context::Function => "a function",
            Context::Method => "a method's implementation",
            Context::Table => "a table's properties",
            Context::Key => "a table's key",
        }
    }

    /// Returns true inside a parser, where `.next`, `.last` and `.lastIndex` exist.
    pub(crate) fn in_parser(self) -> bool {
        matches!(self, Context::ParserLocals | Context::ParserState)
    }
}

/// A declaration that should be used somewhere.
#[derive(Debug)]
pub(crate) struct Declared {
    /// Kind of the declaration, in a user's words.
    pub(crate) what: &'static str,
    /// Its name.
    pub(crate) name: SmolStr,
    /// Location of its name, by which a use is noted.
    pub(crate) span: Span,
}

/// The state of one check.
pub(crate) struct Checker<'a> {
    /// The source.
    pub(crate) map: &'a SourceMap,
    /// HIR under construction.
    pub(crate) module: Module,
    /// Diagnostics so far.
    pub(crate) diagnostics: Diagnostics,
    /// Names in scope.
    pub(crate) scopes: Scopes,
    /// Inference variables of the calls being checked.
    pub(crate) infer: Vec<Option<Ty>>,
    /// Context of the code being checked.
    pub(crate) context: Context,
    /// Current nesting depth.
    pub(crate) depth: u32,
    /// Number of loops around the current statement.
    pub(crate) loops: u32,
    /// Result type of the body being checked, which `return` must give.
    pub(crate) result: Ty,
    /// The type of `this`, in an abstract method's implementation.
    pub(crate) this: Option<(Ty, SmolStr)>,
    /// True if a constructor call is allowed as an expression here.
    pub(crate) constructors_allowed: bool,
    /// True if the keyset being checked may hold values that are known only at run time.
    pub(crate) run_time_sets: bool,
    /// Type parameters that stand for `_` in the parameters being declared.
    pub(crate) implicit_params: Vec<TypeParamId>,
    /// All such type parameters: calls give no arguments for them.
    pub(crate) implicit: HashSet<TypeParamId>,
    /// Parsers, controls and packages after the first of their name.
    pub(crate) overloads: HashMap<SmolStr, Vec<Entity>>,
    /// Instances whose parser or control is not chosen yet among overloads.
    pub(crate) undecided: HashMap<InstanceId, Undecided>,
    /// Candidates for the instance that is being made, if it is undecided.
    pub(crate) undecided_now: Option<Undecided>,
    /// Default values of parameters.
    pub(crate) defaults: HashMap<LocalId, Expr>,
    /// Directionless parameters of actions, whose values come at run time.
    pub(crate) action_data: HashSet<LocalId>,
    /// Parameters of parsers and controls, bound when these are applied.
    pub(crate) block_data: HashSet<LocalId>,
    /// Sizes of composite types, by type.
    pub(crate) sizes: HashMap<Ty, types::Measure>,
    /// Indices of fields, for each composite type with an accessed field: structs may have tens of thousands.
    pub(crate) fields: HashMap<CompositeId, HashMap<SmolStr, usize>>,
    /// Names that were used, by the location of their declaration.
    pub(crate) used: HashSet<Span>,
    /// Names that should be used.
    pub(crate) declared: Vec<Declared>,
    /// `@deprecated` things by the location of their name.
    pub(crate) deprecated: HashMap<Span, String>,
    /// Annotations of a `typedef` about how values are shown, by the location of its name.
    pub(crate) display: HashMap<Span, Vec<Annotation>>,
    /// Types of arguments without regard to their parameters, by address and span of the argument in the syntax tree.
    /// Without this cache the time is exponential in the depth of nested calls of overloads.
    pub(crate) alone: HashMap<(usize, Span), Option<Ty>>,
    /// Spans of `@noWarn`, with the warnings that they silence.
    pub(crate) silenced: Vec<(Span, String)>,
}

use crate::types;

impl<'a> Checker<'a> {
    /// Makes a checker that has not checked anything yet.
    pub(crate) fn new(map: &'a SourceMap) -> Checker<'a> {
        Checker {
            map,
            module: Module::default(),
            diagnostics: Diagnostics::new(),
            scopes: Scopes::new(),
            infer: Vec::new(),
            alone: HashMap::new(),
            context: Context::TopLevel,
            depth: 0,
            loops: 0,
            result: Ty::Void,
            this: None,
            constructors_allowed: false,
            run_time_sets: false,
            implicit_params: Vec::new(),
            implicit: HashSet::new(),
            overloads: HashMap::new(),
            undecided: HashMap::new(),
            undecided_now: None,
            defaults: HashMap::new(),
            action_data: HashSet::new(),
            block_data: HashSet::new(),
            sizes: HashMap::new(),
            fields: HashMap::new(),
            used: HashSet::new(),
            declared: Vec::new(),
            deprecated: HashMap::new(),
            display: HashMap::new(),
            silenced: Vec::new(),
        }
    }

    /// Checks all declarations.
    pub(crate) fn program(&mut self, program: &ast::Program) {
        for decl in &program.decls {
            if let Some(name) = crate::decl::declared_name(decl) {
                self.scopes.announce(&name.name, name.span);
            }
        }
        // Members of all `error` declarations form one set, so they are declared first.
        for decl in &program.decls {
            if let ast::DeclKind::Error { members } = &decl.kind {
                self.error_decl(members);
            }
        }
        for decl in &program.decls {
            self.top_level(decl);
        }
        self.close_instances();
        // After an error `main` may only have been misunderstood.
        if self.module.main.is_none() && !self.diagnostics.has_errors() {
            let at = program.decls.last().map_or(Span::NONE, |d| Span {
                lo: d.span.hi.saturating_sub(1),
                hi: d.span.hi,
            });
            self.report(errors::warnings::no_main(at));
        }
    }

    /// Runs the warnings that need whole bodies, and ends the check.
    pub(crate) fn finish(mut self) -> Checked {
        if !self.diagnostics.has_errors() {
            crate::warn::run(&mut self);
        }
        let mut kept = Diagnostics::new();
        let mut seen = HashSet::new();
        for diagnostic in self.diagnostics.iter() {
            let key = (
                diagnostic.code,
                diagnostic.primary.span,
                diagnostic.message.clone(),
            );
            if !self.is_silenced(diagnostic) && seen.insert(key) {
                kept.push(diagnostic.clone());
            }
        }
        let module = (!kept.has_errors()).then_some(self.module);
        Checked {
            module,
            diagnostics: kept,
        }
    }

    fn is_silenced(&self, diagnostic: &Diagnostic) -> bool {
        diagnostic.severity == Severity::Warning
            && self.silenced.iter().any(|(span, what)| {
                let at = diagnostic.primary.span;
                span.lo <= at.lo
                    && at.hi <= span.hi
                    && (what == diagnostic.code.0
                        || errors::warnings::families(diagnostic.code).contains(&what.as_str()))
            })
    }

    /// Adds a diagnostic.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds a diagnostic, and returns the expression that replaces the erroneous one.
    pub(crate) fn poison(&mut self, diagnostic: Diagnostic) -> Expr {
        let span = diagnostic.primary.span;
        self.report(diagnostic);
        poison_expr(span)
    }

    /// Declares a name, reporting duplicates.
    pub(crate) fn declare(&mut self, name: &ast::Ident, entity: Entity) {
        if let Err(earlier) = self.scopes.declare(name.name.clone(), entity, name.span) {
            self.report(errors::names::duplicate(name, earlier));
        } else if let Some(Entity::Local(id)) = self.scopes.lookup_around(&name.name) {
            let param = &self.module.locals[*id];
            if matches!(param.kind, LocalKind::Param(_) | LocalKind::CtorParam) {
                let diagnostic = errors::declarations::shadows_parameter(name, param.span);
                self.report(diagnostic);
            }
        } else if let Some(param) = self.hidden_parameter(name) {
            self.report(errors::warnings::hides_parameter(name, param));
        }
    }

    /// Returns the location of the parameter that a local, just declared in an inner block, hides.
    fn hidden_parameter(&self, name: &ast::Ident) -> Option<Span> {
        let kind = |entity: &Entity| match entity {
            Entity::Local(id) => Some(self.module.locals[*id].kind),
            _ => None,
        };
        let own = &self.scopes.lookup_here(&name.name)?.entity;
        let is_local = matches!(own, Entity::Const(..))
            || matches!(kind(own), Some(LocalKind::Var | LocalKind::Const));
        let around = self.scopes.hidden_inside(&name.name)?;
        let hides = matches!(
            kind(&around.entity),
            Some(LocalKind::Param(_) | LocalKind::CtorParam)
        );
        (is_local && hides).then_some(around.span)
    }

    /// Describes the entity of a name for messages, with its article.
    pub(crate) fn describe(&self, entity: &Entity) -> &'static str {
        match entity {
            Entity::Local(id) => match self.module.locals[*id].kind {
                LocalKind::Var => "a variable",
                LocalKind::Param(_) => "a parameter",
                LocalKind::CtorParam => "a constructor parameter",
                LocalKind::Const => "a constant",
            },
            other => other.describe(),
        }
    }

    /// Notes a name that should be used somewhere.
    pub(crate) fn expect_use(&mut self, what: &'static str, name: &ast::Ident) {
        self.declared.push(Declared {
            what,
            name: name.name.clone(),
            span: name.span,
        });
    }

    /// Runs `body` in a scope of its own.
    pub(crate) fn scoped<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push();
        let result = body(self);
        self.scopes.pop();
        result
    }

    /// Runs `body` in another context.
    pub(crate) fn in_context<R>(
        &mut self,
        context: Context,
        body: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let before = std::mem::replace(&mut self.context, context);
        let loops = std::mem::replace(&mut self.loops, 0);
        let result = body(self);
        self.context = before;
        self.loops = loops;
        result
    }

    /// Runs `body` one nesting level deeper. If that is too deep, reports an error and returns `None`.
    pub(crate) fn deeper<R>(&mut self, span: Span, body: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth >= MAX_DEPTH {
            self.report(errors::constants::too_deep(span, MAX_DEPTH));
            return None;
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        Some(result)
    }
}

/// Makes the expression that replaces an erroneous one.
pub(crate) fn poison_expr(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Default,
        ty: Ty::Poison,
        span,
    }
}

/// Makes a constant expression.
pub(crate) fn constant(value: ConstValue, ty: Ty, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Const(value),
        ty,
        span,
    }
}
