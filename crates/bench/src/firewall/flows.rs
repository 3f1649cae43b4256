//! A client of many flows in one thread: opens all connections, then sends a request on each, and waits for the answers.

use super::messages::Kind;
use super::poll::{Poll, raise_descriptors};
use lab::{Route, Space};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use super::network::Network;

/// A request and the address that takes it.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) kind: Kind,
    pub(super) to: Ipv4Addr,
    pub(super) bytes: Vec<u8>,
}

/// Ends of flows.
#[derive(Clone, Default, Debug)]
pub(super) struct Outcome {
    /// Microseconds from a request to the first byte of its answer.
    pub(super) answered: Vec<f64>,
    /// Flows that were reset or closed without an answer.
    pub(super) ended: usize,
    /// Flows without an answer in time, or without a connection.
    pub(super) silent: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Connecting,
    Connected,
    Sent(Instant),
}

struct Flow {
    stream: TcpStream,
    state: State,
    request: usize,
}

/// Returns the largest number of flows: each takes a descriptor here and one of the server, which is in this process.
pub(super) fn most() -> io::Result<usize> {
    const OTHERS: u64 = 1_000;
    Ok((raise_descriptors()?.saturating_sub(OTHERS) / 2) as usize)
}

/// Runs all requests at once: connections of TCP first, all of them, then the requests. `patience` is the longest time for
/// either.
pub(super) fn run(
    network: &Network,
    requests: &[Request],
    patience: Duration,
) -> io::Result<Outcome> {
    match requests.first().map(|request| request.kind) {
        Some(Kind::Dns) => datagrams(network.client(), requests, patience),
        _ => streams(network.client(), requests, patience),
    }
}

fn streams(space: &Space, requests: &[Request], patience: Duration) -> io::Result<Outcome> {
    raise_descriptors()?;
    let poll = Poll::new()?;
    let mut flows = HashMap::new();
    let mut outcome = Outcome::default();
    let mut connecting = requests.len();
    space.run(|| {
        for (number, request) in requests.iter().enumerate() {
            let stream = begin(SocketAddrV4::new(request.to, request.kind.port()))?;
            poll.add_both(&stream)?;
            let flow = Flow {
                stream,
                state: State::Connecting,
                request: number,
            };
            flows.insert(flow.stream.as_raw_fd() as u64, flow);
        }
        Ok(())
    })?;
    let until = Instant::now() + patience;
    while connecting > 0 && Instant::now() < until {
        for fd in poll.wait(Duration::from_millis(20))? {
            let Some(flow) = flows.get_mut(&fd).filter(|f| f.state == State::Connecting) else {
                continue;
            };
            connecting -= 1;
            match flow.stream.take_error() {
                Ok(None) => flow.state = State::Connected,
                _ => {
                    flows.remove(&fd);
                    outcome.ended += 1;
                }
            }
        }
    }
    for flow in flows.values_mut() {
        if flow.state == State::Connected {
            // A short request fits into the socket's buffer.
            let sent = Instant::now();
            if flow.stream.write_all(&requests[flow.request].bytes).is_ok() {
                flow.state = State::Sent(sent);
            }
        }
    }
    let until = Instant::now() + patience;
    let mut waiting = flows.len() - connecting;
    while waiting > 0 && Instant::now() < until {
        for fd in poll.wait(Duration::from_millis(20))? {
            let Some(flow) = flows.get_mut(&fd) else {
                continue;
            };
            let State::Sent(sent) = flow.state else {
                continue;
            };
            let mut answer = [0; 512];
            match flow.stream.read(&mut answer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Ok(count) if is_of_server(&answer[..count]) => {
                    outcome.answered.push(sent.elapsed().as_secs_f64() * 1e6);
                }
                _ => outcome.ended += 1,
            }
            flows.remove(&fd);
            waiting -= 1;
        }
    }
    outcome.silent = flows.len();
    Ok(outcome)
}

/// Returns true for an answer of the server. A proxy that blocks a request may answer with a page of its own.
fn is_of_server(answer: &[u8]) -> bool {
    const ALERT: u8 = 21;
    answer.first() == Some(&ALERT) || answer.starts_with(b"HTTP/1.1 200")
}

/// Begins to connect. Closing the stream resets the connection, so that no port waits for its end.
fn begin(to: SocketAddrV4) -> io::Result<TcpStream> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    let at_once = nix::libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    setsockopt(&fd, sockopt::Linger, &at_once)?;
    match connect(fd.as_raw_fd(), &SockaddrIn::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(TcpStream::from(fd)),
        Err(error) => Err(error.into()),
    }
}

/// Sends queries one after the other, each from a port of its own.
fn datagrams(space: &Space, requests: &[Request], patience: Duration) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    for request in requests {
        let socket = space.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
        socket.connect((request.to, request.kind.port()))?;
        socket.set_read_timeout(Some(patience))?;
        let mut answer = [0; 2048];
        let sent = Instant::now();
        socket.send(&request.bytes)?;
        match socket.recv(&mut answer) {
            // An answer with an address, and that is not a made-up one.
            Ok(count) if answer[7] > 0 && answer[..count].ends_with(&[192, 0, 2, 1]) => {
                outcome.answered.push(sent.elapsed().as_secs_f64() * 1e6);
            }
            Ok(_) => outcome.ended += 1,
            Err(_) => outcome.silent += 1,
        }
    }
    Ok(outcome)
}
