//! Capturing packets through a ring of blocks that the kernel fills and this process reads without copies
//! (`TPACKET_V3`, described in the kernel's `Documentation/networking/packet_mmap.rst`).

use crate::raw_socket::{ADDRESSES, every_packet_of, option};
use crate::{errors::capture, interface};
use diag::Diagnostic;
use host::caps;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, bind, getsockopt, setsockopt, socket, sockopt,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Size of a block in bytes: more than the largest packet that a stack hands over in one piece.
const BLOCK: usize = 512 << 10;
/// Milliseconds after which a block is handed over that is not full.
const TIMEOUT: u32 = 10;

/// Socket with its ring.
#[derive(Debug)]
pub struct PacketRing {
    fd: OwnedFd,
    at: NonNull<u8>,
    blocks: usize,
    /// Number of the block that is filled next.
    next: usize,
    /// Number of packets dropped so far.
    dropped: u64,
    /// Buffer for a packet with the VLAN tag that the kernel took out of it.
    tagged: Vec<u8>,
}

// SAFETY: the mapping is this value's alone, whichever thread has it.
unsafe impl Send for PacketRing {}

/// A packet in the ring.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// Bytes from the link layer on, with the VLAN tag that the kernel removed.
    pub bytes: &'a [u8],
    /// Length of the packet, which is that of the bytes unless the packet was too long for the ring.
    pub length: u32,
    /// Time of its arrival, since 1970.
    pub time: Duration,
}

impl PacketRing {
    /// Captures packets that come in and go out at a device of this thread's namespace, into a ring of so many blocks
    /// of 512 KB. At loopback it captures only those that come in, which are the same. Fails if packets have no
    /// Ethernet header.
    pub fn open(device: &str, blocks: usize) -> Result<PacketRing, Box<Diagnostic>> {
        let index = interface::index(device)?;
        let failed = |error: io::Error| capture::not_opened(device, &error);
        let link = interface::link_type(index).map_err(failed)?;
        if !link.is_ethernet() {
            return Err(capture::no_ethernet(device, link.0));
        }
        // No protocol until it is bound: it must not see packets of other devices.
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let fd =
            socket(AddressFamily::Packet, SockType::Raw, flags, None).map_err(|e| match e {
                Errno::EPERM => capture::not_permitted(device, &caps::missing(&caps::CAPTURE)),
                other => failed(other.into()),
            })?;
        ring(fd, device, index, blocks).map_err(failed)
    }

    /// Returns a descriptor that is readable when there are packets, or when the device went down or is gone.
    pub fn ready(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Hands over the packets of the blocks that the kernel is done with, and gives the blocks back. Returns the
    /// number of packets.
    pub fn take(&mut self, mut each: impl FnMut(Captured)) -> usize {
        let mut taken = 0;
        // One ring at most: packets that come meanwhile must not keep the caller here.
        for _ in 0..self.blocks {
            // SAFETY: the block is in the mapping, which is aligned to pages.
            let block = unsafe { self.at.as_ptr().add(self.next * BLOCK) };
            // SAFETY: a block begins with a descriptor; its status is aligned, and shared with the kernel.
            let (header, status) = unsafe {
                let header = block.cast::<libc::tpacket_block_desc>();
                let header = &raw mut (*header).hdr.bh1;
                (header, AtomicU32::from_ptr(&raw mut (*header).block_status))
            };
            if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                break;
            }
            // SAFETY: until the status is reset the block is this process's.
            let (number, first) = unsafe { ((*header).num_pkts, (*header).offset_to_first_pkt) };
            let mut offset = first as usize;
            for _ in 0..number {
                // SAFETY: the kernel wrote so many packets, each with the offset of the next one.
                offset += unsafe { self.packet(block.add(offset), &mut each) };
            }
            taken += number as usize;
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.blocks;
        }
        taken
    }

    /// Hands over a packet, and returns the distance to the next one.
    ///
    /// # Safety
    ///
    /// The kernel wrote a packet there, and this process has the block.
    unsafe fn packet(&mut self, at: *const u8, each: &mut impl FnMut(Captured)) -> usize {
        // SAFETY: the caller's promise; packets are aligned to 16 bytes.
        let header = unsafe { &*at.cast::<libc::tpacket3_hdr>() };
        // SAFETY: the same: the bytes follow at this offset.
        let bytes = unsafe {
            std::slice::from_raw_parts(
                at.add(usize::from(header.tp_mac)),
                header.tp_snaplen as usize,
            )
        };
        let time = Duration::new(header.tp_sec.into(), header.tp_nsec);
        match tag(header).filter(|_| bytes.len() >= ADDRESSES) {
            None => each(Captured {
                bytes,
                length: header.tp_len,
                time,
            }),
            Some(tag) => {
                self.tagged.clear();
                self.tagged.extend_from_slice(&bytes[..ADDRESSES]);
                self.tagged.extend_from_slice(&tag);
                self.tagged.extend_from_slice(&bytes[ADDRESSES..]);
                each(Captured {
                    bytes: &self.tagged,
                    length: header.tp_len + tag.len() as u32,
                    time,
                });
            }
        }
        header.tp_next_offset as usize
    }

    /// Returns the number of packets dropped so far because the ring was full.
    pub fn dropped(&mut self) -> io::Result<u64> {
        // Reading resets what the kernel counts.
        let now = getsockopt(&self.fd, option::RingStatistics)?;
        self.dropped += u64::from(now.tp_drops);
        Ok(self.dropped)
    }

