//! Integration tests in one binary, a module for each subject.

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
