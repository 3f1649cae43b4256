//! Round-trip time of requests, with the parser at each location where it delays packets: on the path, and in the
//! application.

use super::message::{Message, PAYLOAD, Technique};
use super::network::{Network, Polling};
use super::parser::Parser;
use super::rates::{APPLICATION, PATH};
use super::{Effort, PASS, Spread};
use crate::error::Error;
use kernel::bench::median;
use kernel::sys::Prog;
use lab::precedence;
use memchr::memmem::Finder;
use serde::Serialize;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Microseconds of a round trip.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RoundTrip {
    /// Location of the parser.
    pub(super) of: &'static str,
    /// Medians of the rounds.
    pub(super) took: Spread,
    /// Difference from the time without a parser in the same round.
    pub(super) added: Spread,
}

/// Name of a program that only passes packets on.
pub(super) const PASSED: &str = "a program that only passes packets on";
/// Number of the network among those of this process.
const NUMBER: usize = 3;
const NOWHERE: &str = "nowhere";

/// Measures requests of 1,400 bytes, all of which are parsed.
pub(super) fn measure(effort: &Effort) -> Result<Vec<RoundTrip>, Error> {
    let failed = Error::system("requests and answers");
    // The kernel's thread for a device would get only packets that a program sees.
    let network = Network::new(NUMBER, Polling::Sender).map_err(&failed)?;
    let message = Message::of_bytes(PAYLOAD);
    let parser = Parser::new(&message, Technique::ByteByByte, false)?;
    let pass = Prog::constant_xdp(PASS).map_err(&failed)?;
    let places = [NOWHERE, PASSED, PATH, APPLICATION];
    let mut samples = vec![Vec::new(); places.len()];
    for _ in 0..effort.rounds {
        for (of, samples) in places.iter().zip(&mut samples) {
            let prog = match *of {
                PASSED => Some(&pass),
                PATH => Some(parser.prog()),
                _ => None,
            };
            let search = *of == APPLICATION;
            let times = one(&network, &message, prog, search, effort.packets).map_err(&failed)?;
            samples.push(median(&times));
        }
    }
    let trips = places.iter().zip(&samples).map(|(of, took)| {
        let added = took.iter().zip(&samples[0]).map(|(a, b)| a - b);
        RoundTrip {
            of,
            added: Spread::of(added.collect()),
            took: Spread::of(took.clone()),
        }
    });
    Ok(trips.collect())
}

fn one(
    network: &Network,
    message: &Message,
    program: Option<&Prog>,
    search: bool,
    requests: usize,
) -> io::Result<Vec<f64>> {
    let _attached = program.map(|program| network.attach(program)).transpose()?;
    let (client, server) = (network.client()?, network.socket()?);
    client.set_read_timeout(Some(Duration::from_secs(2)))?;
    let query = message.query();
    let search = search.then(|| Finder::new(&query));
    let (done, payload) = (AtomicBool::new(false), message.payload());
    thread::scope(|scope| {
        let echo = scope.spawn(|| answer(&server, search.as_ref(), &done));
        let asking = scope.spawn(|| {
            precedence::pin_this(1)?;
            let mut buffer = vec![0; 2048];
            let trip = |_| {
                let begun = Instant::now();
                client.send(&payload)?;
                client.recv(&mut buffer)?;
                Ok(begun.elapsed().as_secs_f64() * 1e6)
            };
            (0..requests).map(trip).collect::<io::Result<Vec<f64>>>()
        });
        let times = asking.join();
        done.store(true, Ordering::Relaxed);
        let answered = echo.join();
        answered.unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))?;
        times.unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
    })
}

/// Runs the application, which sends back what it receives.
fn answer(server: &UdpSocket, search: Option<&Finder>, done: &AtomicBool) -> io::Result<()> {
    precedence::pin_this(0)?;
    let mut buffer = vec![0; 2048];
    while !done.load(Ordering::Relaxed) {
        let (length, from) = match server.recv_from(&mut buffer) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => continue,
            received => received?,
        };
        if search.is_some_and(|search| search.find(&buffer[..length]).is_none()) {
            return Err(io::Error::other("the query attribute was not found"));
        }
        server.send_to(&buffer[..length], from)?;
    }
    Ok(())
}
