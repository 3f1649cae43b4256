//! Definition of every command and flag, from which `--help`, man pages and completions are made too. Parsing has no
//! side effects.

mod examples;
mod firewall;
mod groups;
mod pdm;
mod plan;
mod query;
mod settings;
mod table;
mod time;

pub(crate) use examples::examples;
pub use firewall::{
    EchArg, Emitted, Firewall, FirewallCommand, ModeArg, NameLists, QuicArg, ResetName, SliceName,
    UnknownArg,
};
pub use groups::parse;
pub use pdm::{ModeName, Pdm};
pub use plan::{PlanArgs, PlanTarget};
pub use query::{Direction, Ingress, Query};
pub use settings::{
    Digests, Drops, FlowsCommand, GroupCommand, Log, MeterCommand, Metrics, MirrorCommand,
    NamesCommand, ProfileCommand, RegisterCommand,
};
pub use table::TableCommand;
pub(crate) use time::time;

use crate::complete::names;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

/// The version, with the commit that it was built from if `make` gave it.
static VERSION: LazyLock<String> = LazyLock::new(|| version(option_env!("ONPATH_COMMIT")));

fn version(commit: Option<&str>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    match commit.filter(|commit| !commit.is_empty()) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_string(),
    }
}

/// P4 for the packet paths of a Linux machine.
///
/// Write a packet program in P4-16, test it with STF files without any privileges, run it in the
/// kernel by XDP or tc, and read and change its tables by the names in the program.
#[derive(Parser, Debug)]
#[command(
    name = "onpath",
    version = VERSION.as_str(),
    arg_required_else_help = true,
    after_help = "Begin with `onpath doctor`, which reports what this machine supports.\n\n\
                  Each error and warning has a code, such as error[E0207]: `onpath explain E0207` shows what it means, an example, and what to do about it.\n\n\
                  With --json, a command that fails prints an object with an array `diagnostics`: severity, code, message, file, line, column, labels and help of each.\n\n\
                  What clang made is kept, below ~/.cache/onpath or root's /var/cache/onpath: ONPATH_OBJECT_CACHE names another folder, or, set to nothing, turns that off.\n\n\
                  Exit status: 0 done, 1 refused or failed, 2 wrong usage or a target that cannot run it."
)]
pub struct Cli {
    /// Work in this network namespace: a name that `ip netns` lists, or a path such as /proc/PID/ns/net
    #[arg(long, global = true, value_name = "NAME", add = names::namespaces())]
    pub netns: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Check a program or a bundle: report each error with its location and help
    ///
    /// Reports all syntax errors in one run; if there are none, all other errors. For a bundle (a file
    /// that ends in .toml), also checks that its programs fit their targets, their entries and each other. For
    /// an object that `onpath build` wrote, checks that it and its description belong together; for the folder
    /// that it wrote, what is in there. The schema of a message (TOML too) is checked by itself.
    Check(Check),
    /// Compile a program or a bundle for a target
    ///
    /// What `--output` writes is complete: `onpath run` of the object, or of the folder, loads it without
    /// clang, also on another machine. A bundle (a file that ends in .toml) becomes a folder with the
    /// objects of its programs, their entries, and a bundle file that names them.
    Build(Build),
    /// Run STF tests on a program
    Test(Test),
    /// Compile, load and attach a program or a bundle, and keep it running until interrupted
    ///
    /// An object or a folder that `onpath build -o` wrote is loaded as it is, without clang.
    ///
    /// The output shows how it is attached. XDP: in the driver (native) if possible, otherwise in the
    /// network stack (generic). Traffic control: by a tcx link, or before Linux 6.6 by a filter at a
    /// clsact qdisc. A bundle's programs are attached together or not at all. Needs CAP_BPF,
    /// CAP_NET_ADMIN and CAP_PERFMON, and CAP_SYS_ADMIN to mount the BPF file system where it is not
    /// mounted and for a bundle (root has them all).
    ///
    /// The program is attached again by itself to an interface that is deleted and created again; `onpath
    /// ls` shows when it was gone. What runs already in the same way stays as it is.
    Run(Run),
    /// List the programs and bundles that are running
    Ls(Ls),
    /// Detach and remove programs and bundles that are running
    Unload(Unload),
    /// Measure delay, loss and reordering of IPv6 flows, by an option in their packets (RFC 8250)
    ///
    /// Puts the Performance and Diagnostic Metrics destination option on packets that go out of an
    /// interface, reads it from those that come in, and shows what the options of both ends
    /// report. If the other end runs it too, the delays of the network and of the host are shown
    /// separately. Needs what `onpath run` of a bundle needs (root has it all).
    Pdm(Pdm),
    /// Block sites by the names in packets: of DNS queries, HTTP requests and TLS connections
    ///
    /// Runs at interfaces, with lists of names of which it takes two million. With `--emit`, it only writes a
    /// program with the entries for the lists.
    Firewall(Firewall),
    /// Answer a query on packets: how many, how long, how many different ones, which most often
    ///
    /// From a capture file, or off the path: from copies of the packets of an interface.
    Query(Query),
    /// Read and change a running program's tables
    #[command(subcommand)]
    Table(TableCommand),
    /// Read and reset a running program's counters
    #[command(subcommand)]
    Counter(CounterCommand),
    /// Read and change a running program's multicast groups
    #[command(subcommand)]
    Group(GroupCommand),
    /// Read and change a running program's clone sessions: where its clones go
    #[command(subcommand)]
    Mirror(MirrorCommand),
    /// Read and change the rules of a running program's name sets
    #[command(subcommand)]
    Names(NamesCommand),
    /// Read and change the members and groups of a running program's action profiles and selectors
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Read and change the rates of a running program's meters
    #[command(subcommand)]
    Meter(MeterCommand),
    /// Read and change a running program's registers
    #[command(subcommand)]
    Register(RegisterCommand),
    /// Print the digests that a running program sends, one line each, as they come
    ///
    /// Each digest goes to one reader: who reads them takes them from all other readers.
    Digests(Digests),
    /// Print what a running program logs by `log_msg`, one line each, as it comes: at most 1,000 a second
    ///
    /// Each message goes to one reader: who reads the log takes it from all other readers.
    Log(Log),
    /// Print how many packets and copies a running program's traffic manager dropped, by reason
    ///
    /// Counted since the program was loaded. What the program itself drops is among them; the others are losses.
    Drops(Drops),
    /// Read and change a running program's ports: at which interfaces it runs, and to which it sends
    #[command(subcommand)]
    Port(PortCommand),
    /// Print what a running program keeps about groups of packets: counts, sums, distributions, greatest keys
    ///
    /// Those are the externs of `telemetry.p4`. Each processor has metrics of its own, which are added up here.
    Metrics(Metrics),
    /// Read and remove the flows that a running program stores
    #[command(subcommand)]
    Flows(FlowsCommand),
    /// Draw a program's parser and pipeline
    Graph(Graph),
    /// Plan how a parser finds an attribute of a message in the payload, and whether it fits a target
    ///
    /// Reports the technique (direct jump, skip ahead and check, byte by byte, or that with recirculation), the most that fits, and
    /// an estimate of its cost. If it does not fit, reports which limit refuses it and what would make it fit. Tofino and NFP
    /// are models of hardware: nothing runs on them.
    #[command(after_help = PLAN_STATUS)]
    Plan(PlanArgs),
    /// Explain a diagnostic by its code, a word, an attribute of queries, or what an interface header declares
    ///
    /// Of a diagnostic: what it means, an example that gives it, and what to do about it. The code is in brackets in front of
    /// the message: `error[E0207]`. Of a declaration, such as `register`, or all those of a header, such as `v1model`: what it does,
    /// what it means on each target, and which errors concern it. Of an attribute of queries, such as `http.host`, or all
    /// those of a message, such as `http`: what it is and where it can be read. Of a word that Onpath's messages use, such
    /// as `verifier`, `veth` or `offload`: what it means. Without a name, lists all codes, headers and words.
    Explain(Explain),
    /// Report what this machine supports, and how to get what is missing
    Doctor(Doctor),
    /// Print a script that completes commands, flags and names in a shell
    #[command(after_long_help = COMPLETIONS)]
    Completions(Completions),
    /// Write the man pages to a directory
    Man(Man),
    /// Detach what the parent process leaves behind when it is killed
    #[command(name = kernel::guard::ARGUMENT, hide = true)]
    Guard,
    /// Attach detached programs again when interfaces of theirs appear
    #[command(name = kernel::keeper::ARGUMENT, hide = true)]
    Keep {
        /// The running program
        name: String,
    },
}

