//! Scopes: names and the entities that they denote.

use diag::Span;
use hir::*;
use smol_str::SmolStr;
use std::collections::HashMap;
use std::rc::Rc;

/// Entity that a name denotes.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// A `typedef`, or a type parameter: a type without arguments.
    Type(Ty),
    /// A struct, header or union.
    Composite(CompositeId),
    /// An extern object type.
    Extern(ExternId),
    /// A parser or parser type.
    Parser(ParserId),
    /// A control or control type.
    Control(ControlId),
    /// A package.
    Package(PackageId),
    /// A constant with a known value.
    Const(Rc<ConstValue>, Ty),
    /// A variable, parameter, or constant that depends on constructor arguments.
    Local(LocalId),
    /// Functions and extern functions of the same name.
    Functions(Vec<Overload>),
    /// An action.
    Action(ActionId),
    /// A table.
    Table(TableId),
    /// A value set.
    ValueSet(ValueSetId),
    /// A named instance.
    Instance(InstanceId),
    /// A declaration whose own body is being checked.
    InProgress(&'static str),
    /// A declaration that had errors.
    Poison,
}

/// One of several functions of a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Overload {
    /// A function with a body.
    Function(FunctionId),
    /// An extern function, without a body.
    Extern(ExternFnId),
}

impl Entity {
    /// Returns true if the name denotes a type.
    pub(crate) fn is_type(&self) -> bool {
        use Entity::*;
        matches!(
            self,
            Type(_) | Composite(_) | Extern(_) | Parser(_) | Control(_) | Package(_)
        )
    }

    /// Returns its description in messages, with its article; see also [`Checker::describe`].
    ///
    /// [`Checker::describe`]: crate::checker::Checker::describe
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Entity::Type(_) | Entity::Composite(_) => "a type",
            Entity::Extern(_) => "an extern",
            Entity::Parser(_) => "a parser",
            Entity::Control(_) => "a control",
            Entity::Package(_) => "a package",
            Entity::Const(..) => "a constant",
            Entity::Local(_) => "a variable",
            Entity::Functions(_) => "a function",
            Entity::Action(_) => "an action",
            Entity::Table(_) => "a table",
            Entity::ValueSet(_) => "a value set",
            Entity::Instance(_) => "an instance",
            Entity::InProgress(what) => what,
            Entity::Poison => "a declaration with errors",
        }
    }
}

/// A name's entity and the location of its declaration.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    /// Entity of the name.
    pub(crate) entity: Entity,
    /// Location of its declaration.
    pub(crate) span: Span,
}

/// Scopes around the code being checked, the top level first.
#[derive(Debug)]
pub(crate) struct Scopes {
    stack: Vec<HashMap<SmolStr, Binding>>,
    /// Names that a scope will declare further down, for better messages.
    later: Vec<HashMap<SmolStr, Span>>,
}

impl Scopes {
    /// Makes an empty top level.
    pub(crate) fn new() -> Scopes {
        Scopes {
            stack: vec![HashMap::new()],
            later: vec![HashMap::new()],
        }
    }

    /// Opens a scope.
    pub(crate) fn push(&mut self) {
        self.stack.push(HashMap::new());
        self.later.push(HashMap::new());
    }

    /// Closes the innermost scope; the top level stays.
    pub(crate) fn pop(&mut self) {
        if self.stack.len() > 1 {
            self.stack.pop();
            self.later.pop();
        }
    }

    /// Notes that the innermost scope will declare `name`.
    pub(crate) fn announce(&mut self, name: &SmolStr, span: Span) {
        if let Some(later) = self.later.last_mut() {
            later.entry(name.clone()).or_insert(span);
        }
    }

    /// Declares a name in the innermost scope. If it is taken there, returns the location of the first declaration.
    pub(crate) fn declare(
        &mut self,
        name: SmolStr,
        entity: Entity,
        span: Span,
    ) -> Result<(), Span> {
        let Some(scope) = self.stack.last_mut() else {
            return Ok(());
        };
        if let Some(earlier) = scope.get(&name) {
            return Err(earlier.span);
        }
        scope.insert(name, Binding { entity, span });
        Ok(())
    }

    /// Replaces a name's entity in the innermost scope.
    pub(crate) fn replace(&mut self, name: &SmolStr, entity: Entity, span: Span) {
        if let Some(scope) = self.stack.last_mut() {
            scope.insert(name.clone(), Binding { entity, span });
        }
    }

    /// Looks a name up, from the innermost scope outwards, or at top level alone.
    pub(crate) fn lookup(&self, name: &str, global: bool) -> Option<&Binding> {
        let scopes = if global {
            &self.stack[..1]
        } else {
            &self.stack[..]
        };
        scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Returns the location of the innermost declaration of a name outside the scope that declares it at `inner`.
    pub(crate) fn hidden(&self, name: &str, inner: Span) -> Option<Span> {
        let all = self.stack.iter().filter_map(|scope| scope.get(name));
        let around = all.take_while(|binding| binding.span != inner);
        around.last().map(|binding| binding.span)
    }

    /// Looks a name up in the innermost scope alone.
    pub(crate) fn lookup_here(&self, name: &str) -> Option<&Binding> {
        self.stack.last()?.get(name)
    }

    /// Looks a name up in the scope around the innermost one alone.
    pub(crate) fn lookup_around(&self, name: &str) -> Option<&Entity> {
        let around = self.stack.len().checked_sub(2)?;
        Some(&self.stack[around].get(name)?.entity)
    }

    /// Looks a name up in the scopes around the innermost one, except at top level.
    pub(crate) fn hidden_inside(&self, name: &str) -> Option<&Binding> {
        let inside = self.stack.get(1..self.stack.len().checked_sub(1)?)?;
        inside.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Returns the functions of a name that an action, which is being declared, hides.
    pub(crate) fn functions_around(&self, name: &str) -> Option<&Binding> {
        let mut found = self.stack.iter().rev().filter_map(|scope| scope.get(name));
        if !matches!(found.next()?.entity, Entity::InProgress(_)) {
            return None;
        }
        found
            .next()
            .filter(|b| matches!(b.entity, Entity::Functions(_)))
    }

    /// Returns the location at which an unknown name will be declared further down.
    pub(crate) fn declared_later(&self, name: &str) -> Option<Span> {
        self.later
            .iter()
            .rev()
            .find_map(|scope| scope.get(name))
            .copied()
    }

    /// Returns the names in scope that satisfy `want`.
    pub(crate) fn names<'a>(
        &'a self,
        want: impl Fn(&Entity) -> bool + 'a,
    ) -> impl Iterator<Item = &'a str> + 'a {
        self.stack.iter().rev().flat_map(move |scope| {
            let mut names: Vec<&str> = scope
                .iter()
                .filter(|(_, b)| want(&b.entity))
                .map(|(name, _)| name.as_str())
                .collect();
            names.sort_unstable();
            names
        })
    }
}
