//! Another program, run within limits of time and output. It ends when this process is interrupted.

use crate::interrupt::Deferred;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Bytes that a program may write on standard output and standard error together: a mebibyte.
pub const MOST_OUTPUT: usize = 1 << 20;

/// Pause between polls of a process that has no descriptor (before Linux 5.3).
const LOOK: Duration = Duration::from_millis(10);

/// Outcome of running a program.
#[derive(Debug)]
pub enum Ended {
    /// It ended by itself, or somebody else ended it. Holds its status and its output.
    ByItself(ExitStatus, Vec<u8>),
    /// It was killed after its time limit.
    TookTooLong,
    /// It was killed after it wrote more than [`MOST_OUTPUT`].
    WroteTooMuch,
}

/// Runs a program with an empty standard input, and returns its output. Processes that it has started end with it.
///
/// # Errors
///
/// It cannot be started, or a signal came that is deferred: [`io::ErrorKind::Interrupted`]. The signal stays pending,
/// and is delivered once it is not deferred any more.
pub fn run(command: &mut Command, interrupts: &Deferred, longest: Duration) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    interrupts.spare(command);
    let parent = std::process::id();
    // SAFETY: between fork and exec it calls nothing but prctl and getppid.
    unsafe { command.pre_exec(move || end_with(parent)) };
    let child = command.spawn();
    // The command still holds the writing ends, which would keep the pipe open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Running {
        child: child?,
        reader,
        output: Vec::new(),
        is_over: false,
    }
    .watch(interrupts, Instant::now() + longest)
}

/// Makes the kernel kill this process when the thread that started it ends, however its process ends.
fn end_with(parent: u32) -> io::Result<()> {
    // SAFETY: it takes two numbers.
    let code = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    Errno::result(code)?;
    // It may have ended before.
    match nix::unistd::getppid().as_raw() as u32 == parent {
        true => Ok(()),
        false => Err(io::ErrorKind::Interrupted.into()),
    }
}

/// Running program. When this value is dropped, the program is killed with all of its process group.
struct Running {
    child: Child,
    reader: PipeReader,
    output: Vec<u8>,
    /// True once it was waited for: its process id may be somebody else's then.
    is_over: bool,
}

impl Running {
    fn watch(mut self, interrupts: &Deferred, until: Instant) -> io::Result<Ended> {
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let signals = SignalFd::with_flags(&interrupts.only_deferred(), flags)?;
        let process = pidfd(&self.child).ok();
        let mut is_open = true;
        loop {
            if self.has_ended()? {
                self.read_rest()?;
                let status = self.end()?;
                let output = std::mem::take(&mut self.output);
                return Ok(match output.len() > MOST_OUTPUT {
                    true => Ended::WroteTooMuch,
                    false => Ended::ByItself(status, output),
                });
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Ended::TookTooLong);
            }
            let wait = match process {
                Some(_) => left + Duration::from_millis(1),
                None => left.min(LOOK),
            };
            let mut wanted = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
            if is_open {
                wanted.push(PollFd::new(self.reader.as_fd(), PollFlags::POLLIN));
            }
            wanted.extend(
                process
                    .as_ref()
                    .map(|p| PollFd::new(p.as_fd(), PollFlags::POLLIN)),
            );
            match poll(
                &mut wanted,
                PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX),
            ) {
                Err(Errno::EINTR) => continue,
                polled => polled?,
            };
            if wanted[0].any() == Some(true) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if is_open && wanted[1].any() == Some(true) {
                is_open = self.read_some()?;
                if self.output.len() > MOST_OUTPUT {
                    return Ok(Ended::WroteTooMuch);
                }
            }
        }
    }

    /// Reads the bytes that are available; blocks if none are. Returns true if more may come.
    fn read_some(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 1 << 14];
        let read = self.reader.read(&mut bytes)?;
        self.output.extend_from_slice(&bytes[..read]);
        Ok(read > 0)
    }

    /// Reads the rest of the output of a program that has ended. It does not wait for other processes that still have
    /// the pipe.
    fn read_rest(&mut self) -> io::Result<()> {
        while self.output.len() <= MOST_OUTPUT {
            let mut wanted = [PollFd::new(self.reader.as_fd(), PollFlags::POLLIN)];
            let is_ready = poll(&mut wanted, PollTimeout::ZERO)? > 0;
            if !is_ready || !self.read_some()? {
                break;
            }
        }
        Ok(())
    }
}

