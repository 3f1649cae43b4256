//! Queries on packets and on the messages in them.
//!
//! A query such as `count by ip.src where tcp.dst_port == 443` is a text (`docs/queries.md` in the repository
//! defines the language). [`compile`] turns it into a [`Query`], in which every name is resolved against a
//! [`Catalogue`], or reports its errors. An [`Evaluator`] takes packets as bytes, on this processor, and keeps the
//! metrics in bounded memory; [`view`] shows them.
//!
//! An application can query the bytes that it receives itself:
//!
//! ```
//! use std::time::Duration;
//! use telemetry::{Catalogue, Cell, Evaluator, Payload, Schemas, Transport};
//!
//! let schemas = Schemas::builtin();
//! let mut map = diag::SourceMap::new();
//! let text = "count by memcached.key where memcached.verb == \"set\"";
//! let query = telemetry::compile(text, &Catalogue::new(&schemas), &mut map).expect("a query");
//! let mut evaluator = Evaluator::new(query, &schemas, None, [0, 1]);
//! evaluator.received(
//!     Payload {
//!         transport: Transport::Tcp,
//!         source_port: 40_000,
//!         destination_port: 11_211,
//!         bytes: b"set user:7 0 0 2\r\nok\r\n",
//!     },
//!     Duration::ZERO,
//! );
//! let report = evaluator.report(1.0);
//! assert_eq!(report.rows[0].keys[0].to_string(), "user:7");
//! assert_eq!(report.rows[0].cells, [Cell::Number(1)]);
//! ```

mod aggregate;
mod ast;
mod awaited;
mod behind;
pub mod capture;
mod catalogue;
mod check;
mod described;
pub mod errors;
mod evaluate;
mod exchange;
mod explain;
mod groups;
mod lexer;
mod link;
mod messages;
mod packet;
mod parser;
mod program;
mod query;
mod report;
mod schemas;
mod streams;
mod value;
pub mod view;

pub use aggregate::Cell;
pub use catalogue::{Attribute, Catalogue, HeaderField, Type, describe_fields};
pub use described::{Described, OnPath, describe, meant};
pub use evaluate::{Evaluator, Frame};
pub use explain::explain;
pub use groups::MAX_GROUPS;
pub use link::Link;
pub use messages::{Found, Messages, NoMessages, Payload, Position, Reader, Transport, Wish};
pub use payload::Pattern;
pub use program::{Kept, Reading, Stores, groups_on_path, objects_of, program};
pub use query::{Aggregate, By, Condition, Element, Function, Operator, Order, Predicate, Query};
pub use report::{Counts, Report, Row, Unit};
pub use schemas::Schemas;
pub use streams::Followed;
pub use value::{FiveTuple, Value};

use diag::{Diagnostics, SourceMap};

/// Name of a query in diagnostics.
const NAME: &str = "query";
/// Longest query, in bytes.
pub const MAX_QUERY: usize = 64 << 10;
/// Greatest number of attributes in `by`.
pub const MAX_KEYS: usize = 4;
/// Greatest number of aggregates in a query.
pub const MAX_AGGREGATES: usize = 8;
/// Longest text that is kept as a key or as an item of `top`, in bytes. The rest is cut off, and counted.
pub const MAX_TEXT: usize = 256;

/// Parses and checks a query. Diagnostics refer to `map`, to which the text is added.
pub fn compile(
    text: &str,
    catalogue: &Catalogue,
    map: &mut SourceMap,
) -> Result<Query, Diagnostics> {
    let file = Some(text.len())
        .filter(|&length| length <= MAX_QUERY)
        .and_then(|_| map.add(NAME, text));
    let Some(file) = file else {
        return Err(errors::syntax::too_long(text.len()).into());
    };
    let base = map.span(file, 0..0).lo;
    let tokens = lexer::tokens(text, base)?;
    let tree = parser::parse(text, base, tokens)?;
    check::check(tree, catalogue)
}
