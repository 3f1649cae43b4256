//! Work on packets that an interface leaves to its device, or defers, by the ethtool ioctl.

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::AsRawFd;

/// Work that is left to a device, or deferred until packets reach it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offload {
    /// Transport checksums of packets that go out.
    TxChecksum,
    /// TCP's segmentation, by the device.
    Tso,
    /// Segmentation as late as possible, by software.
    Gso,
    /// Merging of packets that come in.
    Gro,
    /// VLAN tags of packets that go out: they are kept beside the packets until the device inserts them.
    TxTags,
    /// VLAN tags of packets that come in: the device takes them out, and they are kept beside the packets.
    RxTags,
}

/// The kernel's commands that get and set an offload.
enum Command {
    /// Commands of its own, `ETHTOOL_G…` and `ETHTOOL_S…`.
    Own(u32, u32),
    /// Bit of the flags that one command gets and sets together, `ETH_FLAG_…`.
    Flag(u32),
}

const GET_FLAGS: u32 = 0x25;
const SET_FLAGS: u32 = 0x26;

impl Offload {
    fn command(self) -> Command {
        match self {
            Offload::TxChecksum => Command::Own(0x16, 0x17),
            Offload::Tso => Command::Own(0x1e, 0x1f),
            Offload::Gso => Command::Own(0x23, 0x24),
            Offload::Gro => Command::Own(0x2b, 0x2c),
            Offload::TxTags => Command::Flag(1 << 7),
            Offload::RxTags => Command::Flag(1 << 8),
        }
    }
}

/// Offloads of an interface: those that are on, or are to be switched. `None` is not known, or left as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Offloads {
    /// See [`Offload::TxChecksum`].
    pub tx_checksum: Option<bool>,
    /// See [`Offload::Gro`].
    pub gro: Option<bool>,
    /// See [`Offload::TxTags`].
    pub tx_tags: Option<bool>,
    /// See [`Offload::RxTags`].
    pub rx_tags: Option<bool>,
}

impl Offloads {
    /// Reads the offloads of an interface of this thread's namespace.
    pub fn of(device: &str) -> Offloads {
        let on = |offload| is_on(device, offload).ok();
        Offloads {
            tx_checksum: on(Offload::TxChecksum),
            gro: on(Offload::Gro),
            tx_tags: on(Offload::TxTags),
            rx_tags: on(Offload::RxTags),
        }
    }

    /// Iterates over the known offloads, each with its name for `ethtool -K`.
    pub fn each(self) -> impl Iterator<Item = (Offload, &'static str, bool)> {
        let all = [
            (Offload::TxChecksum, "tx", self.tx_checksum),
            (Offload::Gro, "gro", self.gro),
            (Offload::TxTags, "txvlan", self.tx_tags),
            (Offload::RxTags, "rxvlan", self.rx_tags),
        ];
        all.into_iter()
            .filter_map(|(offload, name, on)| Some((offload, name, on?)))
    }

    /// Returns these offloads, and others where these have none.
    pub fn or(self, others: Offloads) -> Offloads {
        self.zip(others, Option::or)
    }

    /// Combines each of these and of others by a function.
    pub(crate) fn zip(
        self,
        other: Offloads,
        each: impl Fn(Option<bool>, Option<bool>) -> Option<bool>,
    ) -> Offloads {
        Offloads {
            tx_checksum: each(self.tx_checksum, other.tx_checksum),
            gro: each(self.gro, other.gro),
            tx_tags: each(self.tx_tags, other.tx_tags),
            rx_tags: each(self.rx_tags, other.rx_tags),
        }
    }
}

/// Returns true if an offload of an interface of this thread's namespace is on.
pub fn is_on(device: &str, offload: Offload) -> io::Result<bool> {
    Ok(match offload.command() {
        Command::Own(get, _) => command(device, get, 0)? != 0,
        Command::Flag(flag) => command(device, GET_FLAGS, 0)? & flag != 0,
    })
}

/// Switches an offload of an interface of this thread's namespace.
pub fn set(device: &str, offload: Offload, on: bool) -> io::Result<()> {
    match offload.command() {
        Command::Own(_, set) => command(device, set, on.into()),
        Command::Flag(flag) => {
            let flags = command(device, GET_FLAGS, 0)?;
            let flags = if on { flags | flag } else { flags & !flag };
            command(device, SET_FLAGS, flags)
        }
    }
    .map(|_| ())
}

/// Executes a command with a value, and returns the value afterwards.
fn command(device: &str, command: u32, data: u32) -> io::Result<u32> {
    /// `struct ethtool_value`
    #[repr(C)]
    struct Value {
        command: u32,
        data: u32,
    }
    let mut value = Value { command, data };
    // SAFETY: these commands write no more than the value.
    unsafe { ethtool(device, &mut value) }?;
    Ok(value.data)
}

/// Executes the ethtool ioctl with this data.
///
/// # Safety
///
/// The data begins with a command that writes no more than the data.
pub unsafe fn ethtool<T>(device: &str, data: &mut T) -> io::Result<()> {
    // Any socket will do, so it is one of the family that a service needs anyway.
    let socket = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    // SAFETY: an all-zero request is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if device.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = std::ptr::from_mut(data).cast();
    // SAFETY: the request and the data behind it outlive the call, and the caller vouches for the command.
    let code = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &request) };
    nix::errno::Errno::result(code)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{self, End};
    use crate::netns::NetNs;

    #[test]
    fn offloads_are_switched_each_by_itself() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            link::add_veth(End::here("one"), End::here("two"))?;
            let all = [
                Offload::TxChecksum,
                Offload::Tso,
                Offload::Gso,
                Offload::Gro,
            ];
            for offload in all {
                set("one", offload, true)?;
            }
            // Segmentation by the device ends with checksums by the device.
            for (at, offload) in [
                Offload::Gro,
                Offload::Tso,
                Offload::TxChecksum,
                Offload::Gso,
            ]
            .into_iter()
            .enumerate()
            {
                set("one", offload, false)?;
                let on = all
                    .map(|o| is_on("one", o))
                    .into_iter()
                    .collect::<io::Result<Vec<_>>>()?;
                assert_eq!(
                    on.iter().filter(|on| **on).count(),
                    3 - at,
                    "{offload:?}: {on:?}"
                );
                assert!(!is_on("one", offload)?);
                assert!(is_on("two", offload)? || offload == Offload::Gro);
            }
            for (offload, other) in [
                (Offload::TxTags, Offload::RxTags),
                (Offload::RxTags, Offload::TxTags),
            ] {
                set("one", offload, false)?;
                assert!(
                    !is_on("one", offload)? && is_on("one", other)?,
                    "{offload:?}"
                );
                set("one", offload, true)?;
                assert!(is_on("one", offload)?);
            }
            let gone = set("none", Offload::Gro, true).expect_err("no such device");
            assert_eq!(gone.raw_os_error(), Some(libc::ENODEV));
            let long = set("a-name-that-is-too-long", Offload::Gro, true).expect_err("no name");
            assert_eq!(long.kind(), io::ErrorKind::InvalidInput);
            Ok(())
        })
        .expect("runs");
    }
}
