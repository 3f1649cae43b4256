//! Interface of tables to a target.

use crate::budget::Budget;
use crate::shared::Shared;
use cgen::tree::Expr as C;
use emit::Gen;
use emit::memory::Memory;
use layout::Structure;

/// Target with memory for tables.
pub trait Tables: Memory {
    /// Returns the state of tables that the functions of a file share.
    fn tables(file: &mut Self::File) -> &mut Shared;

    /// Returns the structure of tables that it fits and that request none. `None` leaves the choice to the compiler,
    /// which chooses by time within [`Tables::budget`].
    fn preferred(&self) -> Option<Structure> {
        None
    }

    /// Returns true if a table should have as few maps as possible.
    fn spares_maps(&self) -> bool {
        false
    }

    /// Returns the memory that a table may take.
    fn budget(&self) -> Budget {
        Budget::default()
    }

    /// Returns the way to call a function for each mask of a search. `None` if the search can be a loop in the function
    /// itself.
    fn iteration_calls(_g: &mut Gen<'_, Self>) -> Option<IterationCalls> {
        None
    }
}

/// Means of a target to call a function iteratively: `long turn(u32 number, struct … *with)`.
#[derive(Clone, Copy, Debug)]
pub struct IterationCalls {
    /// Linkage of the function.
    pub linkage: &'static str,
    /// Returns the call that runs a function `count` times, or until it does not return 0. `with` is the function's
    /// second argument.
    pub run: fn(count: C, iteration: C, with: C) -> C,
}
