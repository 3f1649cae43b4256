//! Raw packet sockets: every packet that comes in at a device, and packets sent out of it.

use crate::netlink::{u16_at, u32_at};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockType, SockaddrLike, bind,
    getsockopt, recvmsg, send, setsockopt, socket, sockopt,
};
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// A packet with the time of its arrival.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Received {
    /// Seconds and nanoseconds of the system's clock.
    pub time: (i64, i64),
    /// Bytes from the link layer on, with the VLAN tag that the kernel removed.
    pub bytes: Vec<u8>,
}

/// Bound of a packet's length in bytes, unless the packet is still to be segmented.
const LONGEST: usize = (1 << 16) + 64;

/// Raw socket on one device, which gets all packets that come in there.
#[derive(Debug)]
pub struct RawSocket {
    fd: OwnedFd,
}

/// Options that `nix` does not have.
pub(crate) mod option {
    use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};

    sockopt_impl!(
        IgnoreOutgoing,
        SetOnly,
        libc::SOL_PACKET,
        libc::PACKET_IGNORE_OUTGOING,
        bool
    );
    sockopt_impl!(
        AuxData,
        SetOnly,
        libc::SOL_PACKET,
        libc::PACKET_AUXDATA,
        bool
    );
    sockopt_impl!(
        Statistics,
        GetOnly,
        libc::SOL_PACKET,
        libc::PACKET_STATISTICS,
        libc::tpacket_stats
    );
    sockopt_impl!(
        Version,
        SetOnly,
        libc::SOL_PACKET,
        libc::PACKET_VERSION,
        i32
    );
    sockopt_impl!(
        RxRing,
        SetOnly,
        libc::SOL_PACKET,
        libc::PACKET_RX_RING,
        libc::tpacket_req3
    );
    sockopt_impl!(
        RingStatistics,
        GetOnly,
        libc::SOL_PACKET,
        libc::PACKET_STATISTICS,
        libc::tpacket_stats_v3
    );
}

impl RawSocket {
    /// Opens a socket in this thread's namespace.
    pub fn open(device: &str) -> io::Result<RawSocket> {
        let index = if_nametoindex(device)?;
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        // No protocol until it is bound: it must not see packets of other devices.
        let fd = socket(AddressFamily::Packet, SockType::Raw, flags, None)?;
        setsockopt(&fd, option::IgnoreOutgoing, &true)?;
        setsockopt(&fd, option::AuxData, &true)?;
        setsockopt(&fd, sockopt::ReceiveTimestampns, &true)?;
        bind(fd.as_raw_fd(), &every_packet_of(index)?)?;
        Ok(RawSocket { fd })
    }

    /// Makes room for this many bytes of waiting packets, past the limit for unprivileged users.
    pub fn set_room(&self, bytes: usize) -> io::Result<()> {
        Ok(setsockopt(&self.fd, sockopt::RcvBufForce, &bytes)?)
    }

    /// Returns the number of packets dropped for lack of space since the last call.
    pub fn overflowed(&self) -> io::Result<u32> {
        Ok(getsockopt(&self.fd, option::Statistics)?.tp_drops)
    }

    /// Sends a packet of at least 14 bytes out of the device.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        send(self.fd.as_raw_fd(), packet, MsgFlags::empty())?;
        Ok(())
    }

    /// Waits until a packet is there, `milliseconds` at most. Returns true if one is.
    pub fn wait(&self, milliseconds: u16) -> io::Result<bool> {
        let mut wanted = [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN)];
        Ok(poll(&mut wanted, PollTimeout::from(milliseconds))? > 0)
    }

    /// Returns the next packet that came in, if one is there.
    pub fn receive(&self) -> io::Result<Option<Received>> {
        let mut bytes = vec![0u8; LONGEST];
        let mut control = nix::cmsg_space!(libc::timespec, [u8; AUX_DATA]);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let fd = self.fd.as_raw_fd();
        let message = match recvmsg::<()>(fd, &mut parts, Some(&mut control), MsgFlags::empty()) {
            Ok(message) => message,
            Err(Errno::EAGAIN) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let length = message.bytes;
        let mut time = (0, 0);
        let mut tag = None;
        for part in message.cmsgs()? {
            match part {
                ControlMessageOwned::ScmTimestampns(at) => time = (at.tv_sec(), at.tv_nsec()),
                ControlMessageOwned::Unknown(part) => tag = tag_beside(&part.data_bytes),
                _ => {}
            }
        }
        bytes.truncate(length);
        if let Some(tag) = tag.filter(|_| bytes.len() >= ADDRESSES) {
            bytes.splice(ADDRESSES..ADDRESSES, tag);
        }
        Ok(Some(Received { time, bytes }))
    }
}

