//! From IR to a program for a hook of the kernel: passes, C, clang, budget.

use crate::strategy::{self, Failed, Outcome, Strategy, Tried};
use crate::{frontend, stack};
use bpf::abi::{Abi, Hook};
use bpf::costs::forecast::Forecast;
use bpf::costs::limits::{self, Length};
use bpf::features::{Feature, Features};
use bpf::uses::{Construct, Use};
use bpf::{BpfOutput, Options, ParseRecord, Parts};
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

/// A program compiled to a BPF object.
#[derive(Debug)]
pub struct Compiled {
    /// The C text.
    pub c_source: String,
    /// The object.
    pub object: Vec<u8>,
    /// What is where in its maps.
    pub abi: Arc<Abi>,
    /// What the program offers the control plane.
    pub schema: Arc<Schema>,
    /// What it will cost.
    pub budget: Budget,
    /// What the compiler decided: what it keeps where.
    pub decisions: bpf::Report,
    /// By which strategy it was compiled.
    pub strategy: &'static Strategy,
    /// Strategies that were tried before. If the one that was taken is among them, the kernel takes none of them.
    pub failed: Vec<Failed>,
    /// Compiler time, from IR to C, without clang. This and the following are of all strategies
    /// that were tried.
    pub compiler_time: Duration,
    /// How long clang took.
    pub clang_time: Duration,
    /// How long the verifier took, if it was asked; see [`Request::trial`].
    pub verify_time: Duration,
}

impl Compiled {
    /// Whether the verifier refused what every strategy gave.
    pub fn is_refused(&self) -> bool {
        let mut failed = self.failed.iter();
        failed.any(|failed| failed.strategy == self.strategy)
    }
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
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Where it is to run.
    pub hook: Hook,
    /// C files for the extern functions that the program declares.
    pub externs: &'a [PathBuf],
    /// For [`TestRun`]: take clock and random numbers from it, and keep where packets are to go for it to
    /// read, instead of sending them there.
    pub observe: bool,
    /// About which objects the verifier is asked, where this process may.
    pub trial: Trial<'a>,
    /// The kernel that is to run it.
    pub kernel: Kernel,
    /// Where what the parser leaves is kept.
    pub parse_record: ParseRecord,
    /// The layout of tables whose entries may overlap, if they do not say which they want.
    pub layout: Option<Structure>,
    /// How functions are cut, whether the program is large or not.
    pub parts: Option<Parts>,
    /// Does not try one function first where the verifier is likely to refuse it.
    pub soon: bool,
    /// Is told what is about to be done that takes more than a few seconds.
    pub notice: &'a dyn Fn(&str),
}

/// About which objects the verifier is asked while a program is compiled, so that another is made where it refuses one.
#[derive(Clone, Copy, Debug)]
pub enum Trial<'a> {
    /// None, for a caller that loads the object at once: if the refusal has an [`Obstacle`], it compiles the others.
    None,
    /// Each.
    Each,
    /// Each but the first, which this caller has had refused.
    Others(Refused<'a>),
}

/// What a compilation without a trial gave, and the verifier refused.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// The object.
    pub object: &'a [u8],
    /// What another compilation may overcome.
    pub obstacle: Obstacle,
    /// The verifier's reason.
    pub reason: &'a str,
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
            trial: Trial::Each,
            kernel: Kernel::This,
            parse_record: ParseRecord::BySize,
            layout: None,
            parts: None,
            soon: false,
            notice: &|_| {},
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
        &optimised(program, request),
        frontend::optimise_fast_path(program, follows_turns(&request.kernel.features())).as_ref(),
        sources,
        &options(sources, request, request.kernel.features()),
    )
}

/// What [`compile`] refuses without clang and the kernel: [`generate`], of a program that is not too large to be compiled.
pub fn check(
    program: &Program,
    sources: &SourceMap,
    request: Request,
) -> Result<BpfOutput, Diagnostics> {
    let follows_turns = follows_turns(&request.kernel.features());
    Forecast::of(&frontend::optimise_for_parts(program, follows_turns)).check(request.hook)?;
    generate(program, sources, request)
}

