//! The reference reader against well-kept libraries on the same bytes, messages of real clients and hand-written ones, and the built-in schemas.

mod builtin;
mod captures;
mod common;
mod dns;
mod http;
mod json;
mod layouts;
mod long;
mod patterns;
mod plan;
mod tls;
mod vectors;
mod xml;
