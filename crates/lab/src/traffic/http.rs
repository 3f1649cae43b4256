//! A download by HTTP, each byte of it checked: a small server of ours, `curl` as the client.

use super::{Transferred, pattern};
use crate::net::{Route, SERVER};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Downloads so many bytes from the server to the client.
pub fn download(net: &impl Route, port: u16, bytes: u64) -> io::Result<Transferred> {
    let listener = net.server().run(|| TcpListener::bind((SERVER, port)))?;
    let url = format!("http://[{SERVER}]:{port}/{bytes}");
    let mut curl =
        net.client()
            .start(&["curl", "--silent", "--globoff", "--max-time", "150", &url])?;
    let server = thread::spawn(move || serve_one(&listener));
    let seen = pattern::check(curl.reader()?)?;
    if seen.corrupted_at.is_some() {
        return Ok(seen);
    }
    let finished = curl.finish()?;
    if !finished || seen.bytes != bytes {
        return Err(io::Error::other(format!(
            "curl got {} of {bytes} bytes",
            seen.bytes
        )));
    }
    server
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))?;
    Ok(seen)
}

/// Answers one request, for `/N`, with the first N bytes of the stream.
fn serve_one(listener: &TcpListener) -> io::Result<()> {
    let (stream, _) = listener.accept()?;
    let mut lines = BufReader::new(&stream).lines();
    let request = lines.next().ok_or(io::ErrorKind::UnexpectedEof)??;
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let wanted = request
        .strip_prefix("GET /")
        .and_then(|rest| rest.split(' ').next()?.parse().ok())
        .ok_or(io::ErrorKind::InvalidData)?;
    answer(stream, wanted)
}

fn answer(mut stream: TcpStream, bytes: u64) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n"
    )?;
    let mut sent = 0;
    while sent < bytes {
        let left = usize::try_from(bytes - sent).unwrap_or(usize::MAX);
        sent += stream.write(pattern::at(sent, left))? as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ends, Pair};

    #[test]
    fn a_download_arrives_whole() {
        let net = Pair::new(Ends::default()).expect("this test needs root and curl");
        let seen = download(&net, 8080, 5_000_000).expect("works");
        assert_eq!((seen.bytes, seen.corrupted_at), (5_000_000, None));
    }
}
