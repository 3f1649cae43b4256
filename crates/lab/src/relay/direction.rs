//! One direction of a relay: a thread receives packets and decides about them, another one sends them on time.

use super::conditions::{Conditions, Counts, MOST_DELAYS};
use super::packet::{lower_segment_size, too_big};
use net::raw_socket::{RawSocket, Received};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

const ETHERNET: usize = 14;
/// Greatest oversleep that is expected. The rest of a wait spins.
const LATE: Duration = Duration::from_micros(200);
/// Time after which a held packet is sent although too few packets have overtaken it. On a busy machine those may come
/// late.
const HOLD_NO_LONGER: Duration = Duration::from_secs(1);
/// Interval at which a thread checks for the request to stop, in milliseconds.
const LOOK_UP_MS: u16 = 20;

fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Packet that will be sent.
pub(super) struct Departure {
    bytes: Vec<u8>,
    arrived: SystemTime,
    due: SystemTime,
    counted: bool,
    copy: bool,
}

/// Packet that others must overtake.
struct Held {
    departure: Departure,
    /// Number of packets that must still overtake it.
    by: u32,
}

/// Receives packets, and decides about each.
pub(super) struct Receiver {
    socket: Arc<RawSocket>,
    conditions: Conditions,
    queue: mpsc::Sender<Departure>,
    counts: Arc<Mutex<Counts>>,
    held: Vec<Held>,
}

impl Receiver {
    pub(super) fn new(
        socket: Arc<RawSocket>,
        conditions: Conditions,
        queue: mpsc::Sender<Departure>,
        counts: Arc<Mutex<Counts>>,
    ) -> Receiver {
        Receiver {
            socket,
            conditions,
            queue,
            counts,
            held: Vec::new(),
        }
    }

    /// Works until `stop` is set and no packet is left.
    pub(super) fn work(mut self, stop: &AtomicBool) -> io::Result<()> {
        loop {
            let ready = self.socket.wait(LOOK_UP_MS)?;
            while let Some(received) = self.socket.receive()? {
                self.take(received)?;
            }
            self.release_the_expired();
            lock(&self.counts).overflowed += u64::from(self.socket.overflowed()?);
            if !ready && stop.load(Ordering::Relaxed) {
                for held in self.held.drain(..) {
                    send(&self.queue, held.departure);
                }
                return Ok(());
            }
        }
    }

    fn take(&mut self, received: Received) -> io::Result<()> {
        let (seconds, nanoseconds) = received.time;
        let arrived = SystemTime::UNIX_EPOCH + Duration::new(seconds as u64, nanoseconds as u32);
        let mut departure = Departure {
            counted: (self.conditions.counted)(&received.bytes),
            bytes: received.bytes,
            arrived,
            due: arrived + self.conditions.delay,
            copy: false,
        };
        if !departure.counted {
            send(&self.queue, departure);
            return Ok(());
        }
        let number = {
            let mut counts = lock(&self.counts);
            counts.seen += 1;
            counts.seen
        };
        if let Some(mtu) = self.conditions.mtu
            && departure.bytes.len() > ETHERNET + mtu as usize
        {
            lock(&self.counts).too_big += 1;
            if self.conditions.reports_mtu
                && let Some(answer) = too_big(&departure.bytes, mtu)
            {
                self.socket.send(&answer)?;
            }
            return Ok(());
        }
        if let Some(size) = self.conditions.segment_size {
            lower_segment_size(&mut departure.bytes, size);
        }
        if self.conditions.loss.has(number) {
            lock(&self.counts).lost += 1;
            return Ok(());
        }
        if self.conditions.hold.has(number) {
            let by = self.conditions.hold_by;
            self.held.push(Held { departure, by });
            return Ok(());
        }
        let copy = self.conditions.duplicate.has(number).then(|| Departure {
            bytes: departure.bytes.clone(),
            copy: true,
            ..departure
        });
        let due = departure.due;
        departure.copy = false;
        send(&self.queue, departure);
        if let Some(copy) = copy {
            send(&self.queue, copy);
        }
        self.overtake(due);
        Ok(())
    }

    /// Counts a forwarded packet for all that are held back, and releases those that were overtaken often enough.
    fn overtake(&mut self, due: SystemTime) {
        for held in &mut self.held {
            held.by = held.by.saturating_sub(1);
        }
        let free = self.held.extract_if(.., |h| h.by == 0);
        for mut held in free {
            lock(&self.counts).overtaken += 1;
            held.departure.due = held.departure.due.max(due);
            send(&self.queue, held.departure);
        }
    }

    fn release_the_expired(&mut self) {
        let now = SystemTime::now();
        let old = self.held.extract_if(.., |h| {
            now.duration_since(h.departure.arrived)
                .is_ok_and(|age| age > HOLD_NO_LONGER)
        });
        for held in old {
            if held.by < self.conditions.hold_by {
                lock(&self.counts).overtaken += 1;
            }
            send(&self.queue, held.departure);
        }
    }
}

/// Passes a packet to the sending thread. That thread ends early only after an error, which it reports itself.
fn send(queue: &mpsc::Sender<Departure>, departure: Departure) {
    let _ = queue.send(departure);
}

/// Sends packets when they are due.
pub(super) struct Sender {
    socket: Arc<RawSocket>,
    waiting: mpsc::Receiver<Departure>,
    counts: Arc<Mutex<Counts>>,
    keep: usize,
}

impl Sender {
    pub(super) fn new(
        socket: Arc<RawSocket>,
        waiting: mpsc::Receiver<Departure>,
        keep: usize,
        counts: Arc<Mutex<Counts>>,
    ) -> Sender {
        Sender {
            socket,
            waiting,
            counts,
            keep,
        }
    }

    /// Works until the receiving thread has ended and no packet is left.
    pub(super) fn work(self) -> io::Result<()> {
        while let Ok(departure) = self.waiting.recv() {
            wait_until(departure.due);
            // Sending wakes the receiver, which may run on this processor before the call returns. So the time is taken
            // before the call.
            let spent = SystemTime::now()
                .duration_since(departure.arrived)
                .unwrap_or_default();
            self.socket.send(&departure.bytes)?;
            let mut counts = lock(&self.counts);
            if departure.copy {
                counts.duplicated += 1;
            } else if departure.counted {
                counts.passed += 1;
                if counts.delays.len() < MOST_DELAYS {
                    counts.delays.push(spent);
                }
            }
            if counts.kept.len() < self.keep {
                counts.kept.push(departure.bytes);
            }
        }
        Ok(())
    }
}

/// Sleeps until shortly before a time, then spins.
fn wait_until(due: SystemTime) {
    while let Ok(left) = due.duration_since(SystemTime::now()) {
        if left > LATE {
            thread::sleep(left - LATE);
        } else {
            std::hint::spin_loop();
        }
    }
}
