//! From IR to a program for a hook of the kernel: passes, C, clang, budget.

use crate::strategy::{self, Failed, Outcome, Strategy, Tried};
use crate::{frontend, stack};
use bpf::abi::{Abi, Hook};
use bpf::costs::forecast::Forecast;
use bpf::costs::limits::{self, Length};
use bpf::features::{Feature, Features};
use bpf::uses::{Construct, Use};
use bpf::{BpfOutput, Options, Outlining, ParseRecord};
use clang::{Cause, Clang, Effort, Jumps, NoObject, Source};
use control::Device;
use control::stf::{Script, StatementKind};
use diag::{Diagnostic, Diagnostics, SourceMap};
use host::files;
use ir::Program;
use kernel::budget::{self, Budget};
use kernel::build::{self, Obstacle};
use kernel::features::Kernel;
use kernel::{Instance, TestRun, VethDevice};
use layout::Structure;
use schema::Schema;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use syntax::COMMAND_LINE;

/// A program compiled to a BPF object.
#[derive(Debug)]
pub struct Compiled {
    /// The C text.
    pub c_source: String,
    /// The object.
    pub object: Vec<u8>,
    /// Layout of its maps.
    pub abi: Arc<Abi>,
    /// Control-plane view of the program: its tables, actions and other objects.
    pub schema: Arc<Schema>,
    /// Instructions and stack of each function.
    pub budget: Budget,
    /// Report of the compiler's decisions, such as which headers are copied to variables.
    pub decisions: bpf::Report,
    /// Strategy by which it was compiled.
    pub strategy: &'static Strategy,
    /// Strategies that failed. If they include `strategy`, the verifier rejected the objects of all of them.
    pub failed: Vec<Failed>,
    /// Compiler time, from IR to C, without clang. This time and the next two are sums over all strategies that were
    /// tried.
    pub compiler_time: Duration,
    /// Time that clang took.
    pub clang_time: Duration,
    /// Time that the verifier took, if it was asked; see [`Request::trial`].
    pub verify_time: Duration,
}

impl Compiled {
    /// Returns true if the verifier rejected the objects of all strategies.
    pub fn is_refused(&self) -> bool {
        let mut failed = self.failed.iter();
        failed.any(|failed| failed.strategy == self.strategy)
    }
}

/// Means by which a test sends packets to a program in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// By `BPF_PROG_TEST_RUN`.
    TestRun,
    /// Through veth pairs.
    Veth,
}

/// Options of a compilation.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Hook at which the program is to run.
    pub hook: Hook,
    /// C files for the extern functions that the program declares.
    pub externs: &'a [PathBuf],
    /// True for [`TestRun`], which then supplies the clock and the random numbers. Instead of sending packets, the
    /// program records their destinations for it.
    pub observe: bool,
    /// Objects that the verifier is asked about, if this process may ask it.
    pub trial: Trial<'a>,
    /// The kernel that is to run it.
    pub kernel: Kernel,
    /// Programs whose parse results are kept in a per-CPU map.
    pub parse_record: ParseRecord,
    /// The layout of tables whose entries may overlap, if they do not say which they want.
    pub layout: Option<Structure>,
    /// Bytes that each table may take for a faster search, instead of the default.
    pub table_memory: Option<u64>,
    /// Size and number of outlined functions, for any program; `None` outlines in large programs only.
    pub outline: Option<Outlining>,
    /// Skips the attempt at one function if the verifier is likely to reject it.
    pub soon: bool,
    /// Receives a notice before work that takes more than a few seconds.
    pub notice: &'a dyn Fn(&str),
}

/// Objects that the verifier is asked about during a compilation. If it rejects one, another strategy is tried.
#[derive(Clone, Copy, Debug)]
pub enum Trial<'a> {
    /// None, for a caller that loads the object at once. If the refusal has an [`Obstacle`], the caller compiles
    /// again with [`Trial::Others`].
    None,
    /// Every object.
    Each,
    /// Every object but the first, which the kernel has already rejected.
    Others(Refused<'a>),
}

/// Object of a compilation without a trial, rejected by the verifier.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// The object.
    pub object: &'a [u8],
    /// Obstacle that another compilation may overcome.
    pub obstacle: Obstacle,
    /// The verifier's reason.
    pub reason: &'a str,
}

