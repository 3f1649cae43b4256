//! Tests of the reference reader against established libraries, on messages of real clients and on hand-written ones.
//! Tests of the built-in schemas.

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