/// The program and how its text is read.
#[derive(Args, Debug, Clone)]
pub struct Source {
    /// The P4 program
    #[arg(value_name = "FILE.p4")]
    pub file: PathBuf,
    /// Look for `#include` files here, before the built-in ones
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
}

/// End of `onpath plan --help`.
const PLAN_STATUS: &str = "Exit status: 0 it fits one of the targets, 1 it fits none, or the message or attribute is refused, 2 wrong usage.";

/// `onpath check`
#[derive(Args, Debug)]
pub struct Check {
    /// The program.
    #[command(flatten)]
    pub source: Source,
    /// Also check whether this target can run the program
    #[arg(long, value_enum)]
    pub target: Option<HookArg>,
    /// Print an object with `accepted` and the `diagnostics` as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// Where in the kernel a program runs.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookArg {
    /// Incoming packets, before the network stack: the earliest hook
    Xdp,
    /// Incoming packets, at traffic control
    TcIngress,
    /// Outgoing packets, at traffic control
    TcEgress,
}

impl HookArg {
    /// Returns the hook of this name.
    pub fn hook(self) -> bpf::abi::Hook {
        match self {
            HookArg::Xdp => bpf::abi::Hook::Xdp,
            HookArg::TcIngress => bpf::abi::Hook::TcIngress,
            HookArg::TcEgress => bpf::abi::Hook::TcEgress,
        }
    }
}

