//! ICMPv6 echoes by `ping`.

use crate::net::{Route, SERVER};
use std::io;
use std::time::Duration;

/// Report of `ping`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pinged {
    /// Requests sent.
    pub sent: u64,
    /// Replies received.
    pub received: u64,
    /// Replies that had other bytes than their requests.
    pub corrupted: u64,
}

/// Sends requests from the client to the server, one each interval.
pub fn ping(net: &impl Route, count: u64, interval: Duration) -> io::Result<Pinged> {
    // It compares the bytes of replies only if it shows them.
    let output = net.client().output(&[
        "ping",
        "-6",
        "-W2",
        "-c",
        &count.to_string(),
        "-i",
        &format!("{:.3}", interval.as_secs_f64()),
        &SERVER.to_string(),
    ])?;
    let output_text = String::from_utf8_lossy(&output.stdout);
    parse(&output_text).ok_or_else(|| io::Error::other(format!("`ping` printed: {output_text}")))
}

/// Parses `3 packets transmitted, 3 received, 0% packet loss, time 2003ms`.
fn parse(text: &str) -> Option<Pinged> {
    let line = text.lines().find(|l| l.contains("packets transmitted"))?;
    let mut parts = line.split(", ");
    let mut next = || parts.next()?.split(' ').next()?.parse().ok();
    Some(Pinged {
        sent: next()?,
        received: next()?,
        corrupted: text.matches("wrong data byte").count() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ends, Pair};

    #[test]
    fn answers_are_counted() {
        let net = Pair::new(Ends::default()).expect("this test needs root");
        let seen = ping(&net, 5, Duration::from_millis(10)).expect("works");
        assert_eq!((seen.sent, seen.received, seen.corrupted), (5, 5, 0));
        assert_eq!(parse("nothing"), None);
        let text = "64 bytes from fd00::2: icmp_seq=1 ttl=64 time=0.1 ms\n\
                    wrong data byte #20 should be 0x14 but was 0x15\n\
                    1 packets transmitted, 1 received, 0% packet loss, time 0ms";
        assert_eq!(parse(text).map(|seen| seen.corrupted), Some(1));
    }
}
