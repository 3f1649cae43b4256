//! One direction of a relay: a thread that receives and decides, and one that sends when it is time.

use super::packet::{lower_segment_size, too_big};
use super::way::{Counts, MOST_DELAYS, Way};
use kernel::raw_socket::{RawSocket, Received};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

const ETHERNET: usize = 14;
/// How long a sleep may be late; the rest is waited for awake.
const LATE: Duration = Duration::from_micros(200);
/// A packet that is held back and that no other follows goes on after this time.
const HOLD_NO_LONGER: Duration = Duration::from_millis(60);
/// How often a thread looks whether it should stop.
const LOOK_UP_MS: u16 = 20;

fn lock(book: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A packet on its way out.
pub(super) struct Departure {
    bytes: Vec<u8>,
    arrived: SystemTime,
    due: SystemTime,
    counted: bool,
    copy: bool,
}

/// A packet that others are to overtake.
struct Held {
    departure: Departure,
    /// How many more.
    by: u32,
}

/// Takes packets in.
pub(super) struct Receiver {
    socket: Arc<RawSocket>,
    way: Way,
    queue: mpsc::Sender<Departure>,
    book: Arc<Mutex<Counts>>,
    held: Vec<Held>,
}

impl Receiver {
    pub fn new(
        socket: Arc<RawSocket>,
        way: Way,
        queue: mpsc::Sender<Departure>,
        book: Arc<Mutex<Counts>>,
    ) -> Receiver {
        Receiver {
            socket,
            way,
            queue,
            book,
            held: Vec::new(),
        }
    }

    /// Works until it is told to stop and nothing waits.
    pub fn work(mut self, stop: &AtomicBool) -> io::Result<()> {
        loop {
            let there = self.socket.wait(LOOK_UP_MS)?;
            while let Some(received) = self.socket.receive()? {
                self.take(received)?;
            }
            self.let_go_of_the_forgotten();
            lock(&self.book).overflowed += u64::from(self.socket.overflowed()?);
            if !there && stop.load(Ordering::Relaxed) {
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
            counted: (self.way.counted)(&received.bytes),
            bytes: received.bytes,
            arrived,
            due: arrived + self.way.delay,
            copy: false,
        };
        if !departure.counted {
            send(&self.queue, departure);
            return Ok(());
        }
        let number = {
            let mut book = lock(&self.book);
            book.seen += 1;
            book.seen
        };
        if let Some(mtu) = self.way.mtu
            && departure.bytes.len() > ETHERNET + mtu as usize
        {
            lock(&self.book).too_big += 1;
            if self.way.tells_mtu
                && let Some(answer) = too_big(&departure.bytes, mtu)
            {
                self.socket.send(&answer)?;
            }
            return Ok(());
        }
        if let Some(size) = self.way.segment_size {
            lower_segment_size(&mut departure.bytes, size);
        }
        if self.way.loss.has(number) {
            lock(&self.book).lost += 1;
            return Ok(());
        }
        if self.way.hold.has(number) {
            let by = self.way.hold_by;
            self.held.push(Held { departure, by });
            return Ok(());
        }
        let copy = self.way.duplicate.has(number).then(|| Departure {
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

    /// A packet has gone on; those held back long enough follow it.
    fn overtake(&mut self, due: SystemTime) {
        for held in &mut self.held {
            held.by = held.by.saturating_sub(1);
        }
        let free = self.held.extract_if(.., |h| h.by == 0);
        for mut held in free {
            lock(&self.book).overtaken += 1;
            held.departure.due = held.departure.due.max(due);
            send(&self.queue, held.departure);
        }
    }

    fn let_go_of_the_forgotten(&mut self) {
        let now = SystemTime::now();
        let old = self.held.extract_if(.., |h| {
            now.duration_since(h.departure.arrived)
                .is_ok_and(|age| age > HOLD_NO_LONGER)
        });
        for held in old {
            if held.by < self.way.hold_by {
                lock(&self.book).overtaken += 1;
            }
            send(&self.queue, held.departure);
        }
    }
}

/// The other thread ends early only after an error, which it tells itself.
fn send(queue: &mpsc::Sender<Departure>, departure: Departure) {
    let _ = queue.send(departure);
}

/// Sends packets out.
pub(super) struct Sender {
    socket: Arc<RawSocket>,
    waiting: mpsc::Receiver<Departure>,
    book: Arc<Mutex<Counts>>,
    keep: usize,
}

impl Sender {
    pub fn new(
        socket: Arc<RawSocket>,
        waiting: mpsc::Receiver<Departure>,
        keep: usize,
        book: Arc<Mutex<Counts>>,
    ) -> Sender {
        Sender {
            socket,
            waiting,
            book,
            keep,
        }
    }

    /// Works until the receiving thread has ended and nothing waits.
    pub fn work(self) -> io::Result<()> {
        while let Ok(departure) = self.waiting.recv() {
            wait_until(departure.due);
            // Sending wakes who gets the packet, who may have this processor before the call returns: the time before
            // the call is nearer to the truth.
            let spent = SystemTime::now()
                .duration_since(departure.arrived)
                .unwrap_or_default();
            self.socket.send(&departure.bytes)?;
            let mut book = lock(&self.book);
            if departure.copy {
                book.duplicated += 1;
            } else if departure.counted {
                book.passed += 1;
                if book.delays.len() < MOST_DELAYS {
                    book.delays.push(spent);
                }
            }
            if book.kept.len() < self.keep {
                book.kept.push(departure.bytes);
            }
        }
        Ok(())
    }
}

/// Sleeps, and stays awake for the last bit.
fn wait_until(due: SystemTime) {
    while let Ok(left) = due.duration_since(SystemTime::now()) {
        if left > LATE {
            thread::sleep(left - LATE);
        } else {
            std::hint::spin_loop();
        }
    }
}
