//! Pairs of virtual Ethernet devices, and raw sockets on them.

use nix::net::if_::if_nametoindex;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Command, Stdio};

/// The largest packet that native XDP on these devices takes is a little above this.
pub const MTU: u32 = 3400;

/// Makes pairs of devices in this thread's namespace, up and silent: no addresses of their own, no
/// ARP, no merging of packets.
pub fn make_pairs(names: &[(String, String)]) -> io::Result<()> {
    let mut batch = String::new();
    for (a, b) in names {
        batch += &format!("link add {a} mtu {MTU} type veth peer name {b} mtu {MTU}\n");
        for end in [a, b] {
            batch += &format!("link set dev {end} addrgenmode none\n");
            batch += &format!("link set dev {end} arp off up\n");
        }
    }
    ip_batch(&batch)?;
    for end in names.iter().flat_map(|(a, b)| [a, b]) {
        merge_packets(end, false)?;
    }
    Ok(())
}

/// Runs commands of `ip`, one a line, in this thread's namespace. The first that fails ends it.
pub fn ip_batch(commands: &str) -> io::Result<()> {
    let mut child = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| io::Error::other(format!("`ip` (package iproute2) could not be run: {e}")))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(commands.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(said.trim().replace('\n', "; ")))
}

/// Switches generic receive offload of a device.
fn merge_packets(device: &str, on: bool) -> io::Result<()> {
    const ETHTOOL_SGRO: u32 = 0x2c;
    #[repr(C)]
    struct EthtoolValue {
        command: u32,
        data: u32,
    }
    let socket = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut value = EthtoolValue {
        command: ETHTOOL_SGRO,
        data: on.into(),
    };
    // SAFETY: an all-zero request is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request
        .ifr_name
        .iter_mut()
        .take(libc::IFNAMSIZ - 1)
        .zip(device.bytes())
    {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the request and the value behind it outlive the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &request) })
}

fn socket(domain: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) };
    check(fd)?;
    // SAFETY: just made, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn check(code: i32) -> io::Result<()> {
    if code < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// A packet and when it came.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Received {
    /// Seconds and nanoseconds of the system's clock.
    pub time: (i64, i64),
    /// From the link layer on, a VLAN tag that the kernel took off put back.
    pub bytes: Vec<u8>,
}

/// A raw socket on one device, which gets all packets that come in there.
#[derive(Debug)]
pub struct RawSocket {
    fd: OwnedFd,
}

