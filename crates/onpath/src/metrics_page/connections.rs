//! The connections of the server, of which there are only so many at once: nobody is kept out by those who say nothing.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Connections at once.
pub(super) const MOST: usize = 32;

/// Those that there are.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<Vec<Connection>>,
    /// One left.
    left: Condvar,
}

#[derive(Debug)]
struct Connection {
    number: u64,
    stream: TcpStream,
    /// Whether its request was read.
    has_asked: bool,
    /// Whether it was shut down, and is about to leave.
    is_ended: bool,
}

impl Connections {
    /// Takes in a connection of this number, greater than those before. If there are as many as there may be, the oldest of those
    /// that have asked for nothing yet is shut down, or else the oldest, and its place is waited for: not for long.
    pub(super) fn enter(&self, number: u64, stream: &TcpStream) -> io::Result<()> {
        let stream = stream.try_clone()?;
        let mut open = self.lock();
        while open.len() >= MOST {
            if !open.iter().any(|connection| connection.is_ended) {
                end_one(&mut open);
            }
            open = self.left.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
        open.push(Connection {
            number,
            stream,
            has_asked: false,
            is_ended: false,
        });
        Ok(())
    }

    /// Notes that a connection's request was read.
    pub(super) fn asked(&self, number: u64) {
        let mut open = self.lock();
        let mut all = open.iter_mut();
        if let Some(connection) = all.find(|connection| connection.number == number) {
            connection.has_asked = true;
        }
    }

    /// Gives a connection's place to others.
    pub(super) fn leave(&self, number: u64) {
        self.lock().retain(|connection| connection.number != number);
        self.left.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        // Nothing panics while it holds the lock.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shuts one down, so that whatever it is waited for ends at once. They stand in the order in which they came.
fn end_one(open: &mut [Connection]) {
    let silent = open.iter().position(|connection| !connection.has_asked);
    if let Some(connection) = open.get_mut(silent.unwrap_or(0)) {
        connection.is_ended = true;
        // One that was reset by its client has ended already.
        drop(connection.stream.shutdown(Shutdown::Both));
    }
}
