//! Digests that a script expects.

use super::run::{Failure, Runner, refused};
use crate::digest::{DigestPattern, show_digest};
use diag::{Diagnostic, Span};
use std::time::{Duration, Instant};

/// Longest time from a packet until its digest reaches a reader.
const PATIENCE: Duration = Duration::from_secs(2);

impl Runner<'_> {
    /// Compares the next digest of a name with the expected one.
    pub(super) fn expect_digest(
        &mut self,
        pattern: &DigestPattern,
        shown: &str,
        span: Span,
    ) -> Result<(), Box<Diagnostic>> {
        let begun = Instant::now();
        let found = loop {
            let is_it = |digest: &crate::Digest| digest.number == pattern.number;
            if let Some(at) = self.digests.iter().position(is_it) {
                break self.digests.remove(at);
            }
            let left = PATIENCE.saturating_sub(begun.elapsed());
            if !self.fetch_digests(left, span)? {
                break None;
            }
        };
        let text = match found {
            Some(found) if pattern.matches(&found) => return Ok(()),
            Some(found) => {
                let found = show_digest(&self.schema, &found);
                format!("the digest is {found}, not {shown}")
            }
            None => {
                let name = &self.schema.digests[pattern.number as usize].name;
                format!("no digest {name} has come")
            }
        };
        self.outcome.failures.push(Failure { span, text });
        Ok(())
    }

    /// Records a failure for each digest that has come unexpectedly.
    pub(super) fn no_digest(
        &mut self,
        number: Option<u32>,
        span: Span,
    ) -> Result<(), Box<Diagnostic>> {
        while self.fetch_digests(Duration::ZERO, span)? {}
        let all = std::mem::take(&mut self.digests);
        for digest in all {
            if number.is_some_and(|only| only != digest.number) {
                self.digests.push_back(digest);
                continue;
            }
            let shown = show_digest(&self.schema, &digest);
            let text = format!("no digest was expected, but this one has come: {shown}");
            self.outcome.failures.push(Failure { span, text });
        }
        Ok(())
    }

    /// Fetches the digests that have come. Returns true if there were any.
    fn fetch_digests(&mut self, patience: Duration, span: Span) -> Result<bool, Box<Diagnostic>> {
        let digests = self.device.store_mut().digests(u64::MAX, patience);
        let digests = digests.map_err(|e| refused(span, "the digests could not be read", &e))?;
        let any = !digests.received.is_empty();
        self.digests.extend(digests.received);
        Ok(any)
    }
}
