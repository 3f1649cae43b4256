//! Relocation of the elements of rolled stacks. In scratch memory, each element has room for the longest one.

use crate::emitter::Gen;
use crate::target::Target;
use cgen::tree::{BinOp, Expr as C, Stmt};

impl<T: Target> Gen<'_, T> {
    /// Returns the total length of all valid elements, in bytes.
    pub(super) fn elements_length(&mut self, stack: usize) -> C {
        let length = self.summed_local("elements", None);
        self.set(length.clone(), C::int(0));
        let sum = length.clone();
        self.for_each_valid(stack, |g, element| {
            g.push(Stmt::Update(BinOp::Add, sum, element.length));
        });
        length
    }

    /// Copies the valid elements to scratch memory; returns their offset there.
    pub(super) fn take_out_elements(&mut self, stack: usize) -> u32 {
        let slot = self.rebuilding.relocated_bytes;
        let rolled = &self.plan.rolled.stacks[stack];
        self.rebuilding.relocated_bytes += (rolled.size * rolled.longest).next_multiple_of(8);
        self.file.contents.copied_bytes = true;
        self.for_each_valid(stack, |g, element| {
            let to = g.target.relocated().plus(slot.into());
            let to = C::bin(BinOp::Add, to, element.slot);
            let load = |len: C| {
                let args = vec![C::id("ctx"), element.offset, to, len];
                vec![Stmt::goto_if(C::call("packet_load_bytes", args), "reject")]
            };
            g.copy_element(element.length, element.longest, load);
        });
        slot
    }

    /// Writes the elements to the packet at the offset `at`, and advances `at` past them.
    pub(super) fn put_elements_back(&mut self, stack: usize, slot: u32, at: &C) {
        let most = self.target.limits().offset;
        self.for_each_valid(stack, |g, element| {
            let from = g.target.relocated().plus(slot.into());
            let from = C::bin(BinOp::Add, from, element.slot);
            let here = g.pinned_local("here", None);
            g.set(here.clone(), at.clone());
            g.at_most(&here, most);
            let store = |len: C| {
                let args = vec![C::id("ctx"), here, from, len];
                vec![Stmt::goto_if(C::call("packet_store_bytes", args), "reject")]
            };
            let length = element.length.clone();
            g.copy_element(element.length, element.longest, store);
            g.push(Stmt::Update(BinOp::Add, at.clone(), length));
        });
        self.reload();
        self.regions.packet_changed();
    }

    /// Emits the code that `copy` returns for an element's length, bounded by `longest`. Nothing is copied if the
    /// length is 0.
    fn copy_element(&mut self, length: C, longest: u32, copy: impl FnOnce(C) -> Vec<Stmt>) {
        let len = self.pinned_local("relocated_len", None);
        self.set(len.clone(), length);
        self.at_most(&len, longest.into());
        let copied = self.unless_empty(&len, longest, copy);
        self.out.extend(copied);
    }
}
