//! Operations on whole header stacks.

use super::Run;
use ir::{Bits, Stack, Value};

impl Run<'_> {
    /// Moves elements to higher indices. The first elements become invalid.
    pub(super) fn push_front(&mut self, stacks: &[Stack], count: u32) {
        for &stack in stacks {
            let elems = &self.p.stacks[stack].elems;
            let by = (count as usize).min(elems.len());
            for at in (by..elems.len()).rev() {
                self.it.storage.copy_header(elems[at], elems[at - by]);
            }
            for &elem in &elems[..by] {
                self.it.storage.clear_header(self.p, elem);
            }
        }
        self.move_next(stacks, |next, size| {
            next.saturating_add(count.into()).min(size)
        });
    }

    /// Moves elements to lower indices. The last elements become invalid.
    pub(super) fn pop_front(&mut self, stacks: &[Stack], count: u32) {
        for &stack in stacks {
            let elems = &self.p.stacks[stack].elems;
            let by = (count as usize).min(elems.len());
            for at in by..elems.len() {
                self.it.storage.copy_header(elems[at - by], elems[at]);
            }
            for &elem in &elems[elems.len() - by..] {
                self.it.storage.clear_header(self.p, elem);
            }
        }
        self.move_next(stacks, |next, _| next.saturating_sub(count.into()));
    }

    /// Changes the next index, which is shared by stacks that move together.
    fn move_next(&mut self, stacks: &[Stack], moved: impl Fn(u64, u64) -> u64) {
        let Some(&first) = stacks.first() else {
            return;
        };
        let data = &self.p.stacks[first];
        let next = moved(self.number(Some(data.next)), data.elems.len() as u64);
        let value = Value::Bits(Bits::new(32, next));
        self.it.storage.set_var(data.next, value);
    }
}
