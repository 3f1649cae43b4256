//! `v1model`: a counter for each entry of the table that names it.
//!
//! ```p4
//! extern direct_counter {
//!     direct_counter(CounterType type);
//!     void count();
//! }
//! ```
//!
//! Applying the table counts every hit; a call of `count` in an action adds nothing to that.

use crate::{Extern, Meaning, Reply, stateless};

/// `direct_counter`
pub(crate) const EXTERN: Extern = Extern {
    name: "direct_counter",
    meaning: Meaning::Object {
        create: stateless,
        methods: &[("count", |_, _, _| Ok(Reply::none()))],
    },
};
