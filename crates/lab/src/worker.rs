//! Background work that runs until it is stopped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Thread that regularly checks for the request to stop; dropping the value stops it.
#[derive(Debug)]
pub struct Worker<T> {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<T>>>,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts the work in a thread.
    pub fn start(work: impl FnOnce(&AtomicBool) -> io::Result<T> + Send + 'static) -> Worker<T> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        Worker {
            stop,
            thread: Some(thread::spawn(move || work(&stopped))),
        }
    }

    /// Stops the work, and returns its result.
    pub fn finish(mut self) -> io::Result<T> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().ok_or(io::ErrorKind::NotFound)?;
        thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Only `finish` reports errors.
            let _ = thread.join();
        }
    }
}
