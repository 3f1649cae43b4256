//! The integration tests, in one binary: a module a subject.

mod attempts;
mod forecast;
mod generated;
mod kernel_needs;
mod language;
mod large;
mod packets;
mod running;
mod schemas;
mod settings;
mod shapes;
mod twins;