impl RawSocket {
    /// Opens one in this thread's namespace.
    pub fn open(device: &str) -> io::Result<RawSocket> {
        const PACKET_IGNORE_OUTGOING: i32 = 23;
        let index = if_nametoindex(device)?;
        // No protocol until it is bound: it must not see packets of other devices.
        let raw = RawSocket {
            fd: socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0)?,
        };
        raw.enable(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING)?;
        raw.enable(libc::SOL_PACKET, libc::PACKET_AUXDATA)?;
        raw.enable(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)?;
        // SAFETY: an all-zero address is valid.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index as i32;
        // SAFETY: the address outlives the call and has the length given.
        check(unsafe {
            libc::bind(
                raw.fd.as_raw_fd(),
                (&raw const address).cast(),
                size_of_val(&address) as u32,
            )
        })?;
        Ok(raw)
    }

    fn enable(&self, level: i32, option: i32) -> io::Result<()> {
        let on: libc::c_int = 1;
        // SAFETY: the option's value is an int.
        check(unsafe {
            libc::setsockopt(
                self.fd.as_raw_fd(),
                level,
                option,
                (&raw const on).cast(),
                size_of_val(&on) as u32,
            )
        })
    }

    /// Makes room for this many bytes of packets that wait, past the limit for unprivileged users.
    pub fn set_room(&self, bytes: i32) -> io::Result<()> {
        // SAFETY: the option's value is an int.
        check(unsafe {
            libc::setsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVBUFFORCE,
                (&raw const bytes).cast(),
                size_of_val(&bytes) as u32,
            )
        })
    }

    /// Packets that found no room since the last call.
    pub fn overflowed(&self) -> io::Result<u32> {
        // `struct tpacket_stats`: seen, dropped.
        let mut counts = [0u32; 2];
        let mut length = size_of_val(&counts) as libc::socklen_t;
        // SAFETY: the option's value is two numbers, and the length says so.
        check(unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                counts.as_mut_ptr().cast(),
                &mut length,
            )
        })?;
        Ok(counts[1])
    }

    /// Sends a packet of at least 14 bytes out of the device.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        // SAFETY: the packet has the length given.
        let sent =
            unsafe { libc::send(self.fd.as_raw_fd(), packet.as_ptr().cast(), packet.len(), 0) };
        if sent < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Waits until a packet is there, `milliseconds` at most.
    pub fn wait(&self, milliseconds: i32) -> io::Result<bool> {
        let mut poll = libc::pollfd {
            fd: self.fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one descriptor.
        let ready = unsafe { libc::poll(&mut poll, 1, milliseconds) };
        check(ready)?;
        Ok(ready > 0)
    }

    /// The next packet that came in, if one is there.
    pub fn receive(&self) -> io::Result<Option<Received>> {
        let mut bytes = vec![0u8; 1 << 16];
        let mut control = [0u64; 32];
        let mut part = libc::iovec {
            iov_base: bytes.as_mut_ptr().cast(),
            iov_len: bytes.len(),
        };
        // SAFETY: an all-zero header is valid.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control) as _;
        // SAFETY: the header's buffers outlive the call and have the lengths given.
        let length = unsafe { libc::recvmsg(self.fd.as_raw_fd(), &mut header, 0) };
        if length < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock => Ok(None),
                _ => Err(error),
            };
        }
        bytes.truncate(length as usize);
        let mut time = (0, 0);
        // SAFETY: walks the control messages that the kernel wrote into our buffer.
        unsafe {
            let mut message = libc::CMSG_FIRSTHDR(&header);
            while !message.is_null() {
                let data = libc::CMSG_DATA(message);
                match ((*message).cmsg_level, (*message).cmsg_type) {
                    (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                        let spec = data.cast::<libc::timespec>().read_unaligned();
                        time = (spec.tv_sec, spec.tv_nsec);
                    }
                    (libc::SOL_PACKET, libc::PACKET_AUXDATA) => {
                        put_tag_back(&mut bytes, &data.cast::<AuxData>().read_unaligned());
                    }
                    _ => {}
                }
                message = libc::CMSG_NXTHDR(&header, message);
            }
        }
        Ok(Some(Received { time, bytes }))
    }
}

/// `struct tpacket_auxdata`
#[repr(C)]
#[derive(Clone, Copy)]
struct AuxData {
    status: u32,
    length: u32,
    captured: u32,
    link: u16,
    network: u16,
    vlan_tag: u16,
    vlan_protocol: u16,
}

/// The kernel takes the outer VLAN tag out of a packet before sockets see it.
fn put_tag_back(bytes: &mut Vec<u8>, aux: &AuxData) {
    const VLAN_VALID: u32 = 1 << 4;
    const VLAN_PROTOCOL_VALID: u32 = 1 << 6;
    const ADDRESSES: usize = 12;
    if aux.status & VLAN_VALID == 0 || bytes.len() < ADDRESSES {
        return;
    }
    let protocol = if aux.status & VLAN_PROTOCOL_VALID != 0 {
        aux.vlan_protocol
    } else {
        0x8100
    };
    let mut tag = [0; 4];
    tag[..2].copy_from_slice(&protocol.to_be_bytes());
    tag[2..].copy_from_slice(&aux.vlan_tag.to_be_bytes());
    bytes.splice(ADDRESSES..ADDRESSES, tag);
}
