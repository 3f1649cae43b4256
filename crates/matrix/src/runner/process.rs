//! Process whose lines are read as they come. It is killed if none comes for too long.

use crate::interrupt;
use crate::trial::Outcome;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Time to read the remaining output of a process that has ended, while others keep its pipes open.
const REST: Duration = Duration::from_secs(2);
/// Interval at which a silent process is polled.
const SLICE: Duration = Duration::from_millis(200);

/// Runs a command, and passes each line that it prints to `line`. Returns how it ended and all of its lines. A status
/// other than 0 is a failure. Lines of standard output and standard error are in the order in which they came. An
/// interrupt is an error.
pub(super) fn run(
    command: &mut Command,
    patience: Duration,
    mut line: impl FnMut(&str),
) -> io::Result<(Outcome, String)> {
    let (reader, writer) = io::pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    let mut child = command.spawn()?;
    // The command's own ends of the pipe would keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (sender, lines) = channel();
    thread::spawn(move || read(reader, &sender));
    let mut text = String::new();
    let mut last = Instant::now();
    let mut ended: Option<Instant> = None;
    let hung = loop {
        if interrupt::is_requested() {
            kill(&child);
            child.wait()?;
            return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted"));
        }
        match lines.recv_timeout(SLICE) {
            Ok(next) => {
                last = Instant::now();
                line(&next);
                text.push_str(&next);
                text.push('\n');
            }
            // Processes that it started may keep the pipes open after its end.
            Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_some() => {
                if ended.get_or_insert_with(Instant::now).elapsed() > REST {
                    break false;
                }
            }
            Err(RecvTimeoutError::Timeout) if last.elapsed() > patience => break true,
            Err(RecvTimeoutError::Timeout) => {}
            // All writers have closed the pipe: it has ended, or will at once.
            Err(RecvTimeoutError::Disconnected) => break false,
        }
    };
    if hung {
        kill(&child);
    }
    let status = child.wait()?;
    let outcome = match status.code() {
        _ if hung => Outcome::Hung,
        Some(0) => Outcome::Passed,
        Some(_) => Outcome::Failed,
        None => Outcome::Crashed,
    };
    Ok((outcome, text))
}

/// Runs a command that prints something at least this often. A command that cannot be run is a failure.
pub(super) fn finish(command: &mut Command, patience: Duration) -> (Outcome, String) {
    run(command, patience, |_| {}).unwrap_or_else(|error| (Outcome::Failed, error.to_string()))
}

/// Kills a process and its process group. If they have ended, nothing happens.
fn kill(child: &Child) {
    let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
}

fn read(pipe: impl Read, lines: &Sender<String>) {
    let mut reader = BufReader::new(pipe);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).is_ok_and(|n| n > 0) {
        let line = String::from_utf8_lossy(&bytes);
        if lines.send(line.trim_end_matches('\n').to_string()).is_err() {
            break;
        }
        bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: u64) -> (Outcome, String) {
        let mut command = Command::new("sh");
        run(
            command.args(["-c", script]),
            Duration::from_millis(patience),
            |_| {},
        )
        .expect("runs")
    }

    #[test]
    fn the_end_of_a_process_and_its_lines_are_reported() {
        assert_eq!(
            shell("echo a; echo b", 10_000),
            (Outcome::Passed, "a\nb\n".to_string())
        );
        assert_eq!(
            shell("echo a >&2; exit 3", 10_000),
            (Outcome::Failed, "a\n".to_string())
        );
        assert_eq!(shell("kill -SEGV $$", 10_000).0, Outcome::Crashed);
    }

    #[test]
    fn what_it_leaves_running_is_not_waited_for() {
        let begun = Instant::now();
        assert_eq!(
            shell("sleep 60 & echo a", 50_000),
            (Outcome::Passed, "a\n".to_string())
        );
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn one_that_prints_nothing_is_killed_with_what_it_started() {
        assert_eq!(
            shell("echo a; sleep 60 & sleep 60", 300),
            (Outcome::Hung, "a\n".to_string())
        );
    }
}
