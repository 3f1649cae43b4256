//! Continuous datagrams from the client to the server, during which the versions take turns.

use lab::worker::Worker;
use lab::{CLIENT, Pair, Route, SERVER};
use serde::Serialize;
use std::io;
use std::net::{Ipv6Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Kind of traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrafficKind {
    /// Datagrams to the server at full speed, without replies.
    OneWay,
    /// Datagrams that the server sends back; the next one leaves when the reply has come. So each end answers the
    /// other's last packet, and each incoming packet is a sample of a delay.
    Answered,
}

/// Size of the payload, in bytes.
pub(crate) const SIZE: usize = 64;

/// Timeout of a wait, after which the thread checks for the request to stop. A lost datagram is sent again then.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);

/// Running stream of datagrams. Dropping the value ends it.
pub(crate) struct Stream {
    /// Client's and server's end. The client is stopped first: if the server were gone, its sends would be refused.
    ends: [Worker<()>; 2],
    /// Copy of the client's socket, which stays open until the server's end is gone, for the same reason.
    _client: UdpSocket,
}

impl Stream {
    /// Starts the stream.
    pub(crate) fn start(net: &Pair, kind: TrafficKind) -> io::Result<Stream> {
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

    /// Ends the stream, and reports errors that occurred meanwhile.
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

fn ask(socket: &UdpSocket, kind: TrafficKind) -> io::Result<()> {
    socket.send(&[0x5a; SIZE])?;
    match kind {
        TrafficKind::OneWay => Ok(()),
        TrafficKind::Answered => receive(socket).map(|_| ()),
    }
}

fn serve(socket: &UdpSocket, kind: TrafficKind) -> io::Result<()> {
    match receive(socket)? {
        Some(datagram) if kind == TrafficKind::Answered => socket.send(&datagram).map(|_| ()),
        _ => Ok(()),
    }
}

/// Returns true if the error is a timeout of a wait.
pub(crate) fn is_patience(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// Receives a datagram; `None` after a timeout.
fn receive(socket: &UdpSocket) -> io::Result<Option<[u8; SIZE]>> {
    let mut datagram = [0; SIZE];
    match socket.recv(&mut datagram) {
        Ok(_) => Ok(Some(datagram)),
        Err(error) if is_patience(&error) => Ok(None),
        Err(error) => Err(error),
    }
}
