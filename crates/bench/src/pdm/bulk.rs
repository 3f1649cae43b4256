//! A TCP stream from the client to the server that goes on, as fast as one processor lets it.

use lab::traffic::iperf::CONGESTION_CONTROL;
use lab::{Pair, Route, SERVER};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn6, connect, setsockopt, socket, sockopt,
};
use nix::unistd::Pid;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, SocketAddrV6, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// What is handed to a socket at once, as `iperf3` does.
const PIECE: usize = 128 << 10;

/// What both ends and who measures know.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// Bytes that arrived.
    received: AtomicU64,
}

/// A stream under way. Ends with the value.
pub struct Bulk {
    shared: Arc<Shared>,
    socket: TcpStream,
    ends: Vec<JoinHandle<io::Result<()>>>,
}

impl Bulk {
    /// Starts it.
    pub fn start(net: &Pair) -> io::Result<Bulk> {
        let listener = net.server().run(|| TcpListener::bind((SERVER, 0)))?;
        let SocketAddr::V6(to) = listener.local_addr()? else {
            return Err(io::Error::other("the server has no IPv6 address"));
        };
        let client = net.client().run(|| connected(to))?;
        let server = listener.accept()?.0;
        let socket = client.try_clone()?;
        let shared = Arc::new(Shared::default());
        let [at_client, at_server] = [&shared, &shared].map(Arc::clone);
        let ends = vec![
            thread::spawn(move || until(&at_client, send, client)),
            thread::spawn(move || until(&at_server, receive, server)),
        ];
        Ok(Bulk {
            shared,
            socket,
            ends,
        })
    }

    /// Bytes that arrived until now.
    pub fn received(&self) -> u64 {
        self.shared.received.load(Ordering::Relaxed)
    }

    /// Ends it, and tells what went wrong on the way.
    pub fn finish(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Who waits in the kernel comes back. The other end may have gone first.
        let _ = self.socket.shutdown(Shutdown::Both);
        for end in self.ends.drain(..) {
            end.join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))?;
        }
        Ok(())
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        // What went wrong was for `finish` to tell.
        let _ = self.end();
    }
}

/// The congestion control has to be chosen before: BBR leaves its pacing behind.
fn connected(to: SocketAddrV6) -> io::Result<TcpStream> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet6, SockType::Stream, flags, None)?;
    setsockopt(&fd, sockopt::TcpCongestion, &CONGESTION_CONTROL.into())?;
    connect(fd.as_raw_fd(), &SockaddrIn6::from(to))?;
    Ok(TcpStream::from(fd))
}

/// Runs this thread on the first processor that it may have.
fn share_a_processor() -> io::Result<()> {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this)?;
    let first = (0..CpuSet::count()).find(|cpu| allowed.is_set(*cpu).unwrap_or(false));
    let mut one = CpuSet::new();
    one.set(first.unwrap_or(0))?;
    Ok(sched_setaffinity(this, &one)?)
}

/// What fails since it is over is no failure.
fn until(
    shared: &Shared,
    work: fn(TcpStream, &Shared) -> io::Result<()>,
    socket: TcpStream,
) -> io::Result<()> {
    share_a_processor()?;
    match work(socket, shared) {
        Err(_) if shared.stop.load(Ordering::Relaxed) => Ok(()),
        other => other,
    }
}

fn send(mut socket: TcpStream, shared: &Shared) -> io::Result<()> {
    let piece = vec![0x5a; PIECE];
    while !shared.stop.load(Ordering::Relaxed) {
        socket.write_all(&piece)?;
    }
    Ok(())
}

/// Until the sender is gone.
fn receive(mut socket: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match socket.read(&mut piece)? {
            0 => return Ok(()),
            bytes => shared.received.fetch_add(bytes as u64, Ordering::Relaxed),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdm::network::pair;
    use lab::Offloads;
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
