//! Attaching a program to its interfaces by XDP.

mod driver;
mod modes;
mod queues;
mod refusal;

use crate::attachment::{Attached, Holder, How, Interfaces, Mode, Refused};
use crate::errors::device::Occupant;
use crate::sys::{Link, Prog, XdpMode, driver_words, xdp_on};
use crate::{Pins, errors};
use diag::Diagnostic;
pub(crate) use driver::Driver;
use host::caps;
use modes::{Attacher, Candidate, Candidates, Why};
use net::interface;
use refusal::Interface;
use std::io;

/// Fails if an interface has an XDP program, and names the instance if it is Onpath's.
pub(crate) fn check_free(pins: &Pins, name: &str, ifindex: u32) -> Result<(), Box<Diagnostic>> {
    let Ok(Some(seen)) = xdp_on(ifindex) else {
        return Ok(());
    };
    let ours = pins.on_interface(ifindex).map(|record| Occupant {
        of: record
            .user
            .filter(|user| Some(user) != caps::user().as_ref()),
        instance: record.instance,
    });
    Err(errors::device::occupied(name, seen.prog_id, ours.as_ref()))
}

/// A running program, with its interfaces.
#[derive(Clone, Default, Debug)]
pub(crate) struct Running<'a> {
    /// The instance that it belongs to.
    pub instance: &'a str,
    /// Program's interfaces, each with true if the program runs natively there.
    pub at: Vec<(&'a str, bool)>,
}

/// Attaches a program to all its interfaces, which have none. It runs natively, or in the network stack where it
/// cannot. A running program keeps its mode: an interface that would change the mode is refused. On failure nothing is
/// changed.
pub(crate) fn attach(
    prog: &Prog,
    wanted: Interfaces<'_>,
    running: &Running<'_>,
) -> Result<Vec<Attached>, Box<Diagnostic>> {
    for port in wanted.ports {
        check_free(&Pins::default(), &port.name, port.index)?;
    }
    let at: Vec<Interface<'_>> = wanted.ports.iter().map(Interface::of).collect();
    // Once it is attached, the program has the queues that were free.
    let shared = at.iter().map(|at| queues::shared(at.name, at.driver));
    let shared: Vec<Option<Refused>> = shared.collect();
    let mut attacher = Machine {
        prog,
        instance: running.instance,
        at: &at,
        running: running.at.len(),
    };
    let links = candidates(wanted, &at, running).attach(&mut attacher)?;
    let all = links.into_iter().zip(shared);
    Ok(all
        .map(|((link, why), shared)| attached(link, why, shared, &at))
        .collect())
}

fn candidates<'a>(
    wanted: Interfaces<'a>,
    at: &[Interface<'a>],
    running: &Running<'a>,
) -> Candidates<'a> {
    let present = running.at.iter().map(|(name, native)| Candidate {
        name,
        refused: (!native).then(|| Refused {
            reason: "it runs by generic XDP there".to_owned(),
            remedy: None,
        }),
    });
    let new = at.iter().map(|at| Candidate {
        name: at.name,
        refused: refusal::loses_packets(*at),
    });
    let targets = wanted.targets.iter().map(|port| Candidate {
        name: &port.name,
        refused: refusal::takes_none(Interface::of(port)),
    });
    Candidates {
        redirects: wanted.redirects,
        ports: present.chain(new).collect(),
        running: running.at.len(),
        targets: targets.collect(),
    }
}

