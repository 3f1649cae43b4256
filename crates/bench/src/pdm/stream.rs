//! Datagrams from the client to the server, for as long as the programs take turns.

use lab::worker::Worker;
use lab::{CLIENT, Pair, Route, SERVER};
use serde::Serialize;
use std::io;
use std::net::{Ipv6Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// To the server, as fast as it goes; nothing comes back.
    OneWay,
    /// To the server, which sends each back; the next one goes out when that has come. So each end answers the
    /// other's last packet, and each packet that comes in is a sample of a delay.
    Answered,
}

/// Bytes of payload.
pub(crate) const SIZE: usize = 64;

/// After which somebody who waits looks whether it is over; a datagram that was lost is sent again then.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);

/// Datagrams under way. Dropping it ends them.
pub(crate) struct Stream {
    /// The client's end goes first: a server that is gone would refuse what it sends.
    ends: [Worker<()>; 2],
    /// Stays open until the server's end is gone too, for the same reason.
    _client: UdpSocket,
}

impl Stream {
    /// Starts it.
    pub(crate) fn start(net: &Pair, kind: Kind) -> io::Result<Stream> {
        let client = net.client().run(|| socket(CLIENT))?;
        let server = net.server().run(|| socket(SERVER))?;
        client.connect(server.local_addr()?)?;
        server.connect(client.local_addr()?)?;
        let _client = client.try_clone()?;
        let ask = Worker::start(move |stop| until(stop, || ask(&client, kind)));
        let serve = Worker::start(move |stop| until(stop, || serve(&server, kind)));
        Ok(Stream {
            ends: [ask, serve],
            _client,
        })
    }

    /// Ends it, and reports what failed meanwhile.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.ends.into_iter().try_for_each(Worker::finish)
    }
}

fn socket(address: Ipv6Addr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((address, 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

fn until(stop: &AtomicBool, mut work: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        work()?;
    }
    Ok(())
}

fn ask(socket: &UdpSocket, kind: Kind) -> io::Result<()> {
    socket.send(&[0x5a; SIZE])?;
    match kind {
        Kind::OneWay => Ok(()),
        Kind::Answered => receive(socket).map(|_| ()),
    }
}

fn serve(socket: &UdpSocket, kind: Kind) -> io::Result<()> {
    match receive(socket)? {
        Some(datagram) if kind == Kind::Answered => socket.send(&datagram).map(|_| ()),
        _ => Ok(()),
    }
}

/// Nothing happened for a while.
pub(crate) fn is_patience(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// `None` if nothing comes.
fn receive(socket: &UdpSocket) -> io::Result<Option<[u8; SIZE]>> {
    let mut datagram = [0; SIZE];
    match socket.recv(&mut datagram) {
        Ok(_) => Ok(Some(datagram)),
        Err(error) if is_patience(&error) => Ok(None),
        Err(error) => Err(error),
    }
}
