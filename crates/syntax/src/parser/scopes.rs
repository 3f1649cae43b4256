//! Scopes of names, as far as the grammar depends on them: type or value. The specification's TYPE_IDENTIFIER decides
//! between a cast and parentheses, and between `<` and type arguments.

use std::collections::HashMap;

use smol_str::SmolStr;

use crate::ast::{Ident, Param};

/// Class of a name in scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    Type,
    Value,
}

/// Nested scopes of names.
pub(super) struct Scopes {
    frames: Vec<HashMap<SmolStr, Meaning>>,
}

impl Scopes {
    /// Makes scopes with the top level alone.
    pub(super) fn new() -> Scopes {
        Scopes {
            frames: vec![HashMap::new()],
        }
    }

    pub(super) fn push(&mut self) {
        self.frames.push(HashMap::new());
    }

    pub(super) fn pop(&mut self) {
        self.frames.pop();
    }

    pub(super) fn declare_type(&mut self, name: &Ident) {
        self.declare(name, Meaning::Type);
    }

    pub(super) fn declare_value(&mut self, name: &Ident) {
        self.declare(name, Meaning::Value);
    }

    pub(super) fn declare_types(&mut self, names: &[Ident]) {
        names.iter().for_each(|name| self.declare_type(name));
    }

    pub(super) fn declare_params(&mut self, params: &[Param]) {
        params
            .iter()
            .for_each(|param| self.declare_value(&param.name));
    }

    fn declare(&mut self, name: &Ident, meaning: Meaning) {
        if let Some(frame) = self.frames.last_mut() {
            frame.insert(name.name.clone(), meaning);
        }
    }

    /// Returns the innermost class of a name; `None` if it is unknown.
    pub(super) fn meaning(&self, name: &str) -> Option<Meaning> {
        self.frames.iter().rev().find_map(|f| f.get(name)).copied()
    }

    /// Returns the class of a name at top level.
    pub(super) fn global(&self, name: &str) -> Option<Meaning> {
        self.frames.first().and_then(|f| f.get(name)).copied()
    }
}