    /// Takes the pending error of the socket: the reason why no packets come at the moment, such as a device that went
    /// down or is gone. The socket is ready because of it.
    pub fn take_failure(&self) -> Option<io::Error> {
        match getsockopt(&self.fd, sockopt::SocketError) {
            Ok(0) => None,
            Ok(error) => Some(io::Error::from_raw_os_error(error)),
            Err(error) => Some(error.into()),
        }
    }
}

/// Gives a socket its ring, and binds it.
fn ring(fd: OwnedFd, device: &str, index: u32, blocks: usize) -> io::Result<PacketRing> {
    setsockopt(
        &fd,
        option::Version,
        &(libc::tpacket_versions::TPACKET_V3 as i32),
    )?;
    if interface::is_loopback(device) {
        setsockopt(&fd, option::IgnoreOutgoing, &true)?;
    }
    // Packets take as much of a block as they need; the size of a frame only has to divide that of a block.
    let frame = 2048;
    let request = libc::tpacket_req3 {
        tp_block_size: BLOCK as u32,
        tp_block_nr: blocks as u32,
        tp_frame_size: frame,
        tp_frame_nr: (blocks * BLOCK) as u32 / frame,
        tp_retire_blk_tov: TIMEOUT,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    setsockopt(&fd, option::RxRing, &request)?;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let at = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            blocks * BLOCK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            fd.as_raw_fd(),
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
    let ring = PacketRing {
        fd,
        at,
        blocks,
        next: 0,
        dropped: 0,
        tagged: Vec::new(),
    };
    bind(ring.fd.as_raw_fd(), &every_packet_of(index)?)?;
    Ok(ring)
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and nothing refers to it any more.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.blocks * BLOCK) };
    }
}

/// Returns the outer VLAN tag, which the kernel takes out of a packet and reports beside it.
fn tag(header: &libc::tpacket3_hdr) -> Option<[u8; 4]> {
    if header.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let protocol = match header.tp_status & libc::TP_STATUS_VLAN_TPID_VALID {
        0 => 0x8100,
        _ => header.hv1.tp_vlan_tpid,
    };
    let [p, t] = [protocol, header.hv1.tp_vlan_tci as u16].map(u16::to_be_bytes);
    Some([p[0], p[1], t[0], t[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netns::NetNs;
    use crate::raw_socket::RawSocket;
    use crate::veth;
    use std::time::Instant;

    /// Receives so many packets, and waits for them.
    fn receive(ring: &mut PacketRing, number: usize) -> Vec<(Vec<u8>, u32, Duration)> {
        let begun = Instant::now();
        let mut packets = Vec::new();
        while packets.len() < number && begun.elapsed() < Duration::from_secs(10) {
            ring.take(|packet| packets.push((packet.bytes.to_vec(), packet.length, packet.time)));
            std::thread::sleep(Duration::from_millis(1));
        }
        packets
    }

    #[test]
    fn both_directions_are_captured_complete_with_tag_and_time() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            veth::make_pairs(&[("one".into(), "two".into())])?;
            let mut ring = PacketRing::open("two", 2).expect("a ring");
            let (one, two) = (RawSocket::open("one")?, RawSocket::open("two")?);
            let mut plain = vec![2; 12];
            plain.extend([0x88, 0xb5, 1, 2, 3]);
            let mut tagged = vec![2; 12];
            tagged.extend([0x88, 0xa8, 0x30, 7, 0x88, 0xb5, 1, 2, 3]);
            one.send(&plain)?;
            one.send(&tagged)?;
            two.send(&plain)?;
            let got = receive(&mut ring, 3);
            for (got, sent) in got.iter().zip([&plain, &tagged, &plain]) {
                assert_eq!(&got.0, sent);
                assert_eq!(got.1 as usize, sent.len());
                assert!(got.2.as_secs() > 1_600_000_000, "{:?}", got.2);
            }
            assert_eq!(got.len(), 3);
            assert_eq!(ring.dropped()?, 0);
            Ok(())
        })
        .expect("runs");
    }

    #[test]
    fn what_a_full_ring_drops_is_counted_and_the_ring_goes_on() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            veth::make_pairs(&[("one".into(), "two".into())])?;
            let mut ring = PacketRing::open("two", 2).expect("a ring");
            let one = RawSocket::open("one")?;
            const SENT: usize = 1200;
            for number in 0..SENT {
                let mut packet = vec![2; 1400];
                packet[20..28].copy_from_slice(&number.to_be_bytes());
                one.send(&packet)?;
            }
            host::linux::wait_for_softirqs();
            let first = receive(&mut ring, SENT / 2);
            assert!(first.len() < SENT);
            for (number, packet) in first.iter().enumerate() {
                assert_eq!(packet.0[20..28], number.to_be_bytes());
            }
            let dropped = ring.dropped()? as usize;
            assert_eq!(first.len() + dropped, SENT);
            assert_eq!(ring.dropped()? as usize, dropped, "it is a total");
            one.send(&[3; 60])?;
            assert_eq!(receive(&mut ring, 1)[0].0, [3; 60]);
            Ok(())
        })
        .expect("runs");
    }

    #[test]
    fn a_device_that_goes_is_a_failure() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            veth::make_pairs(&[("one".into(), "two".into())])?;
            let ring = PacketRing::open("two", 2).expect("a ring");
            assert!(ring.take_failure().is_none());
            crate::link::remove("two")?;
            assert_eq!(
                ring.take_failure().map(|e| e.raw_os_error()),
                Some(Some(libc::ENETDOWN))
            );
            Ok(())
        })
        .expect("runs");
    }
}
