//! Searches for a target that counts the iterations of loops. Each iteration has one path to the next: with two,
//! the number of paths would double with each iteration.

use super::search::{Groups, Needle};
use crate::emitter::Gen;
use crate::hints::Event;
use crate::target::Target;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};

/// Number of positions for which two words show whether the pattern may be there.
const AT_ONCE: u32 = 8;

impl<T: Target> Gen<'_, T> {
    /// Looks at one position in each iteration; its last group determines how far to advance.
    pub(super) fn group_by_group(
        &mut self,
        needle: &Needle,
        groups: &Groups,
        again: &str,
        done: &str,
    ) {
        let table = self.file.names.fresh("less");
        self.declare_less(&table, &groups.less_behind_comparison());
        self.goto_done_unless_there(needle.skip + needle.len(), done);
        self.goto_if_there(needle, done);
        let less = groups.less_at(&table, needle, 0);
        let by = C::bin(BinOp::Sub, C::int(groups.step.into()), less);
        self.set(C::id("off"), C::bin(BinOp::Add, C::id("off"), by));
        self.back_edge("reject", again);
    }

    /// Advances to the next of eight positions at which the pattern's first and last bytes match, or to the last of
    /// these positions. Advances by single positions once the packet has fewer than eight more.
    pub(super) fn word_by_word(&mut self, needle: &Needle, stop: &C, again: &str, done: &str) {
        let [few, one] = ["search_rest", "search_one"].map(|wish| self.file.names.fresh(wish));
        let last = needle.len() - 1;
        self.goto_done_unless_there(needle.skip + last + AT_ONCE, &few);
        self.goto_if_there(needle, done);
        let first = self.differing(needle, 0);
        let differing = match last {
            0 => first,
            _ => C::bin(BinOp::Or, first, self.differing(needle, last)),
        };
        let marks = C::pure("zero_bytes", vec![differing]);
        let behind = C::bin(BinOp::And, marks, C::int(!0xff));
        let some = C::bin(BinOp::Or, behind, C::int(0x80 << 56));
        let next = C::pure("first_byte", vec![some]);
        self.set(C::id("off"), C::bin(BinOp::Add, C::id("off"), next));
        self.back_edge("reject", again);

        self.push(Stmt::Label(few));
        let iterations = self.offset_local("rest_turns");
        self.set(iterations.clone(), C::int(0));
        self.push(Stmt::Label(one.clone()));
        self.meet();
        let is_over = C::bin(BinOp::Ge, C::id("off"), stop.clone());
        self.push(Stmt::goto_if(is_over, done));
        self.follow_in_bounds();
        self.goto_done_unless_there(needle.skip + needle.len(), done);
        self.goto_if_there(needle, done);
        self.set(C::id("off"), C::id("off").plus(1));
        self.back_edge_counted(&iterations, AT_ONCE, &one);
    }

    /// Goes to `done` if the pattern is at the position `cur`, by one jump. clang would make a jump of each word of
    /// a condition, each with a path of its own.
    fn goto_if_there(&mut self, needle: &Needle, done: &str) {
        let words = needle.words().into_iter();
        let differing = words.map(|word| C::bin(BinOp::Xor, word.at, C::int(word.value)));
        let any = differing.reduce(|any, word| C::bin(BinOp::Or, any, word));
        let differs = self.function_local("differs", CType::U64, None);
        self.set(differs.clone(), any.unwrap_or(C::int(0)));
        self.on(Event::Computed(&differs));
        let is_there = C::bin(BinOp::Eq, differs, C::int(0));
        self.push(Stmt::goto_if(is_there, done));
    }
}
