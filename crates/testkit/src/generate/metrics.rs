//! Metrics by group, updated at the end of a control, with keys of few and of many values.

use super::{Generator, Stmt};

/// Declarations of the objects, in the control.
pub(super) const OBJECTS: &str = "    tally<bit<8>>(16) tallied;
    histogram<bit<3>>(8) spread;
    distinct_count<bit<2>, bit<40>>(4, 6) different;
    top_keys<bit<8>>(8) heaviest;
";

impl Generator<'_> {
    /// Adds statements that update some of them.
    pub(super) fn metrics(&mut self) {
        self.program.metrics = true;
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
