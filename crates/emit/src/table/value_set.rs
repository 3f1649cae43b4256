//! Parser value sets: sets of keys, which the target keeps.

use crate::emitter::Gen;
use crate::target::{Lookups, Target};
use cgen::tree::{BinOp, Expr as C, Type};
use ir::{Expr, ValueSet};

/// C side of a value set.
pub(crate) struct LoweredSet<T: Target>(<T::Lookups as Lookups<T>>::ValueSet);

impl<T: Target> Clone for LoweredSet<T> {
    fn clone(&self) -> LoweredSet<T> {
        LoweredSet(self.0.clone())
    }
}

impl<T: Target> Gen<'_, T> {
    /// Condition that keys are a member of a set.
    pub(crate) fn value_set_member(&mut self, set: ValueSet, keys: &[Expr]) -> C {
        let LoweredSet(made) = self.lowered_set(set);
        self.braces(|g| {
            let entry = T::Lookups::member(g, &made, keys);
            let found = g.own_local("member", Type::U32, None);
            g.set(found.clone(), C::bin(BinOp::Ne, entry, C::id("NULL")));
            found
        })
    }

    /// Lowers value sets that decide nothing: the control plane may change them all the same.
    pub(crate) fn unread_value_sets(&mut self) {
        for set in self.p.value_sets.keys() {
            self.lowered_set(set);
        }
    }

    fn lowered_set(&mut self, set: ValueSet) -> LoweredSet<T> {
        if let Some(made) = self.file.value_sets.get(&set) {
            return made.clone();
        }
        let made = LoweredSet(T::Lookups::value_set(self, set, &self.p.value_sets[set]));
        self.file.value_sets.insert(set, made.clone());
        made
    }
}
