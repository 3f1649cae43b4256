//! Flags of `onpath firewall`.

use clap::{Args, ValueEnum};
use firewall::automaton::{Reset, SliceBytes};
use std::path::PathBuf;

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

/// End of `onpath firewall --help`.
const MEANING: &str = "\
Lines of a list:
  ads.example, ||ads.example^   the name and the names below it
  =ads.example                  the name alone, as in a line of a hosts file (0.0.0.0 ads.example)
  *.ads.example                 the names below it
  @@||good.example^             an exception
  # comment, ! comment
Other lines are reported and skipped.

names: of the rules that cover a packet's name, the one with the longest name decides, and at equal
length one that allows. Names that are cut by a segment pass.
v1model: the automaton finds names anywhere in a payload: `evil.com` blocks `devil.com` and
`evil.com.au` too. It knows no exceptions and no single labels. It compares bytes, so it misses names
in capitals, and names that are cut by a segment. Packets in both directions are searched.";

/// `onpath firewall`
#[derive(Args, Debug)]
#[command(after_help = MEANING)]
pub struct Firewall {
    /// Lists of names to block; `-` is standard input
    #[arg(value_name = "LIST", required = true)]
    pub lists: Vec<PathBuf>,
    /// Write this program
    #[arg(long, required = true)]
    pub emit: Emitted,
    /// Lists of exceptions, with the names below them, but for longer names that other lists block; for names
    #[arg(long, value_name = "LIST")]
    pub allow: Vec<PathBuf>,
    /// Write the program and entries.txt to this folder; also a file with its settings, which is the one to run
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
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
    /// Refuse a list with a line that would be skipped
    #[arg(long)]
    pub strict: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
