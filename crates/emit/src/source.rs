//! The way back to the P4 source.

use super::Gen;
use cgen::tree::Stmt;
use diag::Span;

impl Gen<'_> {
    /// What is emitted next comes from here.
    pub(super) fn line(&mut self, span: Span) {
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
