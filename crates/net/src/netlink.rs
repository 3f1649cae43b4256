//! Questions to the kernel's routing netlink: a request, its answers, and their attributes.

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Largest number of bytes that one read may return: the kernel splits longer answers.
const BUFFER: usize = 64 << 10;
const HEADER: usize = 16;
/// Alignment of attributes, in bytes.
const ALIGN: usize = 4;
/// Flag in the kinds of attributes that hold attributes.
const NESTED: u16 = 0x8000;

/// Opens a socket for links, addresses and routes of this thread's network namespace.
pub(super) fn route_socket(flags: SockFlag) -> io::Result<OwnedFd> {
    let flags = flags | SockFlag::SOCK_CLOEXEC;
    let protocol = SockProtocol::NetlinkRoute;
    Ok(socket(
        AddressFamily::Netlink,
        SockType::Raw,
        flags,
        protocol,
    )?)
}

/// Sends one request and returns the payloads of all answers. `kind` is an `RTM_*`, `flags` are `NLM_F_*` beside those
/// of every request.
pub fn request(kind: u16, flags: i32, payload: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let socket = route_socket(SockFlag::empty())?;
    let flags = flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK;
    let question = message(kind, flags, payload);
    send(socket.as_raw_fd(), &question, MsgFlags::empty())?;
    let mut answers = Vec::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        let length = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
        if read_answers(&buffer[..length], &mut answers)? {
            return Ok(answers);
        }
    }
}

/// Makes a message whose header (`struct nlmsghdr`) has no number and names no sender, since each socket sends one
/// request.
fn message(kind: u16, flags: i32, payload: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER + payload.len());
    message.extend(((HEADER + payload.len()) as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((flags as u16).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(payload);
    message
}

/// Adds the answers in `bytes`; returns true if the last was among them.
fn read_answers(mut bytes: &[u8], answers: &mut Vec<Vec<u8>>) -> io::Result<bool> {
    while bytes.len() >= HEADER {
        let length = u32_at(bytes, 0).unwrap_or(0) as usize;
        let kind = u16_at(bytes, 4).unwrap_or(0);
        let Some(payload) = bytes.get(HEADER..length) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        match i32::from(kind) {
            libc::NLMSG_DONE => return Ok(true),
            libc::NLMSG_ERROR => {
                let code = u32_at(payload, 0).unwrap_or(0) as i32;
                return match code {
                    0 => Ok(true),
                    code => Err(io::Error::from_raw_os_error(-code)),
                };
            }
            _ => answers.push(payload.to_vec()),
        }
        bytes = bytes.get(length.next_multiple_of(ALIGN)..).unwrap_or(&[]);
    }
    Ok(false)
}

/// Iterates over the attributes in `bytes`, in order: kind and value.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)? & !NESTED;
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(ALIGN)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

/// Appends an attribute.
pub fn put_attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    to.extend(((4 + value.len()) as u16).to_ne_bytes());
    to.extend(kind.to_ne_bytes());
    to.extend(value);
    to.resize(to.len().next_multiple_of(ALIGN), 0);
}

/// Reads a 32-bit number in an answer, in the machine's byte order.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads a 16-bit number in an answer, in the machine's byte order.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_come_back_as_they_were_put() {
        let mut bytes = Vec::new();
        put_attribute(&mut bytes, 7, &[1, 2, 3]);
        put_attribute(&mut bytes, 9 | NESTED, &[4; 8]);
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!(found, [(7, &[1, 2, 3][..]), (9, &[4; 8][..])]);
        assert_eq!(attributes(&bytes[..6]).count(), 0, "cut off");
        assert_eq!(attributes(&[2, 0, 1, 0]).count(), 0, "shorter than itself");
    }

    #[test]
    fn the_kernel_answers_and_refuses() {
        let mut link = vec![0; 16];
        link[4] = 1;
        let lo = request(libc::RTM_GETLINK, 0, &link).expect("the loopback device");
        assert_eq!(lo.len(), 1);
        link[4..8].copy_from_slice(&0x7fff_fff0_u32.to_ne_bytes());
        let gone = request(libc::RTM_GETLINK, 0, &link).expect_err("no such device");
        assert_eq!(gone.raw_os_error(), Some(libc::ENODEV));
        let all = request(libc::RTM_GETLINK, libc::NLM_F_DUMP, &[0; 16]).expect("all devices");
        assert!(!all.is_empty());
    }
}
