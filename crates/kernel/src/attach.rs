//! Attaching a program to an interface, by the method of its hook.

use crate::attachment::{Attached, Interfaces, TcMethod, side};
use crate::program::HookProg;
use crate::xdp::Running;
use crate::{Pins, errors, tc, xdp};
use bpf::abi::Hook;
use diag::Diagnostic;
use host::caps;
use net::interface;

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

/// Attaches a program to its interfaces, in order. Nothing is attached if it fails.
pub fn attach(
    program: &HookProg,
    at: Interfaces<'_>,
    method: TcMethod,
) -> Result<Vec<Attached>, Box<Diagnostic>> {
    attach_besides(program, at, &Running::default(), method)
}

/// Attaches a running program to further interfaces. An XDP program keeps the mode that it runs in. Fails if one of
/// these interfaces, or one that the program sends to, would lose packets then.
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
