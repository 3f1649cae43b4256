//! A stream from the client to the server, each byte of it checked.

use super::{Amount, Transferred, pattern};
use crate::net::{Route, SERVER};
use std::io::{self, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// After so long without a byte something is wrong for good.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends from the client to the server.
pub fn transfer(net: &impl Route, port: u16, amount: Amount) -> io::Result<Transferred> {
    let listener = net.server().run(|| TcpListener::bind((SERVER, port)))?;
    let stream = net
        .client()
        .run(|| TcpStream::connect_timeout(&(SERVER, port).into(), PATIENCE))?;
    let (mut arriving, _) = listener.accept()?;
    arriving.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (sent, seen) = thread::scope(|scope| {
        let sending = scope.spawn(|| send(stream, amount));
        let seen = pattern::check(&mut arriving);
        // Nobody reads what the sender still sends.
        let _ = arriving.shutdown(Shutdown::Both);
        let sent = sending
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")));
        (sent, seen)
    });
    let seen = seen?;
    if seen.corrupted_at.is_none() && seen.bytes != sent? {
        return Err(io::Error::other("not all bytes arrived"));
    }
    Ok(seen)
}

fn send(mut stream: TcpStream, amount: Amount) -> io::Result<u64> {
    let started = Instant::now();
    let mut sent = 0;
    loop {
        let left = match amount {
            Amount::Bytes(bytes) => bytes - sent,
            Amount::Time(time) if started.elapsed() < time => u64::MAX,
            Amount::Time(_) => 0,
        };
        if left == 0 {
            stream.shutdown(Shutdown::Write)?;
            return Ok(sent);
        }
        let length = usize::try_from(left).unwrap_or(usize::MAX);
        sent += stream.write(pattern::at(sent, length))? as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ends, Pair};

    #[test]
    fn a_stream_arrives_whole() {
        let net = Pair::new(Ends::default()).expect("this test needs root");
        let seen = transfer(&net, 7001, Amount::Bytes(30_000_001)).expect("works");
        assert_eq!((seen.bytes, seen.corrupted_at), (30_000_001, None));
        let time = Duration::from_millis(200);
        let seen = transfer(&net, 7002, Amount::Time(time)).expect("works");
        assert!(seen.time >= time && seen.bytes > 0, "{seen:?}");
    }
}
