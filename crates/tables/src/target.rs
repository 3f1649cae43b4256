//! What tables ask of a target.

use crate::shared::Shared;
use cgen::tree::Expr as C;
use emit::Gen;
use emit::memory::Memory;
use layout::Structure;

/// A target with memory for tables.
pub trait Tables: Memory {
    /// What the functions of a file have of tables.
    fn tables(file: &mut Self::File) -> &mut Shared;

    /// The structure of tables that it is for and that do not say which they want; `None` for bit vectors, where these are not too large,
    /// and by the number of entries of other tables.
    fn preferred(&self) -> Option<Structure> {
        None
    }

    /// The way to call a function for each mask that a search goes through; `None` if the search may be a loop in the function itself.
    fn turn_calls(_g: &mut Gen<'_, Self>) -> Option<TurnCalls> {
        None
    }
}

/// A target's way to call a function turn by turn: `long turn(u32 number, struct … *with)`.
#[derive(Clone, Copy, Debug)]
pub struct TurnCalls {
    /// How the function is linked.
    pub linkage: &'static str,
    /// The call of a function, so many times or until it does not return 0. Its second argument is that of this one.
    pub run: fn(count: C, turn: C, with: C) -> C,
}
