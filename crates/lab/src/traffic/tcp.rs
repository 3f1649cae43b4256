//! TCP stream from the client to the server, each byte of it checked.

use super::{Amount, Transferred, pattern};
use crate::net::{Route, SERVER};
use crate::space::Space;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Time without a byte after which a transfer has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends from the client to the server.
pub fn transfer(net: &impl Route, port: u16, amount: Amount) -> io::Result<Transferred> {
    between(net.client(), net.server(), (SERVER, port).into(), amount)
}

/// Sends from one namespace to an address of another.
pub fn between(
    from: &Space,
    to: &Space,
    at: SocketAddr,
    amount: Amount,
) -> io::Result<Transferred> {
    let listener = to.run(|| TcpListener::bind(at))?;
    let stream = from.run(|| TcpStream::connect_timeout(&at, PATIENCE))?;
    let (mut arriving, _) = listener.accept()?;
    arriving.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // Started before the sender's clock, so that a stream of some duration is seen for that duration.
    let started = Instant::now();
    let (sent, seen) = thread::scope(|scope| {
        let sending = scope.spawn(|| send(stream, amount));
        let seen = pattern::check(&mut arriving, started);
        // Stops the sender: nobody reads the rest.
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

/// Sends `bytes` bytes in each direction of one connection. The connection is opened to `at`, which the path may
/// translate to the listener's address `bound`. Returns the transfer to the listener and the one to the opener.
pub fn exchange(
    (from, at): (&Space, SocketAddr),
    (to, bound): (&Space, SocketAddr),
    bytes: u64,
) -> io::Result<[Transferred; 2]> {
    let listener = to.run(|| TcpListener::bind(bound))?;
    let near = from.run(|| TcpStream::connect_timeout(&at, PATIENCE))?;
    let (far, _) = listener.accept()?;
    for end in [&near, &far] {
        end.set_read_timeout(Some(PATIENCE))?;
        end.set_write_timeout(Some(PATIENCE))?;
    }
    let started = Instant::now();
    thread::scope(|scope| {
        let ways = [(&near, &far), (&far, &near)].map(|(source, sink)| {
            let source = source.try_clone()?;
            scope.spawn(move || send(source, Amount::Bytes(bytes)));
            let (near, far) = (&near, &far);
            Ok(scope.spawn(move || {
                let seen = pattern::check(&mut { sink }, started);
                if !matches!(seen, Ok(seen) if seen.bytes == bytes) {
                    // Nobody waits for bytes that will not come any more.
                    let _ = (near.shutdown(Shutdown::Both), far.shutdown(Shutdown::Both));
                }
                seen
            }))
        });
        let [to_listener, to_opener] = ways.map(|checking: io::Result<_>| {
            let panicked = |_| io::Error::other("a thread panicked");
            let seen: thread::ScopedJoinHandle<'_, io::Result<_>> = checking?;
            seen.join().map_err(panicked)?
        });
        Ok([to_listener?, to_opener?])
    })
}

fn send(mut stream: TcpStream, amount: Amount) -> io::Result<u64> {
    let started = Instant::now();
    let mut sent = 0;
    loop {
        let begun = started.elapsed();
        let length = match amount {
            Amount::Bytes(bytes) => usize::try_from(bytes - sent).unwrap_or(usize::MAX),
            Amount::Time(_) => usize::MAX,
        };
        sent += stream.write(pattern::at(sent, length))? as u64;
        let enough = match amount {
            Amount::Bytes(bytes) => sent == bytes,
            Amount::Time(time) => begun >= time,
        };
        if enough {
            stream.shutdown(Shutdown::Write)?;
            return Ok(sent);
        }
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

    #[test]
    fn one_connection_has_a_stream_each_way() {
        let net = Pair::new(Ends::default()).expect("this test needs root");
        let at = (SERVER, 7003).into();
        let seen = exchange((net.client(), at), (net.server(), at), 3_000_001).expect("works");
        assert_eq!(
            seen.map(|s| (s.bytes, s.corrupted_at)),
            [(3_000_001, None); 2]
        );
    }
}