impl Default for Request<'_> {
    /// Returns the default options for XDP.
    fn default() -> Self {
        Request::hook(Hook::Xdp)
    }
}

impl Request<'_> {
    /// Returns the default options for a hook.
    pub fn hook(hook: Hook) -> Request<'static> {
        Request {
            hook,
            externs: &[],
            observe: false,
            trial: Trial::Each,
            kernel: Kernel::This,
            parse_record: ParseRecord::BySize,
            layout: None,
            table_memory: None,
            outline: None,
            soon: false,
            notice: &|_| {},
        }
    }
}

/// Generates C for an elaborated program. Fails if the hook cannot run it.
pub fn generate(
    program: &Program,
    sources: &SourceMap,
    request: Request,
) -> Result<BpfOutput, Diagnostics> {
    bpf::compile(
        &optimised(program, request),
        frontend::optimise_fast_path(program, follows_iterations(&request.kernel.features()))
            .as_ref(),
        sources,
        &options(sources, request, request.kernel.features()),
    )
}

/// Makes the checks of [`compile`] that need neither clang nor the kernel: the program's size, then [`generate`].
pub fn check(
    program: &Program,
    sources: &SourceMap,
    request: Request,
) -> Result<BpfOutput, Diagnostics> {
    let follows_iterations = follows_iterations(&request.kernel.features());
    Forecast::of(&frontend::optimise_for_outlining(
        program,
        follows_iterations,
    ))
    .check(request.hook)?;
    generate(program, sources, request)
}

/// Runs the passes on a program, without jump threading if functions are to be outlined.
fn optimised(program: &Program, request: Request) -> Program {
    let for_outlining =
        frontend::optimise_for_outlining(program, follows_iterations(&request.kernel.features()));
    match request.outline {
        Some(_) => for_outlining,
        None => frontend::with_entries(for_outlining),
    }
}

/// Returns true if the verifier processes every iteration of a loop.
fn follows_iterations(features: &Features) -> bool {
    !features.has(Feature::MayGoto)
}

/// Returns the name of a file as C includes it.
pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn options(sources: &SourceMap, request: Request, features: Features) -> Options {
    Options {
        hook: request.hook,
        source_name: sources
            .files()
            .map(|(_, file)| &file.name)
            .find(|name| *name != COMMAND_LINE)
            .cloned()
            .unwrap_or_default(),
        extern_files: request.externs.iter().map(|file| file_name(file)).collect(),
        features,
        parse_record: request.parse_record,
        layout: request.layout,
        table_memory: request.table_memory,
        outline: request.outline,
        ..Options::default()
    }
}

/// Compiles an elaborated program, by the first of [`STRATEGIES`](crate::strategy::STRATEGIES) that works.
pub fn compile(
    program: &Program,
    sources: &SourceMap,
    request: Request,
) -> Result<Compiled, Diagnostics> {
    let mut attempts = Attempts::begin(program, sources, request)?;
    let tried = strategy::try_all(|strategy| attempts.by(strategy))?;
    let Tried {
        made: (object, output),
        strategy,
        failed,
    } = tried;
    let times = attempts.times;
    Ok(Compiled {
        budget: budget::read(&object).unwrap_or_default(),
        c_source: output.c_source,
        object,
        abi: Arc::new(output.abi),
        schema: Arc::new(Schema::of(program)),
        decisions: output.report,
        strategy,
        failed,
        compiler_time: times.own,
        clang_time: times.clang,
        verify_time: times.verifier,
    })
}

/// Attempts at compiling one program.
struct Attempts<'a> {
    sources: &'a SourceMap,
    request: Request<'a>,
    features: Features,
    forecast: Forecast,
    /// Optimised program for strategies that outline functions.
    for_outlining: Program,
    /// Optimised program for the other strategies.
    whole: OnceCell<Program>,
    fast_path: Option<Program>,
    /// C texts that were compiled, each with clang's effort.
    made: HashSet<(String, Effort)>,
    /// Last generated C with its options: strategies that differ in clang's effort only share it.
    last: Option<((Options, bool), BpfOutput)>,
    /// Report of the first strategy's decisions.
    first: Option<bpf::Report>,
    /// True if the outlined functions exceed the verifier's limit. It processes each of them once, however often they
    /// are called, so one function would exceed the limit further.
    too_large_outlined: bool,
    times: Times,
}

