//! Download by HTTP, each byte of it checked. The server is our own, and `curl` is the client.

use super::{Amount, Transferred, pattern};
use crate::net::{Route, SERVER};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time that a download may take, beyond its own duration.
const PATIENCE: Duration = Duration::from_secs(60);
/// Size of a chunk of a body of unknown length, in bytes.
const PIECE: usize = 64 << 10;

/// Downloads from the server to the client. The body has an announced length, or comes in chunks until the time is
/// over.
pub fn download(net: &impl Route, port: u16, amount: Amount) -> io::Result<Transferred> {
    let listener = net.server().run(|| TcpListener::bind((SERVER, port)))?;
    let url = format!("http://[{SERVER}]:{port}/");
    let longest = match amount {
        Amount::Bytes(_) => PATIENCE,
        Amount::Time(time) => time + PATIENCE,
    };
    let longest = longest.as_secs().to_string();
    let words = [
        "curl",
        "--silent",
        "--globoff",
        "--max-time",
        &longest,
        &url,
    ];
    let mut curl = net.client().start(&words)?;
    let server = thread::spawn(move || serve_one(&listener, amount));
    let seen = pattern::check(curl.reader()?, Instant::now())?;
    if seen.corrupted_at.is_some() {
        return Ok(seen);
    }
    // It fails if a body ends before its length or its last chunk. In that case the server may not have got a request.
    if !curl.finish()? {
        return Err(io::Error::other(format!(
            "curl failed after {} bytes",
            seen.bytes
        )));
    }
    let sent = server
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))?;
    if seen.bytes != sent {
        let got = seen.bytes;
        return Err(io::Error::other(format!("curl got {got} of {sent} bytes")));
    }
    Ok(seen)
}

/// Answers one request, and returns the length of the body.
fn serve_one(listener: &TcpListener, amount: Amount) -> io::Result<u64> {
    let (stream, _) = listener.accept()?;
    stream.set_write_timeout(Some(PATIENCE))?;
    for line in BufReader::new(&stream).lines() {
        if line?.is_empty() {
            return match amount {
                Amount::Bytes(bytes) => announced(stream, bytes),
                Amount::Time(time) => in_pieces(stream, time),
            };
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

fn announced(mut stream: TcpStream, bytes: u64) -> io::Result<u64> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n"
    )?;
    let mut sent = 0;
    while sent < bytes {
        let left = usize::try_from(bytes - sent).unwrap_or(usize::MAX);
        sent += stream.write(pattern::at(sent, left))? as u64;
    }
    Ok(sent)
}

fn in_pieces(mut stream: TcpStream, time: Duration) -> io::Result<u64> {
    let started = Instant::now();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")?;
    let mut sent = 0;
    while started.elapsed() < time {
        let mut piece = format!("{PIECE:x}\r\n").into_bytes();
        piece.extend(pattern::at(sent, PIECE));
        piece.extend(b"\r\n");
        stream.write_all(&piece)?;
        sent += PIECE as u64;
    }
    stream.write_all(b"0\r\n\r\n")?;
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ends, Pair};

    #[test]
    fn a_download_arrives_whole() {
        let net = Pair::new(Ends::default()).expect("this test needs root and curl");
        let seen = download(&net, 8080, Amount::Bytes(5_000_000)).expect("works");
        assert_eq!((seen.bytes, seen.corrupted_at), (5_000_000, None));
        let time = Duration::from_millis(200);
        let seen = download(&net, 8081, Amount::Time(time)).expect("works");
        assert_eq!(seen.corrupted_at, None);
        assert!(seen.time >= time && seen.bytes > 0, "{seen:?}");
    }
}
