//! From IR to a program in the kernel: passes, C, clang, budget.

use crate::driver;
use bpf::abi::Abi;
use control::Device;
use control::stf::{Script, StatementKind};
use diag::{Diagnostics, SourceMap};
use ir::Program;
use kernel::budget::{self, Budget};
use kernel::clang::{self, Source};
use kernel::{Instance, TestRun, VethDevice};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program compiled to a BPF object.
#[derive(Debug)]
pub struct Compiled {
    /// The C text.
    pub c_source: String,
    /// The object.
    pub object: Vec<u8>,
    /// What is where in its maps.
    pub abi: Arc<Abi>,
    /// What it will cost.
    pub budget: Budget,
    /// How long our own part took, from IR to C; clang's is not in it.
    pub own_time: Duration,
    /// How long clang took.
    pub clang_time: Duration,
}

/// How a test reaches a program in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// By `BPF_PROG_TEST_RUN`.
    TestRun,
    /// Through veth pairs.
    Veth,
}

/// The C text for a program, or why XDP cannot run it.
pub fn generate(program: &Program, sources: &SourceMap) -> Result<bpf::Output, Diagnostics> {
    bpf::compile(&driver::optimise(program), sources)
}

/// Compiles a program as elaborated. With `observe` a redirect's port is kept for
/// [`TestRun`] to read instead of sending the packet there.
pub fn compile(
    program: &Program,
    sources: &SourceMap,
    externs: &[PathBuf],
    observe: bool,
) -> Result<Compiled, Diagnostics> {
    let begun = Instant::now();
    let output = generate(program, sources)?;
    let own_time = begun.elapsed();
    let begun = Instant::now();
    let object = object(&output, externs, observe).map_err(|diagnostic| {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic);
        diagnostics
    })?;
    Ok(Compiled {
        budget: budget::read(&object).unwrap_or_default(),
        c_source: output.c_source,
        object,
        abi: Arc::new(output.abi),
        own_time,
        clang_time: begun.elapsed(),
    })
}

fn object(
    output: &bpf::Output,
    externs: &[PathBuf],
    observe: bool,
) -> Result<Vec<u8>, diag::Diagnostic> {
    let clang = clang::find()?;
    let source = Source {
        text: &output.c_source,
        headers: bpf::HEADERS,
        include_dirs: &[],
        defines: if observe { &[kernel::test_run::OBSERVE] } else { &[] },
        externs,
    };
    clang::compile(&clang, source)
}

/// Loads a compiled program and makes it a device for a test's packets.
pub fn device(
    compiled: &Compiled,
    program: &Arc<Program>,
    sources: &SourceMap,
    reach: Reach,
    script: &Script,
) -> Result<Box<dyn Device>, Diagnostics> {
    let one = |diagnostic| {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic);
        diagnostics
    };
    let instance: Instance = kernel::load(&compiled.object, &compiled.abi, program, sources)
        .map_err(|failure| one(failure.diagnostic))?;
    Ok(match reach {
        Reach::TestRun => Box::new(TestRun::new(instance)),
        Reach::Veth => {
            let ports: Vec<u32> = ports_of(script).into_iter().collect();
            Box::new(VethDevice::new(instance, &ports).map_err(one)?)
        }
    })
}

/// The ports that a script names.
fn ports_of(script: &Script) -> BTreeSet<u32> {
    script
        .statements
        .iter()
        .filter_map(|statement| match statement.kind {
            StatementKind::Packet { port, .. } | StatementKind::Expect { port, .. } => Some(port),
            _ => None,
        })
        .collect()
}