impl<'a> Attempts<'a> {
    /// Runs the passes. Fails if the program is too large for any strategy.
    fn begin(
        program: &Program,
        sources: &'a SourceMap,
        request: Request<'a>,
    ) -> Result<Attempts<'a>, Diagnostics> {
        let features = usable(request.kernel.features());
        let begun = Instant::now();
        let for_outlining =
            frontend::optimise_for_outlining(program, follows_iterations(&features));
        let forecast = Forecast::of(&for_outlining);
        forecast.check(request.hook)?;
        let own = begun.elapsed();
        Ok(Attempts {
            sources,
            request,
            features,
            forecast,
            for_outlining,
            whole: OnceCell::new(),
            fast_path: frontend::optimise_fast_path(program, follows_iterations(&features)),
            made: HashSet::new(),
            last: None,
            first: None,
            too_large_outlined: false,
            times: Times {
                own,
                ..Times::default()
            },
        })
    }

    /// Tries a strategy and returns its outcome.
    fn by(&mut self, strategy: &Strategy) -> Outcome<Made> {
        if let Some(first) = &self.first {
            if !strategy.differs(first) {
                return Outcome::Repeated;
            }
        } else if let (None, Some(report)) = (self.request.outline, self.forecast.long()) {
            let long = self.too_long(&report);
            self.first = Some(report);
            return long;
        }
        let output = match self.output(strategy) {
            Ok(output) => output,
            Err(refused) => return Outcome::Refused(refused),
        };
        let is_first = self.first.is_none();
        self.first.get_or_insert_with(|| output.report.clone());
        if strategy.outlines && output.report.outlined == 0 {
            return Outcome::Repeated;
        }
        match limits::length(&self.features, &output.report) {
            Length::Long | Length::Excessive if is_first => return self.too_long(&output.report),
            Length::Fits if is_first && self.request.soon && limits::is_risky(&output.report) => {
                return self.too_long(&output.report);
            }
            Length::Excessive => return Outcome::Repeated,
            Length::Long if self.too_large_outlined => return Outcome::Repeated,
            Length::Long | Length::Fits => {}
        }
        if !self.made.insert((output.c_source.clone(), strategy.effort)) {
            return Outcome::Repeated;
        }
        let outcome = match self.request.trial {
            Trial::Others(refused) if self.made.len() == 1 => {
                let made = (refused.object.to_vec(), output);
                let reason = refused.reason.to_owned();
                obstructed(refused.obstacle, reason, made, &self.for_outlining)
            }
            _ => attempt(
                output,
                &self.for_outlining,
                self.request,
                self.features,
                strategy.effort,
                &mut self.times,
            ),
        };
        let is_too_large = matches!(&outcome, Outcome::Obstructed(Obstacle::TooLarge, ..));
        self.too_large_outlined |= strategy.outlines && is_too_large;
        outcome
    }

    /// Generates the C of a strategy.
    fn output(&mut self, strategy: &Strategy) -> Result<BpfOutput, Diagnostics> {
        let asked = options(self.sources, self.request, self.features);
        let outline = match &self.first {
            Some(first) if strategy.outlines => Some(limits::outlining(
                &self.for_outlining,
                first,
                strategy.programs,
            )),
            _ => asked.outline,
        };
        let options = Options {
            spill_everything: strategy.spill_everything,
            copy_headers: strategy.copy_headers,
            parse_record: asked.parse_record.max(strategy.parse_record),
            parser_iterations: strategy.parser_iterations,
            outline,
            ..asked
        };
        let form = (options, strategy.fast_path);
        if let Some((_, output)) = self.last.as_ref().filter(|(known, _)| *known == form) {
            return Ok(output.clone());
        }
        let begun = Instant::now();
        let full = match strategy.outlines || self.request.outline.is_some() {
            true => &self.for_outlining,
            false => self
                .whole
                .get_or_init(|| frontend::with_entries(self.for_outlining.clone())),
        };
        let fast_path = self.fast_path.as_ref().filter(|_| strategy.fast_path);
        let compiled = bpf::compile(full, fast_path, self.sources, &form.0);
        self.times.own += begun.elapsed();
        let output = compiled?;
        self.last = Some((form, output.clone()));
        Ok(output)
    }

    /// Returns the outcome for a program that is too long for one function.
    fn too_long(&self, report: &bpf::Report) -> Outcome<Made> {
        let refused = limits::too_long(
            &self.for_outlining,
            self.request.hook,
            &self.features,
            report,
        );
        let instructions = report.longest_estimate;
        let reason = format!("about {instructions} instructions are too many for one function");
        Outcome::Obstructed(Obstacle::TooLong, reason, Err(Box::new(refused).into()))
    }
}