/// The program after passes, in the form that a request asks for.
fn optimised(program: &Program, request: Request) -> Program {
    let for_parts =
        frontend::optimise_for_parts(program, follows_turns(&request.kernel.features()));
    match request.parts {
        Some(_) => for_parts,
        None => frontend::with_entries(for_parts),
    }
}

/// Whether the verifier follows each turn of loops.
fn follows_turns(features: &Features) -> bool {
    !features.has(Feature::MayGoto)
}

/// The name of a file, as C includes it.
pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn options(sources: &SourceMap, request: Request, features: Features) -> Options {
    Options {
        hook: request.hook,
        source_name: sources
            .files()
            .next()
            .map(|(_, f)| f.name.clone())
            .unwrap_or_default(),
        extern_files: request.externs.iter().map(|file| file_name(file)).collect(),
        features,
        parse_record: request.parse_record,
        layout: request.layout,
        parts: request.parts,
        ..Options::default()
    }
}

/// Compiles a program as elaborated, by the first of [`STRATEGIES`](crate::strategy::STRATEGIES) that works.
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
    /// For strategies that make functions of parts.
    for_parts: Program,
    /// For the others.
    whole: OnceCell<Program>,
    fast_path: Option<Program>,
    /// The C that was tried.
    made: HashSet<(String, Effort)>,
    /// Strategies that differ by clang's effort have their C in common.
    last: Option<((Options, bool), BpfOutput)>,
    /// Decisions for the first strategy.
    first: Option<bpf::Report>,
    /// The verifier walks a part once, wherever it is called: what it finds too large so is larger as one function.
    too_large_in_parts: bool,
    times: Times,
}

impl<'a> Attempts<'a> {
    /// Fails if the program is too large for any strategy.
    fn begin(
        program: &Program,
        sources: &'a SourceMap,
        request: Request<'a>,
    ) -> Result<Attempts<'a>, Diagnostics> {
        let features = usable(request.kernel.features());
        let begun = Instant::now();
        let for_parts = frontend::optimise_for_parts(program, follows_turns(&features));
        let forecast = Forecast::of(&for_parts);
        forecast.check(request.hook)?;
        let own = begun.elapsed();
        Ok(Attempts {
            sources,
            request,
            features,
            forecast,
            for_parts,
            whole: OnceCell::new(),
            fast_path: frontend::optimise_fast_path(program, follows_turns(&features)),
            made: HashSet::new(),
            last: None,
            first: None,
            too_large_in_parts: false,
            times: Times {
                own,
                ..Times::default()
            },
        })
    }

    /// The outcome of a strategy.
    fn by(&mut self, strategy: &Strategy) -> Outcome<Made> {
        if let Some(first) = &self.first {
            if !strategy.differs(first) {
                return Outcome::Repeated;
            }
        } else if let (None, Some(report)) = (self.request.parts, self.forecast.long()) {
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
        if strategy.in_parts && output.report.parts == 0 {
            return Outcome::Repeated;
        }
        match limits::length(&self.features, &output.report) {
            Length::Long | Length::Excessive if is_first => return self.too_long(&output.report),
            Length::Fits if is_first && self.request.soon && limits::is_risky(&output.report) => {
                return self.too_long(&output.report);
            }
            Length::Excessive => return Outcome::Repeated,
            Length::Long if self.too_large_in_parts => return Outcome::Repeated,
            Length::Long | Length::Fits => {}
        }
        if !self.made.insert((output.c_source.clone(), strategy.effort)) {
            return Outcome::Repeated;
        }
        let outcome = match self.request.trial {
            Trial::Others(refused) if self.made.len() == 1 => {
                let made = (refused.object.to_vec(), output);
                let reason = refused.reason.to_owned();
                obstructed(refused.obstacle, reason, made, &self.for_parts)
            }
            _ => attempt(
                output,
                &self.for_parts,
                self.request,
                self.features,
                strategy.effort,
                &mut self.times,
            ),
        };
        let is_too_large = matches!(&outcome, Outcome::Obstructed(Obstacle::TooLarge, ..));
        self.too_large_in_parts |= strategy.in_parts && is_too_large;
        outcome
    }

    /// The C of a strategy.
    fn output(&mut self, strategy: &Strategy) -> Result<BpfOutput, Diagnostics> {
        let asked = options(self.sources, self.request, self.features);
        let parts = match &self.first {
            Some(first) if strategy.in_parts => {
                Some(limits::parts(&self.for_parts, first, strategy.programs))
            }
            _ => asked.parts,
        };
        let options = Options {
            spill_everything: strategy.spill_everything,
            copy_headers: strategy.copy_headers,
            parse_record: asked.parse_record.max(strategy.parse_record),
            parser_turns: strategy.parser_turns,
            parts,
            ..asked
        };
        let form = (options, strategy.fast_path);
        if let Some((_, output)) = self.last.as_ref().filter(|(known, _)| *known == form) {
            return Ok(output.clone());
        }
        let begun = Instant::now();
        let full = match strategy.in_parts || self.request.parts.is_some() {
            true => &self.for_parts,
            false => self
                .whole
                .get_or_init(|| frontend::with_entries(self.for_parts.clone())),
        };
        let fast_path = self.fast_path.as_ref().filter(|_| strategy.fast_path);
        let compiled = bpf::compile(full, fast_path, self.sources, &form.0);
        self.times.own += begun.elapsed();
        let output = compiled?;
        self.last = Some((form, output.clone()));
        Ok(output)
    }

    /// The outcome of a program that is too long for one function.
    fn too_long(&self, report: &bpf::Report) -> Outcome<Made> {
        let refused = limits::too_long(&self.for_parts, self.request.hook, &self.features, report);
        let instructions = report.longest_estimate;
        let reason = format!("about {instructions} instructions are too many for one function");
        Outcome::Obstructed(Obstacle::TooLong, reason, Err(Box::new(refused).into()))
    }
}