fn attached(
    link: Link,
    why: Option<Why<'_>>,
    shared: Option<Refused>,
    all: &[Interface<'_>],
) -> Attached {
    // A setting of another interface of the program is reported with that interface.
    let alone = |name: &str, refused: Refused| Refused {
        remedy: refused
            .remedy
            .filter(|_| all.iter().all(|at| at.name != name)),
        ..refused
    };
    let (mode, better_refused, slower) = match why {
        None => (Mode::Native, None, shared),
        Some(Why::Own(refused)) => (Mode::Generic, Some(refused), None),
        Some(Why::Other(name, refused)) => {
            let slower = for_other(name, alone(name, refused));
            (Mode::Generic, None, Some(slower))
        }
    };
    Attached {
        holder: Holder::Link(link),
        how: How {
            mode,
            better_refused,
            slower,
        },
    }
}

/// Explains why a program does not run natively at any interface.
fn for_other(name: &str, Refused { reason, remedy }: Refused) -> Refused {
    Refused {
        reason: format!(
            "from native XDP its packets would not reach {name} ({reason}): a program that redirects runs alike at all its \
             interfaces"
        ),
        remedy,
    }
}

/// The interfaces of this machine.
struct Machine<'a> {
    prog: &'a Prog,
    instance: &'a str,
    at: &'a [Interface<'a>],
    /// Number of the program's earlier interfaces, which come before them.
    running: usize,
}

impl Attacher for Machine<'_> {
    type Held = Link;
    type Error = Box<Diagnostic>;

    fn native(&mut self, number: usize) -> Result<Result<Link, Refused>, Box<Diagnostic>> {
        let at = self.at[number - self.running];
        let error = match Link::attach_xdp(self.prog, at.index, XdpMode::Native) {
            Ok(link) => return Ok(Ok(link)),
            Err(error) => error,
        };
        match not_worth_a_second_try(&error, at.name, at.index) {
            Some(diagnostic) => Err(diagnostic),
            None => {
                // Asked now: once the program is attached by the other method, the driver gives another reason.
                let words = driver_words(self.prog, at.index, XdpMode::Native);
                Ok(Err(refusal::explain(&error, words, at)))
            }
        }
    }

    fn generic(&mut self, number: usize, why: &Why<'_>) -> Result<Link, Box<Diagnostic>> {
        let at = self.at[number - self.running];
        Link::attach_xdp(self.prog, at.index, XdpMode::Generic).map_err(|error| {
            not_worth_a_second_try(&error, at.name, at.index).unwrap_or_else(|| {
                let words = driver_words(self.prog, at.index, XdpMode::Generic);
                let generic = refusal::explain(&error, words, at);
                let native = match why.clone() {
                    Why::Own(refused) => refused,
                    Why::Other(name, refused) => for_other(name, refused),
                };
                errors::device::not_attached(at.name, &native, &generic)
            })
        })
    }

    fn detach(&mut self, held: Link) {
        drop(held.until_dropped());
    }

    fn conflict(&mut self, running: &str, other: &str, refused: &Refused) -> Box<Diagnostic> {
        errors::ports::other_mode(self.instance, running, other, refused)
    }
}

/// Returns a diagnostic for refusals that do not depend on the driver.
fn not_worth_a_second_try(error: &io::Error, name: &str, ifindex: u32) -> Option<Box<Diagnostic>> {
    match error.raw_os_error() {
        Some(libc::EPERM) => Some(errors::load::not_permitted(
            &format!("attach a program to `{name}`"),
            &caps::missing(&caps::RUN),
            caps::in_user_namespace(),
        )),
        Some(libc::ENODEV) => Some(errors::device::interface_gone(name)),
        // The error of a link if the interface went away after it was looked up.
        Some(libc::EINVAL) if interface::name(ifindex).is_none() => {
            Some(errors::device::interface_gone(name))
        }
        Some(libc::EBUSY | libc::EEXIST) => {
            let checked = check_free(&Pins::default(), name, ifindex);
            let other = || match error.raw_os_error() {
                Some(libc::EEXIST) => {
                    let upper = interface::upper(name, ifindex);
                    errors::device::upper_occupied(name, upper.as_deref())
                }
                _ => errors::device::occupied(name, 0, None),
            };
            Some(checked.err().unwrap_or_else(other))
        }
        _ => None,
    }
}
