//! Figures by group, added to at the end of a control, under keys of few values and of many.

use super::{Generator, Stmt};

/// Their objects, in the control.
pub(super) const OBJECTS: &str = "    tally<bit<8>>(16) tallied;
    histogram<bit<3>>(8) spread;
    distinct_count<bit<2>, bit<40>>(4, 6) different;
    top_keys<bit<8>>(8) heaviest;
";

impl Generator<'_> {
    /// Adds to some of them.
    pub(super) fn figures(&mut self) {
        self.program.figures = true;
        self.valid = vec![0];
        for _ in 0..1 + self.below(4) {
            let (object, key, item) = [
                ("tallied", 8, 64),
                ("spread", 3, 64),
                ("different", 2, 40),
                ("heaviest", 8, 64),
            ][self.below(4)];
            let key = self.expr(key, 2);
            let item = self.expr(item, 2);
            let add = Stmt::Plain(format!("{object}.add({key}, {item});"));
            let stmt = match self.chance(3) {
                true => Stmt::If(self.condition(1), vec![add], Vec::new()),
                false => add,
            };
            self.program.body.push(stmt);
        }
    }
}
