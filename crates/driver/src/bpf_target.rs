//! From IR to a program for a hook of the kernel: passes, C, clang, budget.

use crate::frontend;
use bpf::abi::{Abi, Hook};
use bpf::{BpfOutput, Options};
use control::Device;
use control::stf::{Script, StatementKind};
use diag::{Diagnostics, SourceMap};
use ir::Program;
use kernel::budget::{self, Budget};
use kernel::build::Built;
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
    /// What the compiler decided: what it keeps where.
    pub decisions: bpf::Report,
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

/// How a program is to be compiled.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Where it is to run.
    pub hook: Hook,
    /// C files for the extern functions that the program declares.
    pub externs: &'a [PathBuf],
    /// For [`TestRun`]: take clock and random numbers from it, and keep where packets are to go for it to
    /// read, instead of sending them there.
    pub observe: bool,
    /// Ask the verifier, where this process may, and make other C if it can make nothing of what clang made.
    /// Who loads the object at once may do without: if it is refused in a way that is [`kernel::build::is_curable`],
    /// it is to be compiled anew with this.
    pub trial: bool,
}

impl Default for Request<'_> {
    /// For XDP, and nothing besides.
    fn default() -> Self {
        Request::hook(Hook::Xdp)
    }
}

impl Request<'_> {
    /// For a hook, and nothing besides.
    pub fn hook(hook: Hook) -> Request<'static> {
        Request {
            hook,
            externs: &[],
            observe: false,
            trial: true,
        }
    }
}

/// The C text for a program as elaborated, or why the hook cannot run it.
pub fn generate(
    program: &Program,
    sources: &SourceMap,
    request: Request,
) -> Result<BpfOutput, Diagnostics> {
    bpf::compile(
        &frontend::optimise(program),
        frontend::optimise_usual(program).as_ref(),
        sources,
        &options(sources, request),
    )
}

fn options(sources: &SourceMap, request: Request) -> Options {
    let file_name = |path: &PathBuf| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    Options {
        hook: request.hook,
        source_name: sources
            .files()
            .next()
            .map(|(_, f)| f.name.clone())
            .unwrap_or_default(),
        extern_files: request.externs.iter().map(file_name).collect(),
        ..Options::default()
    }
}

/// Compiles a program as elaborated.
pub fn compile(
    program: &Program,
    sources: &SourceMap,
    request: Request,
) -> Result<Compiled, Diagnostics> {
    let begun = Instant::now();
    let optimised = frontend::optimise(program);
    let optimised_usual = frontend::optimise_usual(program);
    let passes_time = begun.elapsed();
    let attempt = |options: &Options| -> Result<(Compiled, bool), Diagnostics> {
        let begun = Instant::now();
        let output = bpf::compile(&optimised, optimised_usual.as_ref(), sources, options)?;
        let own_time = passes_time + begun.elapsed();
        let begun = Instant::now();
        let Built { object, outwitted } = object(&output, request).map_err(Diagnostics::from)?;
        let compiled = Compiled {
            budget: budget::read(&object).unwrap_or_default(),
            c_source: output.c_source,
            object,
            abi: Arc::new(output.abi),
            decisions: output.report,
            own_time,
            clang_time: begun.elapsed(),
        };
        Ok((compiled, outwitted))
    };
    let usual = options(sources, request);
    match attempt(&usual) {
        // The stack that clang needs is known only when it is done.
        Err(diagnostics) if diagnostics.iter().any(|d| d.code == clang::STACK_TOO_LARGE) => {
            let options = Options {
                spill_everything: true,
                ..usual
            };
            attempt(&options).map(|(compiled, _)| compiled)
        }
        // Headers in variables are slower, but leave clang less to take apart.
        Ok((compiled, true)) => match attempt(&Options {
            copy_headers: true,
            ..usual
        }) {
            Ok((other, false)) => Ok(other),
            _ => Ok(compiled),
        },
        other => other.map(|(compiled, _)| compiled),
    }
}

fn object(output: &BpfOutput, request: Request) -> Result<Built, Box<diag::Diagnostic>> {
    let mut include_dirs = Vec::new();
    for file in request.externs {
        let path = std::path::absolute(file)
            .and_then(|path| std::fs::metadata(&path).map(|_| path))
            .map_err(|error| kernel::errors::clang::no_extern_file(file, &error))?;
        include_dirs.extend(path.parent().map(PathBuf::from));
    }
    let source = Source {
        text: &output.c_source,
        headers: bpf::headers(),
        include_dirs: &include_dirs,
        defines: if request.observe {
            &[kernel::test_run::OBSERVE]
        } else {
            &[]
        },
        effort: clang::Effort::Full,
    };
    let clang = clang::find()?;
    if request.trial {
        return kernel::build::object(&clang, source);
    }
    Ok(Built {
        object: clang::compile(&clang, source)?,
        outwitted: false,
    })
}

/// Loads a compiled program and makes it a device for a test's packets.
pub fn device(
    compiled: &Compiled,
    program: &Arc<Program>,
    sources: &SourceMap,
    reach: Reach,
    script: &Script,
) -> Result<Box<dyn Device>, Diagnostics> {
    let instance: Instance = kernel::load(&compiled.object, &compiled.abi, program, sources)
        .map_err(|failure| Diagnostics::from(failure.diagnostic))?;
    Ok(match reach {
        Reach::TestRun => Box::new(TestRun::new(instance)),
        Reach::Veth => {
            let ports: Vec<u32> = ports_of(script).into_iter().collect();
            Box::new(VethDevice::new(instance, &ports).map_err(Diagnostics::from)?)
        }
    })
}

/// The ports that a script names.
fn ports_of(script: &Script) -> BTreeSet<u32> {
    script
        .statements
        .iter()
        .flat_map(|statement| match &statement.kind {
            StatementKind::Packet { port, .. } | StatementKind::Expect { port, .. } => {
                std::slice::from_ref(port)
            }
            StatementKind::MulticastGroup { ports, .. } => ports,
            _ => &[],
        })
        .copied()
        .collect()
}
