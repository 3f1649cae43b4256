//! Comparison of one program on the interpreter and in the kernel.

use crate::fate::{self, Seen};
use arch::tc::Direction;
use bpf::abi::Hook;
use bpf::{Outlining, ParseRecord};
use control::{Change, CloneSession, Device, Replica, Store, StoreError};
use diag::render_plain;
use driver::Input;
use driver::bpf_target::{self, Compiled, Request};
use interp::{Interpreter, Marks, Options};
use kernel::TestRun;
use kernel::features::Kernel;
use kernel::sys::TcContext;
use kernel::test_run::shortest;
use layout::Structure;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::entries::{self, Filled};
use testkit::packets::Packets;
use testkit::{changes, inputs, state};

/// A program compiled for the kernel.
pub(crate) struct Prepared {
    program: Arc<ir::Program>,
    sources: diag::SourceMap,
    compiled: Compiled,
    hook: Hook,
}

/// Reason why a program cannot be compared.
pub(crate) enum Unfit {
    /// The hook does not run its architecture.
    OtherModel,
    /// The hook refuses it with a diagnostic.
    Refused(String),
    /// It should compile, but did not.
    Broken(String),
}

/// Multicast groups that both sides have.
const GROUPS: std::ops::RangeInclusive<u16> = 1..=3;
/// Clone sessions that both sides have, if they have any.
const SESSIONS: std::ops::RangeInclusive<u32> = 0..=2;

/// Maximum number of times that the kernel resubmits or recirculates a packet.
const KERNEL_ROUNDS: u32 = 32;

/// Variants of generated code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variants {
    /// Kernel whose features are used.
    pub kernel: Kernel,
    pub parse_record: ParseRecord,
    pub layout: Option<Structure>,
    /// Outlined functions.
    pub outline: Option<Outlining>,
}

/// Compiles a file for a hook.
pub(crate) fn prepare(file: &Path, hook: Hook, variants: Variants) -> Result<Prepared, Unfit> {
    let elaborated = driver::elaborate(&Input {
        include: vec![testkit::relay::folder()],
        ..Input::file(file)
    })
    .map_err(|r| Unfit::Broken(render_plain(&r.diagnostics, &r.map)))?;
    let sources = elaborated.map;
    let program = Arc::new(elaborated.program);
    if !crate::has(hook, &program.arch) {
        return Err(Unfit::OtherModel);
    }
    let request = Request {
        observe: true,
        kernel: variants.kernel,
        parse_record: variants.parse_record,
        layout: variants.layout,
        outline: variants.outline,
        ..Request::hook(hook)
    };
    let compiled = bpf_target::compile(&program, &sources, request).map_err(|diagnostics| {
        let text = render_plain(&diagnostics, &sources);
        // Codes from E0750 on are the kernel's and clang's, so the generated C is wrong.
        match diagnostics.iter().any(|d| d.code.0 >= "E0750") {
            true => Unfit::Broken(text),
            false => Unfit::Refused(text),
        }
    })?;
    Ok(Prepared {
        program,
        sources,
        compiled,
        hook,
    })
}

/// A packet with different results on the two sides.
#[derive(Debug)]
pub(crate) struct Difference {
    /// Index of the packet in the run.
    pub number: usize,
    /// Description of the difference.
    pub text: String,
}

