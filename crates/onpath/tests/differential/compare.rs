//! One program on both sides: the interpreter and the kernel.

use crate::entries::{self, Filled};
use crate::inputs;
use crate::packets::Packets;
use control::Store;
use interp::{Interpreter, Options, Verdict};
use kernel::TestRun;
use kernel::test_run::verdict;
use onpath::driver::{self, Input};
use onpath::output::text_of;
use onpath::xdp::{self, Compiled};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A program compiled for the kernel.
pub struct Prepared {
    program: Arc<ir::Program>,
    sources: diag::SourceMap,
    compiled: Compiled,
}

/// Why there is nothing to compare.
pub enum Unfit {
    /// XDP, by its own word, does not run it.
    Refused,
    /// It should be compiled, and was not.
    Broken(String),
}

/// Compiles a file.
pub fn prepare(file: &Path) -> Result<Prepared, Unfit> {
    let elaborated = driver::elaborate(&Input::file(file))
        .map_err(|r| Unfit::Broken(text_of(&r.diagnostics, &r.map)))?;
    let sources = elaborated.map;
    let program = Arc::new(elaborated.program);
    if program.arch == "V1Switch" {
        return Err(Unfit::Refused);
    }
    let compiled = xdp::compile(
        &program,
        &sources,
        xdp::Request {
            externs: &[],
            observe: true,
        },
    )
    .map_err(|diagnostics| {
        let text = text_of(&diagnostics, &sources);
        // Codes from E0750 on are the kernel's and clang's: then our C is wrong.
        match diagnostics.iter().any(|d| d.code.0 >= "E0750") {
            true => Unfit::Broken(text),
            false => Unfit::Refused,
        }
    })?;
    Ok(Prepared {
        program,
        sources,
        compiled,
    })
}

/// A packet that the two sides treat differently.
#[derive(Debug)]
pub struct Difference {
    /// Which packet of the run.
    pub number: usize,
    /// What happened.
    pub text: String,
}

/// What became of a packet, in one form for both sides.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Fate {
    Drop,
    Aborted,
    Pass(Vec<u8>),
    Tx(Vec<u8>),
    Redirect(u32, Vec<u8>),
}

impl Prepared {
    /// Runs `count` random packets with random entries, all from one seed. `scripts` are STF tests
    /// whose packets are used too, changed.
    pub fn compare(&self, seed: u64, count: usize, scripts: &[PathBuf]) -> Result<(), Difference> {
        let trouble = |text: String| Difference { number: 0, text };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut reference = Interpreter::new(Arc::clone(&self.program), Options::default())
            .map_err(|d| trouble(text_of(&d, &self.sources)))?;
        let instance = kernel::load(
            &self.compiled.object,
            &self.compiled.abi,
            &self.program,
            &self.sources,
        )
        .map_err(|f| trouble(format!("{}\n{}", f.diagnostic.message, tail(&f.log))))?;
        let mut target = TestRun::new(instance);
        let mut filled = entries::choose(&self.program, &mut random);
        let walks = Packets::new(&self.program, &filled.key_values());
        let mut packets: Vec<Vec<u8>> = (0..count).map(|_| walks.packet(&mut random)).collect();
        if !scripts.is_empty() {
            packets.truncate(count / 2);
            packets.extend(inputs::packets_from_scripts(
                scripts,
                count - count / 2,
                &mut random,
            ));
        }
        inputs::aim(&mut filled, &self.program, &packets, &mut random);
        entries::fill(&filled, &mut reference, &mut target).map_err(trouble)?;
        for (number, packet) in packets.iter().enumerate() {
            let port = random.random_range(0..4);
            let expected = reference_fate(&mut reference, port, packet).map_err(trouble)?;
            let found = target
                .run(port, packet)
                .map_err(|e| trouble(e.to_string()))?;
            let found = target_fate(found);
            if expected != found && !too_short(&expected, &found) {
                let text = self.tell(&filled, port, packet, &expected, &found);
                return Err(Difference { number, text });
            }
        }
        self.compare_counters(&reference, &target).map_err(trouble)
    }

    fn compare_counters(&self, reference: &Interpreter, target: &TestRun) -> Result<(), String> {
        for (counter, data) in self.program.externs.iter() {
            if data.ty != "CounterArray" {
                continue;
            }
            for index in 0..256 {
                let (Ok(a), Ok(b)) = (
                    reference.counter(counter, index),
                    target.counter(counter, index),
                ) else {
                    break;
                };
                if a.packets != b.packets {
                    return Err(format!(
                        "counter {}[{index}]: interpreter {}, kernel {}",
                        data.name, a.packets, b.packets
                    ));
                }
            }
        }
        Ok(())
    }

    fn tell(
        &self,
        filled: &Filled,
        port: u32,
        packet: &[u8],
        expected: &Fate,
        found: &Fate,
    ) -> String {
        let mut text = format!(
            "packet {} on port {port}\n  interpreter: {}\n  kernel:      {}\n",
            hex(packet),
            show(expected),
            show(found)
        );
        for (table, entry) in &filled.entries {
            let _ = writeln!(text, "  {} {entry:?}", self.program.tables[*table].name);
        }
        for (table, action) in &filled.defaults {
            let _ = writeln!(
                text,
                "  default of {}: {action:?}",
                self.program.tables[*table].name
            );
        }
        text
    }
}

/// The kernel lets no program make a packet shorter than an Ethernet header.
fn too_short(expected: &Fate, found: &Fate) -> bool {
    let (Fate::Pass(bytes) | Fate::Tx(bytes) | Fate::Redirect(_, bytes)) = expected else {
        return false;
    };
    bytes.len() < 14 && *found == Fate::Aborted
}

fn reference_fate(reference: &mut Interpreter, port: u32, packet: &[u8]) -> Result<Fate, String> {
    let outcome = reference.run(port, packet);
    let bytes = outcome
        .packets
        .into_iter()
        .next()
        .map(|p| p.bytes)
        .unwrap_or_default();
    Ok(match outcome.verdict {
        Verdict::Drop => Fate::Drop,
        Verdict::Aborted => Fate::Aborted,
        Verdict::Pass => Fate::Pass(bytes),
        Verdict::Tx => Fate::Tx(bytes),
        Verdict::Redirect(port) => Fate::Redirect(port, bytes),
        Verdict::Forward(_) | Verdict::Fault(_) => return Err(outcome.verdict.to_string()),
    })
}

fn target_fate(outcome: kernel::test_run::Outcome) -> Fate {
    match outcome.verdict {
        verdict::DROP => Fate::Drop,
        verdict::PASS => Fate::Pass(outcome.bytes),
        verdict::TX => Fate::Tx(outcome.bytes),
        verdict::REDIRECT => Fate::Redirect(outcome.port.unwrap_or(u32::MAX), outcome.bytes),
        _ => Fate::Aborted,
    }
}

fn show(fate: &Fate) -> String {
    match fate {
        Fate::Drop => "dropped".into(),
        Fate::Aborted => "aborted".into(),
        Fate::Pass(bytes) => format!("passed {}", hex(bytes)),
        Fate::Tx(bytes) => format!("sent back {}", hex(bytes)),
        Fate::Redirect(port, bytes) => format!("to port {port} {}", hex(bytes)),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The last lines of a log.
fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