/// Explains clang's refusal of a jump that is too far. clang reports no location. If the program's own C is short,
/// the jump is in the C files of its extern functions.
fn too_far(
    refused: Diagnostic,
    request: Request,
    report: &bpf::Report,
    program: &Program,
) -> Diagnostic {
    if !request.externs.is_empty() && limits::is_short(report) {
        let files: Vec<String> = request.externs.iter().map(|file| file_name(file)).collect();
        return *clang::errors::extern_too_long(&files);
    }
    let mut refused = refused.label("this is the longest part");
    refused.primary.span = limits::longest_part(program);
    refused
}

/// Times of all strategies together.
#[derive(Default)]
struct Times {
    own: Duration,
    clang: Duration,
    verifier: Duration,
}

/// Returns the kernel's features that clang can use too.
fn usable(kernel: Features) -> Features {
    let too_old = |clang: Clang| clang.version < clang::LONG_JUMPS;
    let lacks = |feature| feature == Feature::LongJumps && clang::find().is_ok_and(too_old);
    Features::which(|feature| kernel.has(feature) && !lacks(feature))
}

/// An object, and the generated C with its ABI and report.
type Made = (Vec<u8>, BpfOutput);

/// Has clang make an object of a program, and asks the verifier about it if that is wanted.
fn attempt(
    mut output: BpfOutput,
    program: &Program,
    request: Request,
    features: Features,
    effort: Effort,
    times: &mut Times,
) -> Outcome<Made> {
    let begun = Instant::now();
    if let Some(seconds) = limits::seconds(&output.report) {
        (request.notice)(&slow(&output.report, seconds));
    }
    let has_long = features.has(Feature::LongJumps);
    let mut jumps = match has_long && limits::needs_long_jumps(&output.report) {
        true => Jumps::Long,
        false => Jumps::Short,
    };
    let mut made = object(&output, request, effort, jumps);
    if has_long && matches!(&made, Err(failed) if failed.cause == Cause::TooLong) {
        jumps = Jumps::Long;
        made = object(&output, request, effort, jumps);
    }
    times.clang += begun.elapsed();
    if jumps == Jumps::Long {
        output.abi.uses.push(Use {
            construct: Construct::LongJumps,
            by: Some(Feature::LongJumps),
        });
    }
    let object = made;
    let object = match object {
        Ok(object) => object,
        Err(NoObject { diagnostic, cause }) => {
            let reason = diagnostic.message.clone();
            let report = &output.report;
            let (obstacle, refused) = match cause {
                Cause::Stack => (
                    Obstacle::Stack,
                    stack::explain(*diagnostic, program, &report.copied_headers),
                ),
                Cause::StackOfExtern => (Obstacle::Stack, *diagnostic),
                Cause::TooLong => (
                    Obstacle::TooLong,
                    too_far(*diagnostic, request, report, program),
                ),
                Cause::Other => {
                    let refused = with_prototypes(*diagnostic, request, program);
                    return Outcome::Refused(Box::new(refused).into());
                }
            };
            return Outcome::Obstructed(obstacle, reason, Err(Box::new(refused).into()));
        }
    };
    if matches!(request.trial, Trial::None) {
        return Outcome::Made((object, output));
    }
    let build::Trial { obstacle, took } = build::trial(&object);
    times.verifier += took;
    match obstacle {
        None => Outcome::Made((object, output)),
        Some((obstacle, reason)) => obstructed(obstacle, reason, (object, output), program),
    }
}

/// Adds to a refusal by clang the prototypes that the user's C files should have.
fn with_prototypes(refused: Diagnostic, request: Request, program: &Program) -> Diagnostic {
    let is_user = |name: &str| externs::find(name).is_none();
    let wanted = match request.externs.is_empty() || !clang::errors::is_wrong_c(&refused) {
        true => Vec::new(),
        false => emit::native::prototypes(program, is_user),
    };
    let wanted: Vec<String> = wanted
        .iter()
        .map(|prototype| format!("`{prototype}`"))
        .collect();
    match (wanted.is_empty(), &refused.help) {
        (false, Some(help)) => {
            let help = format!("the program calls {}; {help}", wanted.join(" and "));
            refused.help(help)
        }
        _ => refused,
    }
}

