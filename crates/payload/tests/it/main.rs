//! The reference reader against well-kept libraries on the same bytes, messages of real clients and made by hand, and the built-in schemas.

mod builtin;
mod captures;
mod common;
mod dns;
mod http;
mod json;
mod plan;
mod tls;
mod vectors;
mod xml;
