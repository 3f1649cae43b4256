//! Mapping back to the P4 source.

use crate::emitter::Gen;
use crate::target::Target;
use cgen::tree::Stmt;
use diag::Span;

impl<T: Target> Gen<'_, T> {
    /// Sets the origin in the source of the code that is emitted next.
    pub fn line(&mut self, span: Span) {
        let Some((file, at)) = self.map.line_col(span) else {
            return;
        };
        let file = self.map.file(file).name.as_str().into();
        self.push(Stmt::Line {
            file,
            line: at.line,
        });
    }
}
