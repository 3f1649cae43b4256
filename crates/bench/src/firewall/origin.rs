//! The server: answers a ClientHello with an alert, a GET with a short page, and a DNS query with an address. One thread
//! serves all connections.

use super::messages::Kind;
use super::network::SERVER;
use super::poll::{Poll, raise_descriptors};
use lab::Space;
use lab::worker::Worker;
use nix::sys::socket::{Backlog, listen};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval at which the request to stop is seen.
const LOOK_UP: Duration = Duration::from_millis(50);
/// Connections that are closed at the latest when so many are open.
const MOST_OPEN: usize = 30_000;
/// Longest request.
const MOST_BYTES: usize = 16 << 10;

const ALERT: &[u8] = &[21, 3, 3, 0, 2, 2, 40];
const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";

/// Server that answers until it is dropped.
#[derive(Debug)]
pub(super) struct Origin {
    _worker: Worker<()>,
}

struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Origin {
    /// Starts it in the server's namespace.
    pub(super) fn start(space: &Space) -> io::Result<Origin> {
        raise_descriptors()?;
        let (listeners, socket) = space.run(|| {
            let bind = |kind: Kind| {
                let listener = TcpListener::bind((SERVER, kind.port()))?;
                // The standard library's backlog is 128.
                listen(&listener, Backlog::MAXALLOWABLE)?;
                listener.set_nonblocking(true)?;
                io::Result::Ok(listener)
            };
            let socket = UdpSocket::bind((SERVER, Kind::Dns.port()))?;
            socket.set_nonblocking(true)?;
            Ok(([bind(Kind::Tls)?, bind(Kind::Http)?], socket))
        })?;
        let worker = Worker::start(move |stop| {
            let poll = Poll::new()?;
            for listener in &listeners {
                poll.add_reader(listener)?;
            }
            poll.add_reader(&socket)?;
            let mut open: HashMap<u64, Connection> = HashMap::new();
            while !stop.load(Ordering::Relaxed) {
                for fd in poll.wait(LOOK_UP)? {
                    if let Some(listener) = listeners.iter().find(|l| l.as_raw_fd() as u64 == fd) {
                        accept(listener, &poll, &mut open)?;
                    } else if socket.as_raw_fd() as u64 == fd {
                        answer_queries(&socket);
                    } else if let Some(connection) = open.get_mut(&fd)
                        && serve(connection).is_none()
                    {
                        open.remove(&fd);
                    }
                }
            }
            Ok(())
        });
        Ok(Origin { _worker: worker })
    }
}

fn accept(
    listener: &TcpListener,
    poll: &Poll,
    open: &mut HashMap<u64, Connection>,
) -> io::Result<()> {
    while let Ok((stream, _)) = listener.accept() {
        if open.len() >= MOST_OPEN {
            continue;
        }
        stream.set_nonblocking(true)?;
        poll.add_reader(&stream)?;
        let key = stream.as_raw_fd() as u64;
        let read = Vec::new();
        open.insert(key, Connection { stream, read });
    }
    Ok(())
}

/// Reads from a connection and answers. Returns `None` once it is to be closed.
fn serve(connection: &mut Connection) -> Option<()> {
    let mut bytes = [0; 4096];
    loop {
        match connection.stream.read(&mut bytes) {
            Ok(0) => return None,
            Ok(count) => connection.read.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => return None,
        }
        if connection.read.len() > MOST_BYTES {
            return None;
        }
    }
    let read = &connection.read;
    let answer = match read.first() {
        Some(22) if read.len() >= 5 => {
            let length = usize::from(u16::from_be_bytes([read[3], read[4]]));
            (read.len() >= 5 + length).then_some(ALERT)
        }
        Some(22) | None => None,
        Some(_) => read.ends_with(b"\r\n\r\n").then_some(PAGE),
    };
    if let Some(answer) = answer {
        connection.read.clear();
        // A short answer fits into the socket's buffer.
        connection.stream.write_all(answer).ok()?;
    }
    Some(())
}

/// Answers all queries that are there: with an address, if one is asked for.
fn answer_queries(socket: &UdpSocket) {
    const HEADER: usize = 12;
    let mut query = [0; 2048];
    while let Ok((length, from)) = socket.recv_from(&mut query) {
        let Some(end) = query[..length]
            .get(HEADER..)
            .and_then(|name| name.iter().position(|byte| *byte == 0))
            .map(|zero| HEADER + zero + 5)
            .filter(|end| *end <= length)
        else {
            continue;
        };
        let is_address = query[end - 4..end] == [0, 1, 0, 1];
        let mut answer = query[..end].to_vec();
        (answer[2], answer[3]) = (0x85, 0x80);
        answer[4..HEADER].copy_from_slice(&[0, 1, 0, is_address.into(), 0, 0, 0, 0]);
        if is_address {
            answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
        }
        // A client that is gone needs no answer.
        let _ = socket.send_to(&answer, from);
    }
}
