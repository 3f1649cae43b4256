//! Transmit queues of an interface for packets from XDP programs. virtio_net wants one for each processor besides the
//! host's. If its device has fewer, it runs the program all the same, but more slowly, and reports that only in the
//! kernel's log.

use super::driver::Driver;
use crate::attachment::Refused;
use crate::sys::possible_cpus;
use net::offloads::ethtool;
use std::io;

/// Numbers of queues: those that the host uses, and those that the device has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Queues {
    used: u32,
    most: u32,
}

/// Explains why packets that programs send to an interface are slow, if too few queues make them so. The interface has
/// no program yet.
pub(super) fn shared(name: &str, driver: Driver) -> Option<Refused> {
    if driver != Driver::VirtioNet {
        return None;
    }
    let processors = u32::try_from(possible_cpus().ok()?).ok()?;
    explain(name, queues(name).ok()?, processors)
}

fn explain(name: &str, queues: Queues, processors: u32) -> Option<Refused> {
    let Queues { used, most } = queues;
    let wanted = used.saturating_add(processors);
    if wanted <= most {
        return None;
    }
    let left = most.saturating_sub(processors);
    Some(Refused {
        reason: format!(
            "{name} has {most} queue{}, and its driver wants {wanted} for XDP: packets that programs send to it wait for the \
             host's",
            if most == 1 { "" } else { "s" }
        ),
        remedy: Some(match left {
            0 => format!(
                "the host of this virtual machine can give it more (`mq=on` of QEMU's virtio-net, `queues={wanted}` of what \
                 it is connected to)"
            ),
            _ => format!("`ethtool -L {name} combined {left}` leaves it enough"),
        }),
    })
}

/// Reads the numbers of an interface's queues that both send and receive.
fn queues(name: &str) -> io::Result<Queues> {
    /// `struct ethtool_channels`
    #[repr(C)]
    #[derive(Default)]
    struct Channels {
        command: u32,
        most: [u32; 3],
        most_combined: u32,
        used: [u32; 3],
        combined: u32,
    }
    const GET: u32 = 0x3c;
    let mut found = Channels {
        command: GET,
        ..Channels::default()
    };
    // SAFETY: the command writes this struct.
    unsafe { ethtool(name, &mut found) }?;
    Ok(Queues {
        used: found.combined,
        most: found.most_combined,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::link::{self, End};
    use net::netns::NetNs;

    #[test]
    fn too_few_queues_are_reported_with_what_gives_more() {
        let on = |used, most| explain("eth0", Queues { used, most }, 2);
        assert_eq!(on(2, 4), None);
        let shared = on(4, 4).expect("too few");
        assert!(
            shared
                .reason
                .starts_with("eth0 has 4 queues, and its driver wants 6")
        );
        let remedy = shared.remedy.expect("there is one");
        assert_eq!(remedy, "`ethtool -L eth0 combined 2` leaves it enough");
        let one = on(1, 1).expect("too few");
        assert!(one.reason.starts_with("eth0 has 1 queue, "));
        assert!(one.remedy.expect("there is one").contains("`queues=3`"));
    }

    #[test]
    fn another_driver_has_no_such_queues() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            link::add_veth(End::here("one"), End::here("two"))?;
            assert_eq!(queues("one")?, Queues { used: 0, most: 0 });
            assert_eq!(shared("one", Driver::of("one")), None);
            Ok(())
        })
        .expect("runs");
    }
}