/// What to print instead of building.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// The pipeline IR after all passes
    Ir,
    /// The pipeline IR as elaborated, before any pass
    IrRaw,
    /// The C source for the target
    C,
}

/// `onpath build`
#[derive(Args, Debug)]
pub struct Build {
    /// The program.
    #[command(flatten)]
    pub source: Source,
    /// The place where it is to run: by default tc-ingress for a program of tc_model, or one of v1model that copies packets; xdp for others
    #[arg(long, value_enum)]
    pub target: Option<HookArg>,
    /// Write C source, object and the description of tables, actions and counters here
    #[arg(short, long, value_name = "DIR", required_unless_present_any = ["emit", "report"])]
    pub output: Option<PathBuf>,
    /// Print this on standard output instead of building
    #[arg(long, value_enum, conflicts_with_all = ["output", "report"])]
    pub emit: Option<Emit>,
    /// Use only what this version of Linux has, as 6.1, instead of what the running kernel has
    #[arg(long, value_name = "VERSION", value_parser = kernel_version)]
    pub kernel: Option<bpf::features::Version>,
    /// Allow each table this much memory for a faster search (such as 512K or 64M)
    ///
    /// By default 4 MiB, or five times what the leanest search takes, whichever is more.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub table_memory: Option<u64>,
    /// Report what the program needs: instructions, stack, maps, and the kernel verifier's result
    ///
    /// The verifier runs only with this flag, and only if this process may load programs.
    #[arg(long)]
    pub report: bool,
    /// C source that supplies the extern functions that the program declares
    #[arg(long = "extern", value_name = "FILE.c")]
    pub externs: Vec<PathBuf>,
    /// Print what was written, and the report, as JSON
    #[arg(long, conflicts_with = "emit")]
    pub json: bool,
}

/// A target to test on.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestTarget {
    /// The reference interpreter; needs no privileges and no clang
    Interp,
    /// The kernel, at XDP; needs root and clang
    Xdp,
    /// The kernel, at traffic control, incoming packets; needs root and clang
    TcIngress,
    /// The kernel, at traffic control, outgoing packets; needs root and clang
    TcEgress,
}

/// The format of an execution trace.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// For people
    Text,
    /// For programs, one JSON object per line
    Json,
}

