//! Threads that are pinned to a processor and take precedence over other work on the machine.

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::io;
use std::process::Command;

/// File with the nice value of this session, if the kernel schedules sessions as groups (`sched(7)`, "The autogroup
/// feature").
const SESSION: &str = "/proc/self/autogroup";

/// Pins a thread to a processor.
pub fn pin(thread: Pid, processor: usize) -> io::Result<()> {
    let mut processors = CpuSet::new();
    processors.set(processor)?;
    Ok(sched_setaffinity(thread, &processors)?)
}

/// Pins this thread to a processor.
pub fn pin_this(processor: usize) -> io::Result<()> {
    pin(Pid::from_raw(0), processor)
}

/// Gives the highest priority to a thread, and to those that it starts from now on.
pub fn first(thread: Pid) -> io::Result<()> {
    let output = Command::new("renice")
        .args(["-n", "-20", "-p", &thread.to_string()])
        .output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).trim().to_string(),
        )),
    }
}

/// Gives this session the highest priority until it is dropped.
#[derive(Debug)]
pub struct FirstSession {
    /// Its priority before; `None` if the kernel does not schedule by sessions.
    before: Option<String>,
}

impl FirstSession {
    /// Raises the priority from now on.
    pub fn new() -> io::Result<FirstSession> {
        // `/autogroup-37 nice 0`
        let text = std::fs::read_to_string(SESSION).unwrap_or_default();
        let before = text.split_whitespace().last().map(str::to_owned);
        if before.is_some() {
            std::fs::write(SESSION, "-20")?;
        }
        Ok(FirstSession { before })
    }
}

impl Drop for FirstSession {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Nothing is left to do if that fails.
            let _ = std::fs::write(SESSION, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::sched_getaffinity;
    use nix::unistd::gettid;

    #[test]
    fn a_thread_is_on_its_processor_and_goes_first() {
        std::thread::spawn(|| {
            pin_this(0).expect("there is a processor");
            let processors = sched_getaffinity(Pid::from_raw(0)).expect("they are known");
            let on = |n| processors.is_set(n).expect("a number of a processor");
            assert!(on(0) && !on(1));
            first(gettid()).expect("this test needs root");
            let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("reads");
            let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
            assert_eq!(fields.split(' ').nth(16), Some("-20"), "{stat}");
        })
        .join()
        .expect("no panic");
        assert!(first(Pid::from_raw(i32::MAX)).is_err());
    }

    #[test]
    fn a_session_has_its_priority_again() {
        let read = || std::fs::read_to_string(SESSION).unwrap_or_default();
        let before = read();
        let session = FirstSession::new().expect("this test needs root");
        assert!(before.is_empty() || read().ends_with("nice -20\n"));
        drop(session);
        assert_eq!(read(), before);
    }
}
