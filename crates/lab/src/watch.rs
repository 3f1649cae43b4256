//! Watch over a device: measures the longest time without incoming packets.

use crate::space::Space;
use crate::worker::Worker;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which the counter is read.
const LOOK_UP: Duration = Duration::from_millis(5);

/// Polls a device's counter of incoming packets.
#[derive(Debug)]
pub struct Watch(Worker<Duration>);

impl Watch {
    /// Starts it; it works until it is dropped.
    pub fn start(space: &Space, device: &str) -> io::Result<Watch> {
        // It shows the namespace in which it was opened.
        let mut counters = space.run(|| File::open("/proc/thread-self/net/dev"))?;
        let device = device.to_owned();
        let mut before = packets(&mut counters, &device)?;
        Ok(Watch(Worker::start(move |stop| {
            let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
            while !stop.load(Ordering::Relaxed) {
                thread::sleep(LOOK_UP);
                let count = packets(&mut counters, &device)?;
                longest = longest.max(last.elapsed());
                if count != before {
                    (last, before) = (Instant::now(), count);
                }
            }
            Ok(longest)
        })))
    }

    /// Stops it, and returns the longest time without a packet, accurate to some milliseconds.
    pub fn finish(self) -> io::Result<Duration> {
        self.0.finish()
    }
}

fn packets(counters: &mut File, device: &str) -> io::Result<u64> {
    counters.rewind()?;
    let mut text = String::new();
    counters.read_to_string(&mut text)?;
    let count = text.lines().find_map(|line| {
        let (name, numbers) = line.split_once(':')?;
        // The first number is bytes.
        let packets = numbers.split_whitespace().nth(1)?;
        (name.trim() == device).then(|| packets.parse().ok())?
    });
    count.ok_or_else(|| io::Error::other(format!("there is no device `{device}`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::ping;
    use crate::{Ends, Pair, Route};

    /// Asserts a property of the longest silence of a network while `traffic` runs. The link's own packets (neighbour
    /// discovery of a new link) and a busy machine can make it shorter or longer, so it tries a few times.
    fn silence(net: &Pair, holds: impl Fn(Duration) -> bool, traffic: impl Fn()) {
        let mut seen = Vec::new();
        for _ in 0..6 {
            let watch = Watch::start(net.server(), "s0").expect("starts");
            traffic();
            let longest = watch.finish().expect("works");
            if holds(longest) {
                return;
            }
            seen.push(longest);
        }
        panic!("{seen:?}");
    }

    #[test]
    fn silence_is_measured() {
        let net = Pair::new(Ends::default()).expect("this test needs root");
        let interval = Duration::from_millis(10);
        let some = |count| {
            ping::ping(&net, count, interval)
                .map(|_| ())
                .expect("pings")
        };
        let pause = Duration::from_millis(300);
        silence(
            &net,
            |longest| longest >= pause,
            || {
                some(10);
                thread::sleep(pause + Duration::from_millis(50));
                some(10);
            },
        );
        silence(&net, |longest| longest < pause, || some(40));
        assert!(Watch::start(net.server(), "none").is_err());
    }
}
