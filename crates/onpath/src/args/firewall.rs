//! Flags of `onpath firewall`.

use super::time::time;
use super::{HookArg, bytes};
use crate::complete::names;
use clap::{Args, Subcommand, ValueEnum};
use firewall::automaton::{Reset, SliceBytes};
use firewall::page::Page;
use std::path::PathBuf;
use std::time::Duration;

/// `--emit`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emitted {
    /// A program with a name set, which blocks by DNS query, TLS server name and HTTP host
    Names,
    /// The published program DeeP4R: a table with an automaton of the names, and packets that are recirculated
    V1model,
}

/// `--slice`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum SliceName {
    /// One byte, with exact entries
    #[value(name = "1")]
    One,
    /// Two bytes, with ternary entries
    #[value(name = "2")]
    Two,
    /// Four bytes, with ternary entries
    #[value(name = "4")]
    Four,
}

impl SliceName {
    /// Returns the size of this name.
    pub fn bytes(self) -> SliceBytes {
        match self {
            SliceName::One => SliceBytes::One,
            SliceName::Two => SliceBytes::Two,
            SliceName::Four => SliceBytes::Four,
        }
    }
}

/// `--reset`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResetName {
    /// To the start, as published: a name that begins within a false start is not found
    Start,
    /// To the longest part of the match that begins a name: every name is found
    Links,
}

impl ResetName {
    /// Returns the treatment of this name.
    pub fn reset(self) -> Reset {
        match self {
            ResetName::Start => Reset::Start,
            ResetName::Links => Reset::Links,
        }
    }
}

/// `--mode`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModeArg {
    /// Drop packets with a blocked name
    Drop,
    /// Answer them: connections are reset, names do not exist (XDP)
    Reset,
    /// Only count them
    Count,
}

/// Usage of `onpath firewall`.
const USAGE: &str = "\
onpath firewall --dev <IF> --block <LIST>... [--allow <LIST>...] [OPTIONS]
       onpath firewall --config <FILE.toml> [OPTIONS]
       onpath firewall --emit <PROGRAM> --output <DIR> <LIST>... [OPTIONS]
       onpath firewall <COMMAND>";

/// `--quic`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuicArg {
    /// Count the packets with which connections begin, and let them pass
    Count,
    /// Read the server's name, and decide by it
    Read,
    /// Drop them, so that browsers use TCP
    Refuse,
}

/// `--ech`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum EchArg {
    /// Let them pass
    Pass,
    /// Answer queries for them over UDP without records, so that clients name the server
    Strip,
}

/// `--unknown`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnknownArg {
    /// Let it pass, and count it
    Pass,
    /// Drop it, and count it
    Drop,
}

/// End of `onpath firewall --help`.
const MEANING: &str = "\
Lines of a list:
  ads.example, ||ads.example^   the name and the names below it
  =ads.example                  the name alone, as in a line of a hosts file (0.0.0.0 ads.example)
  *.ads.example                 the names below it
  ads.example/path              URLs of the name and the names below it that begin with the path
  *word*, /expression/          URLs and names with a word, or a regular expression
  @@||good.example^             an exception; also @@||ads.example/path and @@/expression/
  # comment, ! comment
Other lines are reported and skipped. There are 32 lists at the most.

Of the rules that cover a packet's name, the one with the longest name decides, and at equal length
one that allows. Before names decide prefixes of URLs, the longest one; after them words and
expressions. Paths are seen in HTTP alone. Requests are read on ports 53, 80 and 443, where they come in (--hook tc-egress:
where they go out). TCP connections are followed. For that, name the interfaces to the clients and to
the servers: --dev IF,IF. With one of them, a client can hide a name (see `--unknown`).
v1model: the automaton finds names anywhere in a payload: `evil.com` blocks `devil.com` and
`evil.com.au` too. It knows no exceptions and no single labels. It compares bytes, so it misses names
in capitals, and names that are cut by a segment. Packets in both directions are searched.";