impl Prepared {
    /// Runs `count` random packets with random entries, all from one seed. Mutated packets of the STF tests in
    /// `scripts` are among them.
    pub(crate) fn compare(
        &self,
        seed: u64,
        count: usize,
        scripts: &[PathBuf],
    ) -> Result<(), Difference> {
        let trouble = |text: String| Difference { number: 0, text };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let options = Options {
            direction: match self.hook {
                Hook::TcEgress => Direction::Egress,
                _ => Direction::Ingress,
            },
            rounds: KERNEL_ROUNDS,
            ..Options::default()
        };
        let mut reference = Interpreter::new(Arc::clone(&self.program), options)
            .map_err(|d| trouble(render_plain(&d, &self.sources)))?;
        let instance = kernel::load(
            &self.compiled.object,
            &self.compiled.abi,
            &self.compiled.schema,
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
                // The longest packet that a test run at traffic control accepts.
                kernel::test_run::LONGEST,
                &mut random,
            ));
        }
        inputs::aim(&mut filled, &self.program, &packets, &mut random);
        entries::fill(&filled, &mut reference, target.store_mut()).map_err(trouble)?;
        let arch = arch::by_package(&self.program.arch);
        let is_switch = arch.is_some_and(|arch| arch.model == arch::Model::Pipeline);
        let copies_differ = is_switch && arch::v1model::copies_differ(&self.program);
        let has_groups = arch.is_some_and(|arch| arch.group_field.is_some());
        if has_groups && self.hook != Hook::Xdp {
            let traffic = &self.compiled.abi.traffic;
            let with_ids = traffic.groups.is_some();
            make_groups(&mut reference, &mut target, with_ids, &mut random).map_err(trouble)?;
            if traffic.sessions.is_some() {
                make_sessions(&mut reference, &mut target, &mut random).map_err(trouble)?;
            }
        }
        for (number, packet) in packets.iter().enumerate() {
            if number == packets.len() / 2 {
                changes::change(
                    &mut filled,
                    &self.program,
                    &mut random,
                    &mut reference,
                    target.store_mut(),
                )
                .map_err(trouble)?;
            }
            if packet.len() < shortest(self.hook, packet) {
                continue;
            }
            let port = random.random_range(0..4);
            let marks = self.marks(&mut random);
            let outcome = reference.run_marked(port, packet, marks);
            let expected =
                fate::of_reference(outcome, self.hook, copies_differ).map_err(trouble)?;
            let context = TcContext {
                mark: marks.mark,
                priority: marks.priority,
                ..TcContext::default()
            };
            let found = match target.run_in(port, packet, context) {
                // A recirculated packet is too short for a test run, so the rest of the result is unknown.
                Err(StoreError::Unsupported { .. }) if copies_differ => return Ok(()),
                found => found.map_err(|e| trouble(e.to_string()))?,
            };
            let found = fate::of_target(found, &self.program);
            if expected != found && !fate::too_short(packet, &expected, &found, self.hook) {
                let text = self.report(&filled, port, packet, &expected, &found);
                return Err(Difference { number, text });
            }
        }
        state::compare(&reference, target.store()).map_err(trouble)
    }

    /// Returns random metadata of a packet.
    fn marks(&self, random: &mut ChaCha8Rng) -> Marks {
        if self.hook == Hook::Xdp || random.random() {
            return Marks::default();
        }
        Marks {
            mark: random.random(),
            priority: random.random(),
            queue: 0,
        }
    }

    fn report(
        &self,
        filled: &Filled,
        port: u32,
        packet: &[u8],
        expected: &Seen,
        found: &Seen,
    ) -> String {
        let mut text = format!(
            "packet {} on port {port}\n  interpreter: {}\n  kernel:      {}\n",
            fate::hex(packet),
            expected,
            found
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

fn make_groups(
    reference: &mut Interpreter,
    target: &mut TestRun,
    copies_differ: bool,
    random: &mut ChaCha8Rng,
) -> Result<(), String> {
    for group in GROUPS {
        let replicas = replicas(copies_differ, random);
        for store in [&mut *reference as &mut dyn Store, target.store_mut()] {
            store
                .change(Change::Group(group, replicas.to_vec()))
                .map_err(|e| format!("group {group}: {e}"))?;
        }
    }
    Ok(())
}

fn make_sessions(
    reference: &mut Interpreter,
    target: &mut TestRun,
    random: &mut ChaCha8Rng,
) -> Result<(), String> {
    for number in SESSIONS {
        let session = CloneSession {
            replicas: replicas(true, random),
            group: random.random_bool(0.3).then(|| random.random_range(1..5)),
            truncate: random.random_bool(0.3).then(|| random.random_range(14..40)),
        };
        for store in [&mut *reference as &mut dyn Store, target.store_mut()] {
            store
                .change(Change::Session(number, Some(session.clone())))
                .map_err(|e| format!("session {number}: {e}"))?;
        }
    }
    Ok(())
}

fn replicas(with_ids: bool, random: &mut ChaCha8Rng) -> Vec<Replica> {
    let count = random.random_range(0..4);
    let mut any = || Replica {
        port: random.random_range(0..8),
        rid: match with_ids {
            true => random.random_range(0..3),
            false => 0,
        },
    };
    (0..count).map(|_| any()).collect()
}

/// Returns the last lines of a log.
fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