/// Returns the address to bind to for every packet of a device.
pub(crate) fn every_packet_of(index: u32) -> io::Result<LinkAddr> {
    // SAFETY: an all-zero address is valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as i32;
    let length = size_of_val(&address) as u32;
    // SAFETY: it is an address of the type and length that it says.
    let address = unsafe { LinkAddr::from_raw((&raw const address).cast(), Some(length)) };
    address.ok_or(io::ErrorKind::InvalidInput.into())
}

/// Length of `struct tpacket_auxdata` in bytes.
const AUX_DATA: usize = 20;
/// Offset of a VLAN tag in bytes: after the two link addresses.
pub(crate) const ADDRESSES: usize = 12;

/// Returns the outer VLAN tag. The kernel takes it out of a packet before sockets see it, and reports it in a `struct
/// tpacket_auxdata`.
fn tag_beside(aux: &[u8]) -> Option<[u8; 4]> {
    const VLAN_VALID: u32 = 1 << 4;
    const VLAN_PROTOCOL_VALID: u32 = 1 << 6;
    let status = u32_at(aux, 0)?;
    if status & VLAN_VALID == 0 {
        return None;
    }
    let protocol = match status & VLAN_PROTOCOL_VALID {
        0 => 0x8100,
        _ => u16_at(aux, 18)?,
    };
    let [p, t] = [protocol, u16_at(aux, 16)?].map(u16::to_be_bytes);
    Some([p[0], p[1], t[0], t[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netns::NetNs;
    use crate::veth;

    #[test]
    fn packets_come_complete_with_their_time_and_tag_and_only_those_that_come_in() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            veth::make_pairs(&[("one".into(), "two".into())])?;
            let (one, two) = (RawSocket::open("one")?, RawSocket::open("two")?);
            let mut plain = vec![2; 12];
            plain.extend([0x88, 0xb5, 1, 2, 3]);
            let mut tagged = vec![2; 12];
            tagged.extend([0x88, 0xa8, 0x30, 7, 0x88, 0xb5, 1, 2, 3]);
            one.send(&plain)?;
            one.send(&tagged)?;
            for sent in [&plain, &tagged] {
                assert!(two.wait(5000)?);
                let got = two.receive()?.expect("a packet");
                assert_eq!(&got.bytes, sent);
                assert!(got.time.0 > 1_600_000_000, "{:?}", got.time);
            }
            assert!(two.receive()?.is_none());
            assert!(one.receive()?.is_none(), "what goes out is not received");
            assert!(!one.wait(0)?);
            Ok(())
        })
        .expect("runs");
    }

    #[test]
    fn dropped_packets_are_counted() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            veth::make_pairs(&[("one".into(), "two".into())])?;
            let (one, two) = (RawSocket::open("one")?, RawSocket::open("two")?);
            two.set_room(4096)?;
            assert_eq!(two.overflowed()?, 0);
            for _ in 0..64 {
                one.send(&[2; 1000])?;
            }
            host::linux::wait_for_softirqs();
            let mut got = 0;
            while two.receive()?.is_some() {
                got += 1;
            }
            assert!(got < 64);
            assert_eq!(two.overflowed()?, 64 - got);
            assert_eq!(two.overflowed()?, 0, "since the last call");
            Ok(())
        })
        .expect("runs");
    }
}