/// End of `onpath test --help`.
const STATEMENTS: &str = "\
Statements of a test, one per line; # begins a comment:
  packet PORT HEX...                   send a packet
  expect PORT [HEX...]                 a packet must come out; * is any digit, a final $ the end
  no_packet [PORT]                     no unexpected packet may have come out
  wait [50ms]                          wait for the packets sent so far, or for a time
  add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)
  remove TABLE [PRIORITY] KEY:MATCH ...        remove all [TABLE]
  setdefault TABLE ACTION(ARGS)
  check_counter NAME[INDEX] [packets|bytes] == N    or != < <= > >=
  check_counter TABLE KEY:MATCH ... [packets|bytes] == N
  register_read NAME[INDEX] == VALUE
  register_write NAME[INDEX] VALUE             register_reset NAME
  expect_digest NAME [FIELD:MATCH ...]         no_digest [NAME]
  meter_set NAME[INDEX] RATE BURST RATE BURST  meter_reset NAME[INDEX]
  meter_set TABLE KEY:MATCH ... RATE BURST RATE BURST
  action_member PROFILE MEMBER [ACTION(ARGS)]  action_group SELECTOR GROUP [MEMBER ...]
  value_set_add NAME MATCH ...                 value_set_remove NAME MATCH ...
  name_add SET NAME [NUMBER [LISTS]]           name_remove SET NAME, name_clear SET
  multicast_group GROUP [PORT[:RID] ...]       or mc_mgrp_create, mc_node_create, mc_node_associate
  clone_session SESSION [PORT[:RID] ...] [group GROUP] [truncate BYTES]
                                               or mirroring_add, mirroring_add_mc, mirroring_delete

Names are whole control-plane names, or as much of their end as is unique: pipe.acl, or acl. What is
none of these may be a name as tests for other targets have it: pipe_acl for pipe.acl, _NoAction for
NoAction, key.field0 for the first key, extra$0.h for extra[0].h, ipv4.$valid$ for ipv4.isValid().
Numbers may have wildcards: 0x25**, 0b1*0.

Comments before the first statement say what a test needs:
  # direction: egress         its packets go out; both: the same for packets in either direction
  # needs: interp             packets that only the interpreter takes
  # needs: virtual time       or `one processor`: not between veth pairs, so `--fast` in the kernel

Exit status: 0 all passed, 1 one failed or the program is refused, 2 wrong usage, a test that cannot
be read, or a target that cannot run it.";

/// `onpath test`
#[derive(Args, Debug)]
#[command(after_long_help = STATEMENTS)]
pub struct Test {
    /// The program.
    #[command(flatten)]
    pub source: Source,
    /// The tests; not with a folder in place of the program, of which all tests run, in parallel: NAME.stf and
    /// NAME.CASE.stf on the NAME.p4 beside them
    #[arg(value_name = "TEST.stf")]
    pub tests: Vec<PathBuf>,
    /// Send the packets of this capture through the interpreter instead (pcap or pcapng, also packed by gzip or zstd; `-` is
    /// standard input)
    ///
    /// Prints what became of them. Of several, the packets are sent in the order of their times.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tests", "target", "fast", "kernel", "junit"])]
    pub read: Vec<PathBuf>,
    /// With --read: write what came out to a capture (pcapng), whose interfaces are named after the ports
    #[arg(long, value_name = "FILE", requires = "read")]
    pub write: Option<PathBuf>,
    /// With --read: the port at which the packets come in, 0 by default
    #[arg(long, value_name = "N", requires = "read")]
    pub port: Option<u32>,
    /// With --read: a file of entries to put in first
    #[arg(long, value_name = "FILE", requires = "read")]
    pub entries: Option<PathBuf>,
    /// Where to run them
    #[arg(long, value_enum, default_value = "interp")]
    pub target: TestTarget,
    /// In the kernel: use BPF_PROG_TEST_RUN instead of veth pairs
    #[arg(long)]
    pub fast: bool,
    /// Use only what this version of Linux has, as 6.1, instead of what the running kernel has
    #[arg(long, value_name = "VERSION", value_parser = kernel_version)]
    pub kernel: Option<bpf::features::Version>,
    /// On the interpreter: packets go out, as under `--target tc-egress`
    #[arg(long)]
    pub egress: bool,
    /// Print an execution trace of each packet: states, tables, actions (interpreter only)
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub trace: Option<TraceFormat>,
    /// The seed of `random` (interpreter only), 1 by default
    #[arg(long)]
    pub seed: Option<u64>,
    /// C source that supplies the extern functions that the program declares
    #[arg(long = "extern", value_name = "FILE.c")]
    pub externs: Vec<PathBuf>,
    /// Write the results as JUnit's XML, for build servers
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long, conflicts_with = "trace")]
    pub json: bool,
}

