//! Continuous TCP stream from the client to the server, at the full speed of one processor.

use super::stream::{PATIENCE, is_patience};
use lab::traffic::iperf::CONGESTION_CONTROL;
use lab::worker::Worker;
use lab::{Pair, Route, SERVER};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn6, connect, setsockopt, socket, sockopt,
};
use nix::unistd::Pid;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, SocketAddrV6, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes that are written to a socket at once, as `iperf3` does.
const PIECE: usize = 128 << 10;

/// Running stream. Dropping the value ends it.
pub(crate) struct Bulk {
    received: Arc<AtomicU64>,
    /// Sender and receiver. The sender is stopped first: the receiver ends when it is gone.
    ends: [Worker<()>; 2],
}

impl Bulk {
    /// Starts the stream.
    pub(crate) fn start(net: &Pair) -> io::Result<Bulk> {
        let listener = net.server().run(|| TcpListener::bind((SERVER, 0)))?;
        let SocketAddr::V6(to) = listener.local_addr()? else {
            return Err(io::Error::other("the server has no IPv6 address"));
        };
        let client = net.client().run(|| connected(to))?;
        let server = listener.accept()?.0;
        let received = Arc::new(AtomicU64::new(0));
        let arrived = Arc::clone(&received);
        let send = Worker::start(move |stop| send(client, stop));
        let receive = Worker::start(move |_| receive(server, &arrived));
        Ok(Bulk {
            received,
            ends: [send, receive],
        })
    }

    /// Returns the number of bytes that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Ends the stream, and reports errors that occurred meanwhile.
    pub(crate) fn finish(self) -> io::Result<()> {
        let [sent, received] = self.ends.map(Worker::finish);
        // A receiver that fails makes the sender fail, too.
        received.and(sent)
    }
}

/// Opens a connection. The congestion control is set before it connects: a socket that began with BBR stays paced.
fn connected(to: SocketAddrV6) -> io::Result<TcpStream> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet6, SockType::Stream, flags, None)?;
    setsockopt(&fd, sockopt::TcpCongestion, &CONGESTION_CONTROL.into())?;
    connect(fd.as_raw_fd(), &SockaddrIn6::from(to))?;
    Ok(TcpStream::from(fd))
}

/// Pins this thread to the first processor that it may use.
fn share_a_processor() -> io::Result<()> {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this)?;
    let first = (0..CpuSet::count()).find(|cpu| allowed.is_set(*cpu).unwrap_or(false));
    let mut one = CpuSet::new();
    one.set(first.unwrap_or(0))?;
    Ok(sched_setaffinity(this, &one)?)
}

fn send(mut socket: TcpStream, stop: &AtomicBool) -> io::Result<()> {
    share_a_processor()?;
    let piece = vec![0x5a; PIECE];
    socket.set_write_timeout(Some(PATIENCE))?;
    while !stop.load(Ordering::Relaxed) {
        match socket.write(&piece) {
            Ok(_) => {}
            Err(error) if is_patience(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Receives until the sender is gone.
fn receive(mut socket: TcpStream, received: &AtomicU64) -> io::Result<()> {
    share_a_processor()?;
    let mut piece = vec![0; PIECE];
    loop {
        match socket.read(&mut piece)? {
            0 => return Ok(()),
            bytes => received.fetch_add(bytes as u64, Ordering::Relaxed),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdm::network::pair;
    use lab::Offloads;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn bytes_arrive_until_the_end() {
        let net = pair(Offloads::All, false).expect("this test needs root");
        let stream = Bulk::start(&net).expect("connects");
        thread::sleep(Duration::from_millis(50));
        let before = stream.received();
        assert!(before > 0);
        thread::sleep(Duration::from_millis(50));
        assert!(stream.received() > before);
        stream.finish().expect("ends");
    }
}
