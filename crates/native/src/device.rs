//! Running program: a process of its own, with its memory in a folder of its own.

use crate::file::Built;
use control::repeatable::{self, RandomLists};
use control::{Packet, Store, StoreError};
use diag::{Diagnostic, Span};
use host::safe_dir::Dir;
use host::scratch::Scratch;
use layout::HashSeeds;
use shm::Shm;
use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

/// File system in memory.
const IN_MEMORY: &str = "/dev/shm";
/// Longest packet, in bytes: `LONGEST` in `native.h`.
const LONGEST: usize = 131_072;
/// Most attempts to run a program whose file is busy, and the pause between them.
const MOST_TRIES: u32 = 1000;
const PAUSE: Duration = Duration::from_millis(1);

// `native.h` has room for this many.
const _: () = assert!(repeatable::NUMBERS == 64);

/// Running program. Its clock and its random numbers are set by the test.
#[derive(Debug)]
pub struct Device {
    store: writers::Store<Shm>,
    process: Child,
    packets: ChildStdin,
    answers: ChildStdout,
    now: u64,
    random: RandomLists,
    out: Vec<Packet>,
    /// Folders of the memory and of the executable. They are separate, since a file system in memory may forbid
    /// execution.
    _folders: [Scratch; 2],
}

impl Built {
    /// Starts the program. Its memory holds only its own entries, and its hashes have no secret.
    ///
    /// # Errors
    /// Its memory cannot be created, or does not have room for its own entries.
    pub fn start(&self) -> Result<Device, Box<Diagnostic>> {
        let failed = |what: &'static str| {
            move |error: io::Error| not_started(&format!("could not {what}: {error}"))
        };
        let folder =
            Scratch::within(Path::new(IN_MEMORY)).map_err(failed("make a folder in memory"))?;
        let memory = Dir::at(folder.path())
            .and_then(|dir| Shm::create(dir, self.memory.clone(), 1, HashSeeds::default()))
            .map_err(failed("make the program's memory"))?;
        memory
            .set_clock(repeatable::START)
            .map_err(failed("set the clock"))?;
        let mut store = writers::Store::new(memory, true);
        let preloaded = store.preload();
        preloaded.map_err(|(_, error)| not_started(&error.to_string()))?;
        let own = Scratch::new().map_err(failed("make a folder"))?;
        let mut process = self
            .run(&own.path().join("program"), &folder.path().join("state"))
            .map_err(failed("run the program"))?;
        let ends = process.stdin.take().zip(process.stdout.take());
        let (packets, answers) = ends.ok_or_else(|| not_started("it has no input"))?;
        Ok(Device {
            store,
            process,
            packets,
            answers,
            now: repeatable::START,
            random: RandomLists::new(repeatable::SEED),
            out: Vec::new(),
            _folders: [folder, own],
        })
    }

    fn run(&self, program: &Path, state: &Path) -> io::Result<Child> {
        fs::write(program, &self.executable)?;
        fs::set_permissions(program, Permissions::from_mode(0o700))?;
        let mut command = Command::new(program);
        command
            .arg(state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // While another thread starts a process, that process has the file open for writing until it executes its own
        // program.
        let is_busy = |error: &io::Error| error.kind() == io::ErrorKind::ExecutableFileBusy;
        let mut started = command.spawn();
        for _ in 0..MOST_TRIES {
            if !started.as_ref().is_err_and(is_busy) {
                break;
            }
            thread::sleep(PAUSE);
            started = command.spawn();
        }
        started
    }
}

fn not_started(why: &str) -> Box<Diagnostic> {
    let message = format!("the native target could not start the program: {why}");
    Box::new(Diagnostic::error("E0720", Span::NONE, message))
}

impl Device {
    /// Runs the program on a packet.
    fn run(&mut self, packet: &Packet) -> io::Result<()> {
        self.now += repeatable::STEP;
        self.store.memory.set_clock(self.now)?;
        let length = packet.bytes.len() as u32;
        let words = [packet.port, length]
            .into_iter()
            .chain(self.random.next_list());
        let mut input: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
        input.extend(&packet.bytes);
        self.packets.write_all(&input)?;
        let [leaves, port, length] = [self.word()?, self.word()?, self.word()?];
        let mut bytes = vec![0; length as usize];
        self.answers.read_exact(&mut bytes)?;
        if leaves != 0 {
            self.out.push(Packet { port, bytes });
        }
        Ok(())
    }

    fn word(&mut self) -> io::Result<u32> {
        let mut word = [0; 4];
        self.answers.read_exact(&mut word)?;
        Ok(u32::from_ne_bytes(word))
    }
}

impl control::Device for Device {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn store_mut(&mut self) -> &mut dyn Store {
        &mut self.store
    }

    fn send(&mut self, packet: &Packet) -> Result<(), StoreError> {
        if packet.bytes.len() > LONGEST {
            let what = format!("the native target takes packets of {LONGEST} bytes at most");
            return Err(StoreError::Unsupported { what });
        }
        self.run(packet).map_err(|error| {
            let ended = self.process.try_wait().ok().flatten();
            let why = ended.map_or(error.to_string(), |status| format!("it ended: {status}"));
            StoreError::System {
                what: format!("the program did not answer a packet: {why}"),
            }
        })
    }

    fn receive(&mut self) -> Result<Vec<Packet>, StoreError> {
        Ok(std::mem::take(&mut self.out))
    }

    fn wait(&mut self, nanoseconds: u64) -> Result<(), StoreError> {
        self.now = self.now.saturating_add(nanoseconds);
        let set = self.store.memory.set_clock(self.now);
        set.map_err(|error| StoreError::System {
            what: format!("could not set the clock: {error}"),
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // A killed process ends immediately.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
