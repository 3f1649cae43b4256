//! Servers that read what arrives by Linux's network stack, and keep it.

use lab::Space;
use std::collections::HashMap;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Time after which a server gives a silent connection up.
const SILENCE: Duration = Duration::from_secs(20);

/// Received data by client: of TCP, the bytes of the last connection; of UDP, all datagrams.
type Kept<T> = Arc<Mutex<HashMap<(IpAddr, u16), T>>>;
/// Bytes of one connection, which a thread of its own adds.
type Bytes = Arc<Mutex<Vec<u8>>>;

#[derive(Clone, Default)]
pub(super) struct Service {
    streams: Kept<Bytes>,
    datagrams: Kept<Vec<Vec<u8>>>,
}

impl Service {
    /// Starts servers in a namespace, at ports of TCP and of UDP.
    pub(super) fn start(space: &Space, tcp: &[u16], udp: &[u16]) -> io::Result<Service> {
        let service = Service::default();
        for port in tcp {
            let listener = space.run(|| TcpListener::bind(("::", *port)))?;
            let streams = Arc::clone(&service.streams);
            thread::spawn(move || accept(&listener, &streams));
        }
        for port in udp {
            let socket = space.run(|| UdpSocket::bind(("::", *port)))?;
            let datagrams = Arc::clone(&service.datagrams);
            thread::spawn(move || receive(&socket, &datagrams));
        }
        Ok(service)
    }

    /// Forgets what came before.
    pub(super) fn forget(&self) {
        self.streams.lock().expect("no panic").clear();
        self.datagrams.lock().expect("no panic").clear();
    }

    /// Returns the bytes that a server read from a client, once there are as many as it acknowledged, or after some time. They are forgotten then.
    pub(super) fn stream(
        &self,
        client: (IpAddr, u16),
        acknowledged: usize,
        patience: Duration,
    ) -> Vec<u8> {
        let streams = || self.streams.lock().expect("no panic");
        let begun = Instant::now();
        loop {
            let known = streams().get(&client).cloned().unwrap_or_default();
            let bytes = known.lock().expect("no panic").clone();
            if bytes.len() >= acknowledged || begun.elapsed() > patience {
                streams().remove(&client);
                return bytes;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the datagrams that a server read from a client, once there are so many, or after some time.
    pub(super) fn datagrams(
        &self,
        client: (IpAddr, u16),
        most: usize,
        patience: Duration,
    ) -> Vec<Vec<u8>> {
        let read = || self.datagrams.lock().ok()?.get(&client).cloned();
        let begun = Instant::now();
        loop {
            let found = read().unwrap_or_default();
            if found.len() >= most || begun.elapsed() > patience {
                return found;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Returns the client as it is kept.
fn client(from: SocketAddr) -> (IpAddr, u16) {
    (from.ip().to_canonical(), from.port())
}

fn accept(listener: &TcpListener, streams: &Kept<Bytes>) {
    while let Ok((mut stream, from)) = listener.accept() {
        let bytes = Bytes::default();
        if let Ok(mut all) = streams.lock() {
            all.insert(client(from), Arc::clone(&bytes));
        }
        thread::spawn(move || {
            let mut part = [0; 4096];
            stream.set_read_timeout(Some(SILENCE))?;
            // A reset ends a connection too.
            while let count @ 1.. = stream.read(&mut part)? {
                let mut bytes = bytes.lock().map_err(|_| io::ErrorKind::Other)?;
                bytes.extend(&part[..count]);
            }
            io::Result::Ok(())
        });
    }
}

fn receive(socket: &UdpSocket, datagrams: &Kept<Vec<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok((count, from)) = socket.recv_from(&mut buffer) {
        if let Ok(mut all) = datagrams.lock() {
            let found = all.entry(client(from)).or_default();
            found.push(buffer[..count].to_vec());
        }
    }
}