/// Returns a program's texts with the C files of its extern functions, as the kernel's refusals may be located there.
pub fn with_externs(sources: &SourceMap, externs: &[PathBuf]) -> SourceMap {
    let mut all = sources.clone();
    for file in externs {
        if let Ok(text) = files::read_text(file) {
            all.add(file.display().to_string(), text);
        }
    }
    all
}

/// Returns the notice for a program that takes long to compile.
fn slow(report: &bpf::Report, seconds: u32) -> String {
    let instructions = report.instruction_estimate;
    let functions = match report.outlined {
        0 => "one function".to_owned(),
        outlined => format!("{} functions", outlined + report.programs),
    };
    let programs = match report.programs {
        0 | 1 => String::new(),
        programs => format!(" in {programs} programs"),
    };
    format!(
        "compiling about {instructions} instructions as {functions}{programs}: this may take {seconds} seconds or more"
    )
}

/// Returns the outcome for an object that the verifier rejected.
fn obstructed(obstacle: Obstacle, reason: String, made: Made, program: &Program) -> Outcome<Made> {
    let otherwise = match obstacle {
        // Each function fits the stack, but a call chain of them does not. clang cannot know that.
        Obstacle::Stack => {
            let refused = *clang::errors::stack_too_large(&reason);
            let copied = &made.1.report.copied_headers;
            Err(Box::new(stack::explain(refused, program, copied)).into())
        }
        Obstacle::LostPointer | Obstacle::TooLarge | Obstacle::TooLong => Ok(made),
    };
    Outcome::Obstructed(obstacle, reason, otherwise)
}

fn object(
    output: &BpfOutput,
    request: Request,
    effort: Effort,
    jumps: Jumps,
) -> Result<Vec<u8>, NoObject> {
    let include_dirs = extern_folders(request.externs)?;
    let defines: Vec<&str> = [
        request.observe.then_some(kernel::test_run::OBSERVE),
        limits::is_long(&output.report).then_some(clang::LONG),
    ]
    .into_iter()
    .flatten()
    .collect();
    let source = Source {
        text: &output.c_source,
        headers: bpf::headers(),
        include_dirs: &include_dirs,
        defines: &defines,
        effort,
        jumps,
    };
    clang::compile(&clang::find()?, source)
}

/// Returns the folders of the C files of extern functions. Fails if one of the files cannot be read.
pub(crate) fn extern_folders(externs: &[PathBuf]) -> Result<Vec<PathBuf>, Box<Diagnostic>> {
    let mut folders = Vec::new();
    for file in externs {
        let path = std::path::absolute(file);
        let path = path.and_then(|path| files::check(&path).map(|()| path));
        let path = path.map_err(|error| clang::errors::no_extern_file(file, &error))?;
        folders.extend(path.parent().map(PathBuf::from));
    }
    Ok(folders)
}

/// Loads a compiled program and makes it a device for a test's packets.
pub fn device(
    compiled: &Compiled,
    sources: &SourceMap,
    reach: Reach,
    script: &Script,
) -> Result<Box<dyn Device>, Diagnostics> {
    let instance: Instance =
        kernel::load(&compiled.object, &compiled.abi, &compiled.schema, sources)
            .map_err(|failure| Diagnostics::from(failure.diagnostic))?;
    Ok(match reach {
        Reach::TestRun => Box::new(TestRun::new(instance)),
        Reach::Veth => {
            let ports: Vec<u32> = ports_of(script).into_iter().collect();
            Box::new(VethDevice::new(instance, &ports).map_err(Diagnostics::from)?)
        }
    })
}

/// Returns the ports that a script names.
fn ports_of(script: &Script) -> BTreeSet<u32> {
    script
        .statements
        .iter()
        .flat_map(|statement| match &statement.kind {
            StatementKind::Packet { port, .. } | StatementKind::Expect { port, .. } => {
                vec![*port]
            }
            StatementKind::MulticastGroup { replicas, .. } => {
                replicas.iter().map(|replica| replica.port).collect()
            }
            _ => Vec::new(),
        })
        .collect()
}
