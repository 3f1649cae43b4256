//! Attaching a program to an interface, by the method of its hook.

use crate::bundle::Port;
use crate::program::HookProg;
use crate::sys::{Link, Side, XdpMode};
use crate::tc::Filter;
use crate::xdp::Running;
use crate::{Pins, errors, tc, xdp};
use bpf::abi::Hook;
use diag::Diagnostic;
use host::caps;
use net::interface;

/// How a program is attached.
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

/// How tc programs are attached to an interface.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TcMethod {
    /// By tcx links, and by filters where the kernel has no tcx.
    #[default]
    Best,
    /// By filters, as on kernels before 6.6.
    Clsact,
}

/// The place of a program among those that an interface has at a side of traffic control.
#[derive(Clone, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub enum TcOrder {
    /// After all that are there.
    #[default]
    Last,
    /// Right before the program of this instance.
    Before(String),
    /// Right after it.
    After(String),
}

impl TcOrder {
    /// The instance beside whose program it is.
    pub fn beside(&self) -> Option<&str> {
        match self {
            TcOrder::Last => None,
            TcOrder::Before(instance) | TcOrder::After(instance) => Some(instance),
        }
    }
}

/// What holds a program on an interface.
#[derive(Debug)]
pub(crate) enum Holder {
    Link(Link),
    Filter(Filter),
}

/// Why the kernel does not attach a program by some method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// In words that follow a colon.
    pub reason: String,
    /// What would change that, if it is known.
    pub remedy: Option<String>,
}

/// A program on an interface, for as long as this value (or a pin of it) lives.
#[derive(Debug)]
pub struct Attached {
    pub(crate) holder: Holder,
    /// How it is attached.
    pub how: How,
}

/// How a program is attached, and why not in a better way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct How {
    /// The mode.
    pub mode: Mode,
    /// Why it is not attached by the better method (native, tcx), if it is not and that was tried.
    pub better_refused: Option<Refused>,
    /// Why it is slower than the driver could be, if that is known.
    pub slower: Option<Refused>,
}

impl Attached {
    /// Where the filter is, if it is one.
    pub(crate) fn filter(&self) -> Option<tc::FilterLocation> {
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

/// Fails if this process has not the capabilities that running a program takes.
pub fn check_rights(hook: Hook) -> Result<(), Box<Diagnostic>> {
    let missing = caps::missing(&caps::RUN);
    if missing.is_empty() {
        return Ok(());
    }
    let what = match hook {
        Hook::Xdp => "run a program by XDP",
        Hook::TcIngress | Hook::TcEgress => "run a program by tc",
    };
    Err(errors::load::not_permitted(
        what,
        &missing,
        caps::in_user_namespace(),
    ))
}

/// Fails if an interface cannot have another program at a hook: XDP takes one program, tc many, but programs for tc
/// take Ethernet headers for granted.
pub fn check_hook(
    pins: &Pins,
    hook: Hook,
    name: &str,
    ifindex: u32,
) -> Result<(), Box<Diagnostic>> {
    match hook {
        Hook::Xdp => xdp::check_free(pins, name, ifindex),
        Hook::TcIngress | Hook::TcEgress => match interface::link_type(ifindex) {
            Ok(link_type) if !link_type.is_ethernet() => {
                Err(errors::device::no_ethernet(name, link_type))
            }
            // One that has gone away is reported on attaching.
            _ => Ok(()),
        },
    }
}

/// The interfaces of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interfaces<'a> {
    /// Whether the program redirects packets. By XDP one that does runs alike at all its interfaces.
    pub redirects: bool,
    /// Those to attach it to.
    pub ports: &'a [Port],
    /// Those that it only sends packets to.
    pub targets: &'a [Port],
    /// Its place among others at traffic control, and the pins of those; after all that are there if `None`.
    pub order: Option<(&'a Pins, &'a TcOrder)>,
}

/// Attaches a program to its interfaces, in order. Nothing is attached if it fails.
pub fn attach(
    program: &HookProg,
    at: Interfaces<'_>,
    method: TcMethod,
) -> Result<Vec<Attached>, Box<Diagnostic>> {
    attach_besides(program, at, &Running::default(), method)
}

/// Attaches a program that runs already to further interfaces: by XDP in the mode that it has, and it fails if one of them,
/// or one that it is to send to, would lose packets then.
pub(crate) fn attach_besides(
    program: &HookProg,
    at: Interfaces<'_>,
    running: &Running<'_>,
    method: TcMethod,
) -> Result<Vec<Attached>, Box<Diagnostic>> {
    let prog = program.prog();
    let Some(side) = side(program.hook()) else {
        return xdp::attach(prog, at, running);
    };
    let each = at.ports.iter();
    each.map(|port| tc::attach(prog, side, port, method, at.order))
        .collect()
}
