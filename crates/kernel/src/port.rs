//! Ports of programs, and their interfaces.

/// A port of a program, and its interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Port's number in the program.
    pub number: u32,
    /// The interface's name.
    pub name: String,
    /// The interface's index.
    pub index: u32,
}
