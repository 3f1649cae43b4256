//! Events of network interfaces: one was made, renamed or deleted, or its network namespace has ended.

use crate::netlink::{attributes, put_attribute, request, route_socket};
use nix::sys::socket::{MsgFlags, NetlinkAddr, SockFlag, bind, recv};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A socket that becomes readable when an interface changes.
#[derive(Debug)]
pub struct LinkEvents {
    socket: OwnedFd,
    /// Number by which the thread's network namespace knows the other one whose events it gets.
    other: Option<i32>,
}

impl LinkEvents {
    /// Opens a socket for events of the network namespace of this thread.
    pub fn here() -> io::Result<LinkEvents> {
        const LINKS: u32 = 1 << (libc::RTNLGRP_LINK - 1);
        const NAMESPACES: u32 = 1 << (libc::RTNLGRP_NSID - 1);
        let socket = route_socket(SockFlag::SOCK_NONBLOCK)?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, LINKS | NAMESPACES))?;
        Ok(LinkEvents {
            socket,
            other: None,
        })
    }

    /// Opens a socket for events of another network namespace too. It does not keep that namespace alive, as a socket
    /// made there would.
    pub fn of(namespace: BorrowedFd<'_>) -> io::Result<LinkEvents> {
        let other = Some(number_namespace(namespace)?);
        let events = LinkEvents {
            other,
            ..LinkEvents::here()?
        };
        let on: libc::c_int = 1;
        // SAFETY: the value is an int, of the length given.
        let set = unsafe {
            libc::setsockopt(
                events.socket.as_raw_fd(),
                libc::SOL_NETLINK,
                libc::NETLINK_LISTEN_ALL_NSID,
                (&raw const on).cast(),
                size_of_val(&on) as libc::socklen_t,
            )
        };
        match set {
            0 => Ok(events),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Tests whether the other network namespace has ended.
    pub fn is_other_gone(&self) -> bool {
        let known = self.other.map(|number| ask_number(NETNSA_NSID, number));
        matches!(known, Some(Err(error)) if error.raw_os_error() == Some(libc::ENOENT))
    }

    /// Reads all messages. Their contents are not used, since messages may be lost.
    pub fn drain(&self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        loop {
            match recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
                // With ENOBUFS, more happened than there was room for.
                Ok(_) | Err(nix::Error::ENOBUFS | nix::Error::EINTR) => {}
                Err(nix::Error::EAGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for LinkEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

const NETNSA_NSID: u16 = 1;
const NETNSA_FD: u16 = 3;

/// Gives another network namespace a number in this thread's, without which no events of it arrive.
fn number_namespace(namespace: BorrowedFd<'_>) -> io::Result<i32> {
    const RTM_NEWNSID: u16 = 88;
    const ANY: i32 = -1;
    // struct rtgenmsg
    let mut message = vec![0; 4];
    put_attribute(&mut message, NETNSA_NSID, &ANY.to_ne_bytes());
    put_attribute(
        &mut message,
        NETNSA_FD,
        &namespace.as_raw_fd().to_ne_bytes(),
    );
    match request(RTM_NEWNSID, 0, &message) {
        Err(error) if error.raw_os_error() != Some(libc::EEXIST) => Err(error),
        _ => ask_number(NETNSA_FD, namespace.as_raw_fd()),
    }
}

/// Returns the number by which this thread's network namespace knows another one, given by an attribute.
fn ask_number(attribute: u16, value: i32) -> io::Result<i32> {
    const RTM_GETNSID: u16 = 90;
    let mut message = vec![0; 4];
    put_attribute(&mut message, attribute, &value.to_ne_bytes());
    let answers = request(RTM_GETNSID, 0, &message)?;
    let found = answers.first().and_then(|answer| answer.get(4..));
    let number = found.and_then(|found| attributes(found).find(|(kind, _)| *kind == NETNSA_NSID));
    let number = number.and_then(|(_, number)| number.try_into().ok());
    number
        .map(i32::from_ne_bytes)
        .ok_or(io::ErrorKind::InvalidData.into())
}

/// Returns the cookie of this thread's network namespace: a number that no other one has or will have, unlike the
/// inode of its file.
pub fn netns_cookie() -> io::Result<u64> {
    let socket = route_socket(SockFlag::empty())?;
    let mut cookie = 0u64;
    let mut length = size_of_val(&cookie) as libc::socklen_t;
    // SAFETY: the value is eight bytes, as its length says.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut length,
        )
    };
    match got {
        0 => Ok(cookie),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netns::NetNs;
    use crate::{link, veth};
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    fn happens(events: &LinkEvents) -> bool {
        let mut at = [PollFd::new(events.as_fd(), PollFlags::POLLIN)];
        poll(&mut at, PollTimeout::from(2000u16)).expect("polls") > 0
    }

    #[test]
    fn another_namespace_is_heard_of_until_it_is_gone_and_not_kept() {
        let ours = NetNs::new().expect("this test needs root");
        let events = ours
            .run(|| {
                let other = NetNs::new()?;
                let events = LinkEvents::of(other.as_fd())?;
                other.run(|| veth::make_pairs(&[("one".into(), "two".into())]))?;
                assert!(happens(&events), "interfaces were made");
                events.drain()?;
                other.run(|| link::remove("one"))?;
                assert!(happens(&events), "interfaces were deleted");
                assert!(!events.is_other_gone());
                std::thread::sleep(std::time::Duration::from_millis(50));
                events.drain()?;
                Ok(events)
            })
            .expect("runs");
        assert!(
            happens(&events),
            "the namespace is gone with its last descriptor"
        );
        let is_gone = ours.run(|| Ok(events.is_other_gone()));
        assert!(is_gone.expect("asks"));
    }

    #[test]
    fn a_namespace_has_a_cookie_of_its_own() {
        let [one, other] = [(); 2].map(|()| NetNs::new().expect("this test needs root"));
        let [one_cookie, other_cookie] =
            [&one, &other].map(|ns| ns.run(netns_cookie).expect("reads"));
        assert_ne!(one_cookie, other_cookie);
        assert_eq!(one.run(netns_cookie).expect("reads"), one_cookie);
    }
}