/// Lists of names.
#[derive(Args, Clone, Debug)]
pub struct NameLists {
    /// Lists of names to block; `-` is standard input
    #[arg(long, value_name = "LIST", num_args = 1..)]
    pub block: Vec<PathBuf>,
    /// A list of exceptions: each line allows what it would block elsewhere; may be given several times
    #[arg(long, value_name = "LIST")]
    pub allow: Vec<PathBuf>,
    /// A file of keywords, one a line: URLs and names that have one are blocked; may be given several times
    #[arg(long, value_name = "FILE")]
    pub keywords: Vec<PathBuf>,
    /// A file of settings: lists, groups of sources with lists and times of their own, and flags
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// Refuse a list with a line that would be skipped
    #[arg(long)]
    pub strict: bool,
}

/// `onpath firewall`
#[derive(Args, Debug)]
#[command(
    override_usage = USAGE,
    after_help = MEANING,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Firewall {
    /// Questions about a firewall or its lists, and changes of one that runs
    #[command(subcommand)]
    pub command: Option<FirewallCommand>,
    /// More lists of names to block, as by `--block`
    #[arg(value_name = "LIST", required_unless_present_any = ["block", "keywords", "config"])]
    pub lists: Vec<PathBuf>,
    /// Lists that block and allow.
    #[command(flatten)]
    pub named: NameLists,
    /// Run at these interfaces, separated by commas
    #[arg(
        long,
        value_name = "IF",
        value_delimiter = ',',
        required_unless_present_any = ["emit", "config"],
        conflicts_with_all = ["emit", "output"],
        add = names::interfaces()
    )]
    pub dev: Vec<String>,
    /// Treatment of packets with a blocked name; `drop` by default
    #[arg(long, conflicts_with = "emit")]
    pub mode: Option<ModeArg>,
    /// Treatment of connections that cannot be followed or read, and of fragments: `pass` by default; `drop` takes `--dev IF,IF`
    #[arg(long, conflicts_with = "emit")]
    pub unknown: Option<UnknownArg>,
    /// Treatment of QUIC, whose names are encrypted; `count` by default
    #[arg(long, conflicts_with = "emit")]
    pub quic: Option<QuicArg>,
    /// Judge the names too to which responses of DNS over UDP lead (CNAME); takes `--dev IF,IF`
    #[arg(long, conflicts_with = "emit")]
    pub aliases: bool,
    /// Treatment of HTTPS records in DNS, which have keys for encrypted ClientHellos; `pass` by default, `strip` takes `--mode reset`
    #[arg(long, conflicts_with = "emit")]
    pub ech: Option<EchArg>,
    /// Answer blocked requests of HTTP: with status 403, or with the address of a page; takes `--mode reset`
    #[arg(long, value_name = "403|URL", value_parser = Page::parse, conflicts_with = "emit")]
    pub page: Option<Page>,
    /// The place where it is to run; `xdp` by default
    #[arg(long, visible_alias = "target", conflicts_with = "emit")]
    pub hook: Option<HookArg>,
    /// The name by which the other commands know it
    #[arg(long, default_value = "firewall", conflicts_with = "emit")]
    pub name: String,
    /// Leave it running, pinned, and return
    #[arg(long, conflicts_with = "emit")]
    pub detach: bool,
    /// Read the lists again whenever one of their files changes; a hangup (SIGHUP) does it too
    #[arg(long, conflicts_with_all = ["emit", "detach"])]
    pub watch: bool,
    /// Change the settings at which packets would get lost, for as long as it runs (see `onpath run --help`)
    #[arg(long, conflicts_with = "emit")]
    pub adjust: bool,
    /// Allow its maps this much memory (such as 512M) instead of the free memory
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "emit")]
    pub allow_memory: Option<u64>,
    /// Write this program instead of running one
    #[arg(long, requires = "output")]
    pub emit: Option<Emitted>,
    /// Write the program and entries.txt to this folder; also a file with its settings, which is the one to run
    #[arg(short, long, value_name = "DIR", requires = "emit")]
    pub output: Option<PathBuf>,
    /// Bytes of a payload that one look-up takes; this and the flags below are for v1model
    #[arg(long, value_name = "BYTES", default_value = "1")]
    pub slice: SliceName,
    /// State after a byte that does not continue a match
    #[arg(long, default_value = "start")]
    pub reset: ResetName,
    /// Look-ups in a pass of a packet: up to 32
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub look_ups: u32,
    /// Ids of packets: a power of two, and more than packets pass at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 1024)]
    pub ids: u32,
    /// Give each packet an id that no other packet in flight has; as published, ids are given out in turn
    #[arg(long)]
    pub free_ids: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// `onpath firewall COMMAND`