impl Running {
    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Returns true once it has ended. The process is not reaped, so its id, and that of its group, stay its own.
    fn has_ended(&self) -> io::Result<bool> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        let status = waitid(Id::Pid(self.pid()), flags)?;
        Ok(status != WaitStatus::StillAlive)
    }

    /// Kills its process group, and reaps it.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_over {
            let _ = killpg(self.pid(), Signal::SIGKILL);
        }
        self.is_over = true;
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing is left to do if it fails.
        let _ = self.end();
    }
}

/// Opens a descriptor that is readable once the process has ended.
fn pidfd(child: &Child) -> nix::Result<OwnedFd> {
    // SAFETY: no pointers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0) };
    let fd = Errno::result(fd)?;
    // SAFETY: just made, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupts;

    const LONG: Duration = Duration::from_secs(60);

    fn ended(script: &str, longest: Duration) -> io::Result<Ended> {
        let deferred = Deferred::begin().expect("signals");
        run(Command::new("sh").args(["-c", script]), &deferred, longest)
    }

    #[test]
    fn a_program_has_its_status_and_what_it_wrote() {
        let Ok(Ended::ByItself(status, output)) = ended("echo a; echo b >&2; exit 3", LONG) else {
            panic!("it ends by itself");
        };
        assert_eq!((status.code(), &output[..]), (Some(3), &b"a\nb\n"[..]));
        // A process that lives longer has the pipe, and is not waited for.
        let begun = Instant::now();
        assert!(matches!(
            ended("sleep 60 & exit 0", LONG),
            Ok(Ended::ByItself(..))
        ));
        assert!(begun.elapsed() < LONG / 2);
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_all_that_it_started() {
        let begun = Instant::now();
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().display();
        let script = format!("sleep 61 & echo $! > {path}; wait");
        let ended = ended(&script, Duration::from_millis(300));
        assert!(matches!(ended, Ok(Ended::TookTooLong)));
        assert!(begun.elapsed() < LONG / 2);
        let pid = std::fs::read_to_string(file.path()).expect("it was written");
        goes(&pid, begun);
    }

    /// Waits until a process is gone. The reaper of orphans may take a moment.
    fn goes(pid: &str, begun: Instant) {
        let started = format!("/proc/{}/stat", pid.trim());
        let is_gone = || {
            let stat = std::fs::read_to_string(&started);
            stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
        };
        while !is_gone() {
            assert!(begun.elapsed() < LONG / 2, "{started}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Variable that names a file, in which a process that is killed leaves the id of its program.
    const KILLED: &str = "ONPATH_TEST_CHILD";

    #[test]
    fn a_program_ends_with_the_process_that_runs_it() {
        if let Ok(path) = std::env::var(KILLED) {
            let _ = ended(&format!("echo $$ > {path}; exec sleep 62"), LONG);
            return;
        }
        let begun = Instant::now();
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut killed = Command::new(std::env::current_exe().expect("this test"))
            .args([
                "--exact",
                "child::tests::a_program_ends_with_the_process_that_runs_it",
            ])
            .env(KILLED, file.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut pid = String::new();
        while !pid.ends_with('\n') {
            assert!(begun.elapsed() < LONG / 2);
            std::thread::sleep(Duration::from_millis(10));
            pid = std::fs::read_to_string(file.path()).expect("a file");
        }
        killed.kill().expect("it runs");
        killed.wait().expect("it ends");
        goes(&pid, begun);
    }

    #[test]
    fn a_program_that_floods_is_ended() {
        let begun = Instant::now();
        assert!(matches!(ended("yes >&2", LONG), Ok(Ended::WroteTooMuch)));
        assert!(begun.elapsed() < LONG / 2);
        let all = format!("head -c {MOST_OUTPUT} /dev/zero");
        assert!(
            matches!(ended(&all, LONG), Ok(Ended::ByItself(_, output)) if output.len() == MOST_OUTPUT)
        );
    }

    #[test]
    fn an_interrupt_that_is_deferred_ends_a_program_at_once() {
        // In a thread of its own: the mask is a thread's.
        std::thread::spawn(|| {
            let held = Interrupts::hold().unwrap();
            let deferred = Deferred::of_none();
            // SAFETY: a thread may send signals to itself; this one waits for them.
            unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGHUP) };
            let begun = Instant::now();
            let ended = run(Command::new("sleep").arg("60"), &deferred, LONG);
            assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::Interrupted);
            assert!(begun.elapsed() < LONG / 2);
            assert_eq!(held.wait().unwrap(), Signal::SIGHUP, "it is still there");
            std::mem::forget(deferred);
        })
        .join()
        .unwrap();
    }
}
