//! UDP: requests with delayed replies, and one-way streams. The first 8 bytes of a datagram are its number, from 1.

use crate::space::Space;
use crate::worker::Worker;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrIn6, recvmsg, setsockopt, sockopt::ReceiveTimestampns,
};
use nix::sys::time::TimeSpec;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Interval at which a server checks for the request to stop.
const LOOK_UP: Duration = Duration::from_millis(20);

/// Opens a socket whose datagrams come with the time at which the kernel received them.
fn open(space: &Space, at: SocketAddr) -> io::Result<UdpSocket> {
    let socket = space.run(|| UdpSocket::bind(at))?;
    setsockopt(&socket, ReceiveTimestampns, &true)?;
    Ok(socket)
}

/// Receives the next datagram: its length, its sender, and the time at which it reached the kernel. Returns `None` on a
/// timeout of the socket.
fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
) -> io::Result<Option<(usize, SocketAddr, SystemTime)>> {
    let mut control = nix::cmsg_space!(TimeSpec);
    let mut parts = [IoSliceMut::new(buffer)];
    let message = match recvmsg::<SockaddrIn6>(
        socket.as_raw_fd(),
        &mut parts,
        Some(&mut control),
        MsgFlags::empty(),
    ) {
        Ok(message) => message,
        Err(nix::Error::EAGAIN | nix::Error::EINTR) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let time = message.cmsgs()?.find_map(|c| match c {
        ControlMessageOwned::ScmTimestampns(time) => {
            Some(SystemTime::UNIX_EPOCH + Duration::from(time))
        }
        _ => None,
    });
    let from = message.address.ok_or(io::ErrorKind::InvalidData)?;
    let time = time.unwrap_or_else(SystemTime::now);
    Ok(Some((
        message.bytes,
        std::net::SocketAddrV6::from(from).into(),
        time,
    )))
}

fn number(datagram: &[u8]) -> u64 {
    let first = datagram.first_chunk().copied().unwrap_or_default();
    u64::from_be_bytes(first)
}

/// Answers each datagram with the same bytes, after a delay.
#[derive(Debug)]
pub struct Server(Worker<Vec<Duration>>);

impl Server {
    /// Starts it; it works until it is dropped.
    pub fn start(space: &Space, at: SocketAddr, wait: Duration) -> io::Result<Server> {
        let socket = open(space, at)?;
        socket.set_read_timeout(Some(LOOK_UP))?;
        Ok(Server(Worker::start(move |stop| {
            let mut waits = Vec::new();
            let mut buffer = vec![0; 1 << 16];
            while !stop.load(Ordering::Relaxed) {
                let Some((length, from, came)) = receive(&socket, &mut buffer)? else {
                    continue;
                };
                pause(came, wait);
                waits.push(SystemTime::now().duration_since(came).unwrap_or_default());
                socket.send_to(&buffer[..length], from)?;
            }
            Ok(waits)
        })))
    }

    /// Stops it, and returns the time between arrival in the kernel and reply of each datagram.
    pub fn finish(self) -> io::Result<Vec<Duration>> {
        self.0.finish()
    }
}

/// Waits until `time` has passed since another time, to the microsecond.
fn pause(since: SystemTime, time: Duration) {
    const LATE: Duration = Duration::from_micros(200);
    let due = since + time;
    while let Ok(left) = due.duration_since(SystemTime::now()) {
        if left > LATE {
            thread::sleep(left - LATE);
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Requests, each sent after the reply to the one before.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Number of requests.
    pub count: u64,
    /// Bytes of each request, at least 8.
    pub size: usize,
    /// Time from a reply to the next request.
    pub gap: Duration,
    /// Longest wait for a reply.
    pub patience: Duration,
    /// The client's port; 0 takes any free one.
    pub port: u16,
}

impl Default for Exchange {
    fn default() -> Exchange {
        Exchange {
            count: 100,
            size: 64,
            gap: Duration::ZERO,
            patience: Duration::from_secs(2),
            port: 0,
        }
    }
}

/// Result of an exchange.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exchanged {
    /// Time from sending a request to the reply's arrival in the kernel, in order of requests.
    pub round_trips: Vec<Duration>,
    /// Requests without a reply.
    pub unanswered: u64,
}

/// Sends requests and waits for the replies.
pub fn exchange(space: &Space, to: SocketAddr, plan: Exchange) -> io::Result<Exchanged> {
    let socket = open(space, (std::net::Ipv6Addr::UNSPECIFIED, plan.port).into())?;
    socket.connect(to)?;
    socket.set_read_timeout(Some(plan.patience))?;
    let mut seen = Exchanged::default();
    let mut request = vec![0x5a; plan.size.max(8)];
    let mut answer = vec![0; 1 << 16];
    for n in 1..=plan.count {
        request[..8].copy_from_slice(&n.to_be_bytes());
        let sent = SystemTime::now();
        let started = Instant::now();
        socket.send(&request)?;
        loop {
            match receive(&socket, &mut answer)? {
                Some((length, _, came)) if answer[..length] == request[..] => {
                    seen.round_trips
                        .push(came.duration_since(sent).unwrap_or_default());
                    break;
                }
                // A reply to an earlier request, or a copy of one.
                Some((length, ..)) if number(&answer[..length]) < n => {}
                Some(_) => return Err(io::Error::other("an answer was not what was sent")),
                None => {}
            }
            if started.elapsed() >= plan.patience {
                seen.unanswered += 1;
                break;
            }
        }
        if !plan.gap.is_zero() {
            thread::sleep(plan.gap);
        }
    }
    Ok(seen)
}

/// Sends datagrams with the numbers from 1 to `count`, without waiting for replies.
pub fn send(space: &Space, to: SocketAddr, count: u64, gap: Duration) -> io::Result<()> {
    let socket = open(space, "[::]:0".parse().map_err(io::Error::other)?)?;
    for n in 1..=count {
        socket.send_to(&n.to_be_bytes(), to)?;
        thread::sleep(gap);
    }
    Ok(())
}

/// Receives datagrams and keeps their numbers.
#[derive(Debug)]
pub struct Sink(Worker<Vec<u64>>);

impl Sink {
    /// Starts it; it works until it is dropped.
    pub fn start(space: &Space, at: SocketAddr) -> io::Result<Sink> {
        let socket = open(space, at)?;
        socket.set_read_timeout(Some(LOOK_UP))?;
        Ok(Sink(Worker::start(move |stop| {
            let mut numbers = Vec::new();
            let mut buffer = vec![0; 1 << 16];
            loop {
                match receive(&socket, &mut buffer)? {
                    Some((length, ..)) => numbers.push(number(&buffer[..length])),
                    // Datagrams that came before it was stopped are taken first.
                    None if stop.load(Ordering::Relaxed) => return Ok(numbers),
                    None => {}
                }
            }
        })))
    }

    /// Stops it once nothing more comes, and returns the numbers in order of arrival.
    pub fn finish(self) -> io::Result<Vec<u64>> {
        self.0.finish()
    }
}