#[derive(Subcommand, Debug)]
pub enum FirewallCommand {
    /// Read lists, and print their wrong lines, their rules and the memory that a firewall takes
    Check {
        /// More lists of names to block, as by `--block`
        #[arg(value_name = "LIST", required_unless_present_any = ["block", "keywords", "config"])]
        lists: Vec<PathBuf>,
        /// Lists that block and allow.
        #[command(flatten)]
        named: NameLists,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the list and line that decides for a site: its name, or an address such as https://www.ads.example/
    ///
    /// By the lists that are given, or else by the rules of a running firewall. No packet is needed.
    Explain {
        /// Sites
        #[arg(required = true, value_name = "SITE")]
        sites: Vec<String>,
        /// The running firewall; not needed if one program runs
        #[arg(long, short = 'n', value_name = "NAME", conflicts_with_all = ["block", "allow", "keywords", "config", "strict"], add = names::programs())]
        name: Option<String>,
        /// Lists that block and allow.
        #[command(flatten)]
        named: NameLists,
        /// Explain it for this group of sources; otherwise for those that belong to no group
        #[arg(long, value_name = "GROUP")]
        group: Option<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print requests that a running firewall blocks, as they come, with the line that decides
    ///
    /// The name that was asked for is not printed. The firewall reports while this command runs, and to one such command at a time.
    Log {
        /// The running firewall; not needed if one program runs
        #[arg(add = names::programs())]
        name: Option<String>,
        /// Print the addresses of the clients too
        #[arg(long)]
        clients: bool,
        /// End after this many requests
        #[arg(long, value_name = "NUMBER")]
        count: Option<u64>,
        /// Print as JSON, an object a line
        #[arg(long)]
        json: bool,
    },
    /// Let blocked requests pass for a time, and count them; it ends by itself
    Pause {
        /// The running firewall
        #[arg(add = names::programs())]
        name: String,
        /// Time, such as 10m
        #[arg(value_parser = time, required_unless_present = "end")]
        time: Option<Duration>,
        /// Requests of this group; otherwise of all
        #[arg(long, value_name = "GROUP")]
        group: Option<String>,
        /// End it now
        #[arg(long, conflicts_with = "time")]
        end: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Read the lists of a running firewall again, and switch to their rules at once
    ///
    /// A packet meets the old rules or the new ones. If a list cannot be read, or has more rules than there is room
    /// for, nothing changes.
    Reload {
        /// The running firewall; not needed if one program runs
        #[arg(add = names::programs())]
        name: Option<String>,
        /// Refuse a list with a line that would be skipped
        #[arg(long)]
        strict: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print how many requests a running firewall has blocked, by message and by list, and how many it could not read
    Stats {
        /// The running firewall; not needed if one program runs
        #[arg(add = names::programs())]
        name: Option<String>,
        /// Serve them to Prometheus at http://ADDR:PORT/metrics until an interrupt; anyone who can reach that address reads them
        #[arg(long, value_name = "ADDR:PORT", conflicts_with = "json")]
        prometheus: Option<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}
