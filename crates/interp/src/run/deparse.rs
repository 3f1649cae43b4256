//! Emission of headers as bytes.

use super::Run;
use crate::trace::TraceKind;
use diag::Span;
use ir::HeaderRef;

impl Run<'_> {
    /// Appends a header to the outgoing packet if it is valid.
    pub(super) fn emit(&mut self, header: HeaderRef, span: Span) {
        let Some(header) = self.header_of(header) else {
            return;
        };
        if !self.storage().header(header).valid {
            return;
        }
        let from = self.emitted.len();
        for field in &self.it.storage.header(header).fields {
            self.emitted.push(&field.to_bits());
        }
        self.trace(span, |run| TraceKind::Emit {
            header: run.p.headers[header].name.to_string(),
            from,
            to: run.emitted.len(),
            fields: run.fields_of(header),
        });
    }
}