/// Parses a version of Linux, and refuses versions that Onpath does not support.
fn kernel_version(text: &str) -> Result<bpf::features::Version, String> {
    let parsed = text
        .split_once('.')
        .and_then(|(major, minor)| Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?)));
    let version = parsed.ok_or("give major and minor version, as `6.12`")?;
    let checked = kernel::features::Kernel::Version(version).check();
    checked
        .map(|()| version)
        .map_err(|refused| refused.message.clone())
}

/// End of `onpath run --help`.
const BUNDLES: &str = "\
A bundle is a file that ends in .toml; its paths are relative to its folder:
  name = \"flows\"              by default, the file's name
  [[program]]                 one or more, in the order in which they are attached
  source = \"count.p4\"         or count.o, an object that `onpath build` wrote
  name = \"count\"              by default, the source's name
  target = \"tc-ingress\"       or tc-egress, xdp
  dev = [\"eth0\", \"eth1\"]      ports 0, 1, …; a single one needs no brackets
  ports = { 7 = \"eth7\" }      further interfaces at which it runs
  reach = { 9 = \"eth9\" }      interfaces that it may only send to
  groups = { 1 = [0, 1, 9] }  multicast groups and their ports; \"9:5\" with a replication id
  entries = \"count.txt\"       or a list: [\"add ...\", \"setdefault ...\"]
  include = \"lib\"             or a list; define = [\"A=1\"]; extern = \"sum.c\"
  [share]                     flow_state that programs have in common:
  flows = [\"count.flows\", \"report.flows\"]";

/// `onpath run`
#[derive(Args, Debug)]
#[command(after_long_help = BUNDLES)]
pub struct Run {
    /// The P4 program, a bundle of several (a file that ends in .toml), or what `onpath build -o` wrote of
    /// either: an object (with its .json beside it) or the folder
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Look for `#include` files here, before the built-in ones
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
    /// The place where it is to run: by default tc-ingress for a program of tc_model, or one of v1model that copies packets; xdp for others
    #[arg(long, value_enum)]
    pub target: Option<HookArg>,
    /// The interfaces, separated by commas; the first is port 0, the second port 1, …
    ///
    /// For a bundle, they replace those in its file: `IF,...` for all its programs,
    /// `PROGRAM=IF,...` for one.
    #[arg(long, value_name = "IF", value_delimiter = ',', add = names::interfaces())]
    pub dev: Vec<String>,
    /// An interface by port number
    #[arg(long = "port", value_name = "N=IF", add = names::numbered_interfaces())]
    pub ports: Vec<String>,
    /// An interface by port number that the program only sends to, without running there
    #[arg(long, value_name = "N=IF", add = names::numbered_interfaces())]
    pub reach: Vec<String>,
    /// A multicast group (1 to 65535) and its ports
    #[arg(long = "group", value_name = "N=PORT[:RID],...")]
    pub groups: Vec<String>,
    /// A file of `add` and `setdefault` lines to apply before the program is attached
    #[arg(long, value_name = "FILE")]
    pub entries: Option<PathBuf>,
    /// The name by which the other commands know it; the file's name by default
    #[arg(long)]
    pub name: Option<String>,
    /// Leave it running, pinned, and return
    #[arg(long)]
    pub detach: bool,
    /// Compile what is in small tables into the programs, and again whenever that changes
    ///
    /// Packets meet a change at once all the same. It needs P4 programs and this command, which watches the
    /// tables: if it is killed, what runs stays correct.
    #[arg(long, conflicts_with = "detach")]
    pub specialize: bool,
    /// C source that supplies the extern functions that the program declares
    #[arg(long = "extern", value_name = "FILE.c")]
    pub externs: Vec<PathBuf>,
    /// At tc, run right before the program that runs under this name, instead of after all others
    #[arg(long, value_name = "NAME", conflicts_with_all = ["after", "clsact"], add = names::programs())]
    pub before: Option<String>,
    /// At tc, run right after the program that runs under this name
    #[arg(long, value_name = "NAME", conflicts_with = "clsact", add = names::programs())]
    pub after: Option<String>,
    /// Attach to tc by filters at clsact qdiscs, as on kernels without tcx
    #[arg(long)]
    pub clsact: bool,
    /// Change the settings at which the program would lose packets, for as long as it runs
    ///
    /// Offloads and segments of its interfaces, and of the other ends of veth pairs, as the warnings say that come
    /// without it. In other network namespaces that needs CAP_SYS_ADMIN. The program's ports cannot change then.
    #[arg(long)]
    pub adjust: bool,
    /// Allow the maps of each program this much memory (such as 512M or 40G) instead of the free memory
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub allow_memory: Option<u64>,
    /// Allow each table this much memory for a faster search (such as 512K or 64M)
    ///
    /// By default 4 MiB, or five times what the leanest search takes, whichever is more.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub table_memory: Option<u64>,
    /// Show the kernel verifier's full log if it rejects the program
    #[arg(long)]
    pub verbose: bool,
    /// Print what is running and how it ended as JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

/// Parses a number of bytes: `4096`, `512K`, `64M`, `40G`, in powers of 1024.
fn bytes(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.char_indices().next_back() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number = number.parse::<u64>().ok();
    number
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| {
            "write a number of bytes, with an optional K, M or G, such as 512M".to_string()
        })
}

/// `onpath ls`
#[derive(Args, Debug)]
pub struct Ls {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `onpath unload`
#[derive(Args, Debug)]
pub struct Unload {
    /// The names that `onpath ls` shows
    #[arg(
        required_unless_present = "all",
        conflicts_with = "all",
        value_name = "NAME",
        add = names::instances()
    )]
    pub names: Vec<String>,
    /// All of them, and whatever a killed command left behind: attachments, pins, changed link settings
    #[arg(long)]
    pub all: bool,
    /// Print the names of what was removed as JSON
    #[arg(long)]
    pub json: bool,
}

/// Which running program.
#[derive(Args, Debug, Clone)]
pub struct Instance {
    /// The running program, as `onpath ls` shows it (BUNDLE/PROGRAM for one of a bundle); not needed if
    /// there is only one
    #[arg(long, short = 'n', value_name = "NAME", add = names::programs())]
    pub name: Option<String>,
}

/// `onpath counter`
#[derive(Subcommand, Debug)]
pub enum CounterCommand {
    /// Print a counter, one of its elements (NAME[INDEX]), or all counters; zero elements are left out
    ///
    /// A direct counter has an element for each entry of its table.
    Read {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The counter, by name or the end of it, with or without an index
        #[arg(add = names::counters())]
        counter: Option<String>,
        /// Print them again and again, with what was counted in a second since the last time: 500ms, 1s, 1m
        #[arg(long, value_name = "TIME", value_parser = time)]
        every: Option<Duration>,
        /// Print as JSON; with --every an object per time, one per line
        #[arg(long)]
        json: bool,
    },
    /// Set a counter, or one of its elements (NAME[INDEX]), to zero
    ///
    /// What packets count at the same time may be lost.
    Reset {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The counter, by name or the end of it, with or without an index
        #[arg(required_unless_present = "all", conflicts_with = "all", add = names::counters())]
        counter: Option<String>,
        /// All counters of the program
        #[arg(long)]
        all: bool,
    },
}

/// `onpath port`
#[derive(Subcommand, Debug)]
pub enum PortCommand {
    /// Print the ports and their interfaces
    List {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Attach the program to another interface
    ///
    /// Tables, counters and flows stay as they are, and packets at the other interfaces pass through the program
    /// meanwhile.
    Add {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The number that the interface has in the program
        port: u32,
        /// The interface
        #[arg(value_name = "IF", add = names::interfaces())]
        interface: String,
        /// Only let the program send to it, without running there
        #[arg(long)]
        reach: bool,
    },
    /// Give a port another interface, such as one that was created after the port's was deleted
    ///
    /// Multicast groups and clone sessions keep the port.
    Replace {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The port's number
        #[arg(add = names::ports())]
        port: u32,
        /// The interface
        #[arg(value_name = "IF", add = names::interfaces())]
        interface: String,
    },
    /// Remove an interface from the program: it no longer runs there or sends to it
    ///
    /// The last interface at which the program runs stays, and so does a port of a multicast group.
    Remove {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The port's number
        #[arg(add = names::ports())]
        port: u32,
    },
}

/// `onpath graph`
#[derive(Args, Debug)]
pub struct Graph {
    /// The program.
    #[command(flatten)]
    pub source: Source,
    /// The file to write
    #[arg(short, long, value_name = "FILE", required_unless_present = "json")]
    pub output: Option<PathBuf>,
    /// Print states, tables and conditions as nodes, with their edges, as JSON instead of a drawing
    #[arg(long, conflicts_with_all = ["output", "format"])]
    pub json: bool,
    /// The format of the file
    #[arg(long, value_enum, default_value = "svg")]
    pub format: Drawing,
}

/// What a drawing is written as.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drawing {
    /// A picture, placed by Onpath
    Svg,
    /// Nodes and edges for Graphviz, which places them
    Dot,
}

/// `onpath explain`
#[derive(Args, Debug)]
pub struct Explain {
    /// A code (E0207, or E02 for all that begin so), a word (verifier), an attribute of queries (http.host), a header
    /// (v1model), or a name that a header declares
    #[arg(value_name = "CODE|NAME", add = names::explained())]
    pub name: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `onpath doctor`
#[derive(Args, Debug)]
pub struct Doctor {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// End of `onpath completions --help`.
const COMPLETIONS: &str = "\
To enable it, add a line to the file that the shell reads when it starts:
  bash    source <(onpath completions bash)     in ~/.bashrc
  zsh     source <(onpath completions zsh)      in ~/.zshrc, after compinit
  fish    onpath completions fish | source      in ~/.config/fish/completions/onpath.fish
The script runs onpath with ONPATH_COMPLETE set, which prints the names that currently exist
(interfaces, running programs, and their tables, counters, flows, ports, groups and the like) and that the
user may read.";

/// `onpath completions`
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `onpath man`
#[derive(Args, Debug)]
pub struct Man {
    /// The directory
    #[arg(value_name = "DIR")]
    pub output: PathBuf,
    /// Print the names of what was written as JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_or_powers_of_1024() {
        let read = ["0", "4096", "512K", "64m", "40G"].map(|text| bytes(text).unwrap());
        assert_eq!(read, [0, 4096, 512 << 10, 64 << 20, 40 << 30]);
        for wrong in ["", "G", "1.5G", "-1", "4 G", "40GB", "99999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
    use clap::CommandFactory;

    #[test]
    fn the_flags_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_trace_has_a_format_only_after_an_equals_sign() {
        let cli = Cli::parse_from(["onpath", "test", "--trace", "a.p4", "a.stf"]);
        let Command::Test(test) = cli.command else {
            panic!()
        };
        assert_eq!(test.trace, Some(TraceFormat::Text));
        let cli = Cli::parse_from(["onpath", "test", "--trace=json", "a.p4", "a.stf"]);
        let Command::Test(test) = cli.command else {
            panic!()
        };
        assert_eq!(test.trace, Some(TraceFormat::Json));
    }

    #[test]
    fn the_version_has_the_commit_if_it_is_known() {
        let plain = env!("CARGO_PKG_VERSION");
        assert_eq!(version(None), plain);
        assert_eq!(version(Some("")), plain);
        assert_eq!(version(Some("0123abc")), format!("{plain} (0123abc)"));
    }
}
