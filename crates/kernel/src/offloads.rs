//! What an interface leaves to its device, or merges when it comes in, by the ethtool ioctl.

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::os::fd::AsRawFd;

/// Work that is left to a device, or put off until packets reach it.
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
}

impl Offload {
    /// `ETHTOOL_G…` and `ETHTOOL_S…`
    fn commands(self) -> (u32, u32) {
        match self {
            Offload::TxChecksum => (0x16, 0x17),
            Offload::Tso => (0x1e, 0x1f),
            Offload::Gso => (0x23, 0x24),
            Offload::Gro => (0x2b, 0x2c),
        }
    }
}

/// Whether an offload of an interface of this thread's namespace is on.
pub fn is_on(device: &str, offload: Offload) -> io::Result<bool> {
    let (get, _) = offload.commands();
    Ok(command(device, get, 0)? != 0)
}

/// Switches an offload of an interface of this thread's namespace.
pub fn set(device: &str, offload: Offload, on: bool) -> io::Result<()> {
    let (_, set) = offload.commands();
    command(device, set, on.into()).map(|_| ())
}

/// Gives a command a value, and its value afterwards.
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

/// Gives the ethtool ioctl its data.
///
/// # Safety
///
/// The data begins with a command that writes no more than the data.
pub(crate) unsafe fn ethtool<T>(device: &str, data: &mut T) -> io::Result<()> {
    // Any socket does, so one of the family that a service needs anyway.
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
            let gone = set("none", Offload::Gro, true).expect_err("no such device");
            assert_eq!(gone.raw_os_error(), Some(libc::ENODEV));
            let long = set("a-name-that-is-too-long", Offload::Gro, true).expect_err("no name");
            assert_eq!(long.kind(), io::ErrorKind::InvalidInput);
            Ok(())
        })
        .expect("runs");
    }
}
