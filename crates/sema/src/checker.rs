//! The state of one check, and the small things every part of it does.

use crate::Checked;
use crate::call::Undecided;
use crate::errors;
use crate::scope::{Entity, Scopes};
use diag::{Diagnostic, Diagnostics, Severity, SourceMap, Span};
use hir::*;
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};
use syntax::ast;

/// How deep expressions, statements and types may nest.
pub(crate) const MAX_DEPTH: u32 = 200;

/// The context being checked: what may be called, declared and written there depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Context {
    /// Outside everything.
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
    /// Its name in messages, with its article.
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

    /// Whether this is inside a parser, where `.next`, `.last` and `.lastIndex` exist.
    pub(crate) fn in_parser(self) -> bool {
        matches!(self, Context::ParserLocals | Context::ParserState)
    }
}

/// A declaration that should be used somewhere.
#[derive(Debug)]
pub(crate) struct Declared {
    /// What it is, in a user's words.
    pub(crate) what: &'static str,
    /// Its name.
    pub(crate) name: SmolStr,
    /// The location of its name, by which a use is noted.
    pub(crate) span: Span,
}

/// The state of one check.
pub(crate) struct Checker<'a> {
    /// The source.
    pub(crate) map: &'a SourceMap,
    /// What is built.
    pub(crate) module: Module,
    /// What was found.
    pub(crate) diagnostics: Diagnostics,
    /// Names in reach.
    pub(crate) scopes: Scopes,
    /// Inference variables of the calls being checked.
    pub(crate) infer: Vec<Option<Ty>>,
    /// Where we are.
    pub(crate) context: Context,
    /// How deep.
    pub(crate) depth: u32,
    /// How many loops are around.
    pub(crate) loops: u32,
    /// What `return` gives in the body being checked.
    pub(crate) result: Ty,
    /// The type of `this`, in an abstract method's implementation.
    pub(crate) this: Option<(Ty, SmolStr)>,
    /// Whether a constructor call is allowed as an expression here.
    pub(crate) constructors_allowed: bool,
    /// Whether the keyset being checked may hold values that are known at run time only.
    pub(crate) run_time_sets: bool,
    /// Type parameters that stand for `_` in the parameters being declared.
    pub(crate) implicit_params: Vec<TypeParamId>,
    /// All such type parameters: no argument is written for them.
    pub(crate) implicit: HashSet<TypeParamId>,
    /// Parsers, controls and packages besides the first of their name.
    pub(crate) overloads: HashMap<SmolStr, Vec<Entity>>,
    /// Instances that may be of several parsers or controls of a name.
    pub(crate) undecided: HashMap<InstanceId, Undecided>,
    /// The same of the instance that is being made.
    pub(crate) undecided_now: Option<Undecided>,
    /// Default values of parameters.
    pub(crate) defaults: HashMap<LocalId, Expr>,
    /// Directionless parameters of actions: values come at run time.
    pub(crate) action_data: HashSet<LocalId>,
    /// Parameters of parsers and controls: bound when these are applied.
    pub(crate) block_data: HashSet<LocalId>,
    /// Sizes of composite types, by type.
    pub(crate) sizes: HashMap<Ty, types::Measure>,
    /// The places of fields in composite types of which one was accessed: structs may have tens of thousands.
    pub(crate) fields: HashMap<CompositeId, HashMap<SmolStr, usize>>,
    /// Names that were used, by the location of their declaration.
    pub(crate) used: HashSet<Span>,
    /// Names that should be used.
    pub(crate) declared: Vec<Declared>,
    /// `@deprecated` things by the location of their name.
    pub(crate) deprecated: HashMap<Span, String>,
    /// What a `typedef` says about how values are shown, by the location of its name.
    pub(crate) display: HashMap<Span, Vec<Annotation>>,
    /// Types of arguments by themselves, by where in memory the tree has an argument: in nested calls of overloads each would be found twice as
    /// often as the one around it.
    pub(crate) alone: HashMap<(usize, Span), Option<Ty>>,
    /// `@noWarn` spans and what they silence.
    pub(crate) silenced: Vec<(Span, String)>,
}

use crate::types;

impl<'a> Checker<'a> {
    /// Nothing checked yet.
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
        // Members of `error` are one set, whatever comes between its declarations.
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

    /// Runs the warnings over whole bodies and closes the check.
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

    /// Takes a diagnostic.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Takes a diagnostic and gives the expression in place of what it is about.
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

    /// The parameter that a local hides which was just declared, in a block further in.
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

    /// What a name denotes, for messages, with its article.
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

    /// Goes one level deeper; too deep is reported once and answered with `None`.
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

/// The expression in place of one with an error.
pub(crate) fn poison_expr(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Default,
        ty: Ty::Poison,
        span,
    }
}

/// A constant expression.
pub(crate) fn constant(value: ConstValue, ty: Ty, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Const(value),
        ty,
        span,
    }
}
