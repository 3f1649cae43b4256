//! Pattern sets: rules for the text of URLs (`p4include/payload.p4`).
//!
//! ```p4
//! extern pattern_set {
//!     pattern_set(bit<32> size);
//! }
//! ```
//!
//! `message.find_pattern` and `message.find_url` look for them.

use crate::call::Reply;
use crate::{Extern, ExternState, Meaning};
use ir::Bits;
use patterns::{PatternRules, UrlText};
use schema::RuleValue;
use std::sync::Arc;

/// Extern whose objects are sets of rules for the text of URLs.
pub const PATTERN_SET: &str = "pattern_set";

/// `pattern_set`
pub(crate) const EXTERN: Extern = Extern {
    name: PATTERN_SET,
    meaning: Meaning::Object {
        create: |_| ExternState::Patterns(Arc::default()),
        methods: &[],
    },
};

/// Returns the reply of a search: true if a pattern is found, and the values for the `out` arguments from `at` on: of prefixes too if
/// it is in a URL. Nothing is found in no text.
pub(crate) fn found(rules: &PatternRules, text: Option<UrlText>, at: usize, is_url: bool) -> Reply {
    let found = text.map(|text| rules.find(&text)).unwrap_or_default();
    let values = [found.prefix, found.other];
    let values = &values[usize::from(!is_url)..];
    let is_found = values.iter().any(|value| value.lists != 0);
    let outs = values
        .iter()
        .flat_map(|RuleValue { number, lists }| [*number, *lists]);
    let outs = (at..).zip(outs.map(|value| vec![Bits::new(32, value)]));
    Reply {
        result: vec![Bits::new(1, u32::from(is_found))],
        outs: outs.collect(),
    }
}