/// The refusal of a program with a jump that is too far. clang does not tell where: if it is not likely to be in the program's own C, it
/// is in that of its externs.
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

/// How long all strategies took together.
#[derive(Default)]
struct Times {
    own: Duration,
    clang: Duration,
    verifier: Duration,
}

/// What clang can make use of, of what the kernel has.
fn usable(kernel: Features) -> Features {
    let too_old = |clang: Clang| clang.version < clang::LONG_JUMPS;
    let lacks = |feature| feature == Feature::LongJumps && clang::find().is_ok_and(too_old);
    Features::which(|feature| kernel.has(feature) && !lacks(feature))
}

/// An object, and what it was made of.
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

/// A refusal by clang, with the prototypes that the user's C files should have.
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

/// A program's texts, and the C files of its extern functions: what the kernel refuses may be in these.
pub fn with_externs(sources: &SourceMap, externs: &[PathBuf]) -> SourceMap {
    let mut all = sources.clone();
    for file in externs {
        if let Ok(text) = files::read_text(file) {
            all.add(file.display().to_string(), text);
        }
    }
    all
}

/// What takes long about a program.
fn slow(report: &bpf::Report, seconds: u32) -> String {
    let instructions = report.instruction_estimate;
    let functions = match report.parts {
        0 => "one function".to_owned(),
        parts => format!("{} functions", parts + report.programs),
    };
    let programs = match report.programs {
        0 | 1 => String::new(),
        programs => format!(" in {programs} programs"),
    };
    format!(
        "compiling about {instructions} instructions as {functions}{programs}: this may take {seconds} seconds or more"
    )
}

/// What an object comes to that the verifier refused.
fn obstructed(obstacle: Obstacle, reason: String, made: Made, program: &Program) -> Outcome<Made> {
    let otherwise = match obstacle {
        // The functions have room each, but not one in the other: clang cannot know.
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

/// The folders of the C files of extern functions, all of which can be read.
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

/// The ports that a script names.
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
