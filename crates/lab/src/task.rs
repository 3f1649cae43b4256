//! Program that runs in the background.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, ChildStdout};

/// Running program; dropping the value kills it.
#[derive(Debug)]
pub struct Task {
    child: Child,
    output: Option<BufReader<ChildStdout>>,
}

impl Task {
    pub(crate) fn new(mut child: Child) -> Task {
        let output = child.stdout.take().map(BufReader::new);
        Task { child, output }
    }

    /// Returns its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line of its standard output that contains the text. If the program ends without one, that is an
    /// error.
    pub fn wait_for(&mut self, text: &str) -> io::Result<()> {
        let mut line = String::new();
        while let Some(output) = &mut self.output {
            line.clear();
            if output.read_line(&mut line)? == 0 {
                break;
            }
            if line.contains(text) {
                return Ok(());
            }
        }
        Err(io::Error::other(format!(
            "a program ended without printing `{text}`"
        )))
    }

    /// Returns a reader of its standard output.
    pub fn reader(&mut self) -> io::Result<&mut impl BufRead> {
        self.output
            .as_mut()
            .ok_or_else(|| io::Error::other("its output is not captured"))
    }

    /// Waits for its end, and returns true if it succeeded.
    pub fn finish(mut self) -> io::Result<bool> {
        if let Some(output) = &mut self.output {
            io::copy(output, &mut io::sink())?;
        }
        Ok(self.child.wait()?.success())
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use crate::Space;
    use std::path::Path;

    #[test]
    fn a_program_that_is_dropped_is_gone() {
        let space = Space::new().expect("this test needs root");
        let task = space.start(&["sleep", "600"]).expect("starts");
        let process = format!("/proc/{}", task.id());
        assert!(Path::new(&process).exists());
        drop(task);
        assert!(!Path::new(&process).exists());
        let mut task = space.start(&["echo", "one two"]).expect("starts");
        task.wait_for("two").expect("printed");
        assert!(task.wait_for("three").is_err());
        assert!(task.finish().expect("ends"));
    }
}
