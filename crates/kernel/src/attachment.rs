//! Attachments of programs to interfaces: their holders, modes and methods.

use crate::Pins;
use crate::port::Port;
use crate::sys::{Link, Side, XdpMode};
use crate::tc::filter::{Filter, FilterLocation};
use bpf::abi::Hook;

/// Modes in which a program is attached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// XDP in the driver.
    Native,
    /// XDP in the network stack.
    Generic,
    /// Traffic control, by a link of its own.
    Tcx,
    /// Traffic control, by a filter at a `clsact` qdisc.
    Clsact,
}

impl Mode {
    /// The name for users.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Native => XdpMode::Native.name(),
            Mode::Generic => XdpMode::Generic.name(),
            Mode::Tcx => "tcx",
            Mode::Clsact => "clsact",
        }
    }
}

/// Methods of attaching tc programs to an interface.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TcMethod {
    /// tcx links, or filters if the kernel has no tcx.
    #[default]
    Best,
    /// Filters at a `clsact` qdisc, as on kernels before 6.6.
    Clsact,
}

/// Position of a program among those that an interface has at a side of traffic control.
#[derive(Clone, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub enum TcOrder {
    /// After all that are there.
    #[default]
    Last,
    /// Right before the program of this instance.
    Before(String),
    /// Right after the program of this instance.
    After(String),
    /// Nearest to the wire: before all that are there at ingress, and after them at egress. A filter is after them at
    /// both.
    NearestWire,
}

impl TcOrder {
    /// Returns the instance that the position refers to, if it refers to one.
    pub fn beside(&self) -> Option<&str> {
        match self {
            TcOrder::Last | TcOrder::NearestWire => None,
            TcOrder::Before(instance) | TcOrder::After(instance) => Some(instance),
        }
    }
}

/// Kernel object that holds a program on an interface.
#[derive(Debug)]
pub(crate) enum Holder {
    Link(Link),
    Filter(Filter),
}

/// The reason why the kernel does not attach a program by some method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Phrase that follows a colon in a message.
    pub reason: String,
    /// The change that would let it be native, if it is known.
    pub remedy: Option<String>,
}

/// A program on an interface, for as long as this value (or a pin of it) lives.
#[derive(Debug)]
pub struct Attached {
    pub(crate) holder: Holder,
    /// The kind of its attachment.
    pub how: How,
}

/// Mode of an attachment, and the reasons why it is not a better one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct How {
    /// The mode.
    pub mode: Mode,
    /// Reason why the better method (native, tcx) failed, if it was tried and failed.
    pub better_refused: Option<Refused>,
    /// Reason why it is slower than the driver could be, if that is known.
    pub slower: Option<Refused>,
}

impl Attached {
    /// Returns the filter's location; `None` for a link.
    pub(crate) fn filter(&self) -> Option<FilterLocation> {
        match &self.holder {
            Holder::Link(_) => None,
            Holder::Filter(filter) => Some(filter.location()),
        }
    }
}

/// The side of an interface that a hook of traffic control is at; `None` for XDP.
pub fn side(hook: Hook) -> Option<Side> {
    match hook {
        Hook::Xdp => None,
        Hook::TcIngress => Some(Side::Ingress),
        Hook::TcEgress => Some(Side::Egress),
    }
}

/// The interfaces of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interfaces<'a> {
    /// True if the program redirects packets. An XDP program that does runs in the same mode at all its interfaces.
    pub redirects: bool,
    /// Interfaces to attach it to.
    pub ports: &'a [Port],
    /// Interfaces that it only sends packets to.
    pub targets: &'a [Port],
    /// Position among other programs at traffic control, and the pins to find those by. `None` puts it last.
    pub order: Option<(&'a Pins, &'a TcOrder)>,
}
