//! IR to BPF C and a description of its maps: pure, deterministic, no kernel.
//!
//! [`compile`] takes a program after `ir::passes` and returns C from which clang makes an object. It also returns the
//! description by which user space changes its tables ([`abi::Abi`]), and a report of the object's costs. The C
//! includes only the headers that [`headers`] returns.

/// Largest number of parameters of a function of the program, results aside: BPF passes that many in registers.
pub const FUNCTION_PARAMS: usize = 5;

pub mod abi;
mod compile;
mod context;
mod copies;
pub mod costs;
mod emitter;
pub mod errors;
mod externs;
pub mod features;
mod file;
mod function;
mod hints;
mod hook;
mod maps;
mod memory;
mod model;
mod names;
mod outer_maps;
mod outline;
mod packets;
mod payload;
mod placed;
mod state;
mod storage;
pub mod table;
mod target;
pub mod uses;
mod wire;

use abi::{Abi, Hook};
use costs::limits;
use costs::weights::iterations;
use costs::weights::outline::MOST_PROGRAMS;
use diag::{Diagnostics, SourceMap};
use features::Features;
use serde::{Deserialize, Serialize};

/// Condition for keeping the parse record in a per-CPU map ([`emit::plan::parse_record`]) instead of in variables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ParseRecord {
    /// Kept in the map in large programs, and after a fast path.
    BySize,
    /// Always, except in the fast path.
    Always,
}

/// Options for outlining functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outlining {
    /// Approximate number of instructions of an outlined function.
    pub size: u32,
    /// Largest number of programs, chained by tail calls, that they are in: up to
    /// [`costs::weights::outline::MOST_PROGRAMS`].
    pub programs: usize,
}

impl Outlining {
    /// Returns options for outlined functions of about `size` instructions, all in one program.
    pub fn of(size: u32) -> Outlining {
        Outlining { size, programs: 1 }
    }
}

/// Options of a compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Hook at which the program is to run.
    pub hook: Hook,
    /// The program's main file, as named on the command line.
    pub source_name: String,
    /// C files with the bodies of externs that the program declares, as `#include` will find them.
    pub extern_files: Vec<String>,
    /// Number of ports that the port maps hold.
    pub max_ports: u32,
    /// True to keep as much as possible in the per-CPU map: for a program whose stack proved too large.
    pub spill_everything: bool,
    /// Options for outlining functions ([`cgen::outline`]), if they are outlined. Then as much as possible is in the
    /// per-CPU map, whatever [`Options::spill_everything`] and [`Options::parse_record`] say.
    pub outline: Option<Outlining>,
    /// True to copy every header to variables: for a program that the verifier refused because the compiler separated
    /// accesses from their checks.
    pub copy_headers: bool,
    /// Condition for keeping the parse record in a per-CPU map.
    pub parse_record: ParseRecord,
    /// Features of the kernel that is to run the program.
    pub features: Features,
    /// Number of loop iterations that a parser may take for one packet, if the kernel has no
    /// [`features::Feature::MayGoto`].
    pub parser_iterations: u32,
    /// Layout of tables that it fits and that request none. `None` chooses by time, within [`Options::table_memory`].
    pub layout: Option<layout::Structure>,
    /// Bytes that each table may take for a faster search; `None` is the default of [`tables::Budget`].
    pub table_memory: Option<u64>,
    /// Gives tables few maps, for programs that have too many otherwise.
    pub spares_maps: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            hook: Hook::Xdp,
            source_name: String::new(),
            extern_files: Vec::new(),
            max_ports: 1024,
            spill_everything: false,
            outline: None,
            copy_headers: false,
            parse_record: ParseRecord::BySize,
            features: Features::newest(),
            parser_iterations: iterations::MOST,
            layout: None,
            table_memory: None,
            spares_maps: false,
        }
    }
}

/// Result of a compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BpfOutput {
    /// The C file, for `clang -target bpf -mcpu=v3 -O2 -g` with [`headers`] on the include path.
    pub c_source: String,
    /// Description of the object for user space.
    pub abi: Abi,
    /// Costs of the object.
    pub report: Report,
}

/// Estimates and decisions, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Bytes of stack, of 512.
    pub stack_estimate: u32,
    /// Instructions.
    pub instruction_estimate: u32,
    /// Bytes in the per-CPU map.
    pub scratch_bytes: u32,
    /// Variables that were moved there because the stack has no room for them.
    pub scratch_variables: Vec<String>,
    /// True if there is a fast path beside the full program.
    pub fast_path: bool,
    /// True if the parse record is in the per-CPU map.
    pub parse_record: bool,
    /// Estimate of the instructions that the verifier would process if the parse record were in variables, up to
    /// [`costs::weights::walk::MOST`].
    pub verifier_estimate: u64,
    /// Headers that live in variables instead of the packet.
    pub copied_headers: Vec<String>,
    /// Header stacks, and stacks of unions, whose elements are parsed by a loop and found by tables in the parse
    /// record: names, and numbers of elements.
    pub rolled_stacks: Vec<(String, u32)>,
    /// Maps that the program uses, of the 64 that the kernel lets it use: an outer map counts as one, whatever is in
    /// it.
    pub maps_used: usize,
    /// Number of tables' maps that are in an outer map, because the program would use too many.
    pub inner_maps: usize,
    /// Number of functions of the object, except those of headers.
    pub functions: usize,
    /// Number of them that are outlined from a longer one.
    #[serde(rename = "parts")]
    pub outlined: usize,
    /// Number of programs, chained by tail calls, that they are in.
    pub programs: usize,
    /// Instructions of the longest function.
    pub longest_estimate: u32,
    /// True if there are variables that could be in a per-CPU map, and are not.
    pub movable_variables: bool,
    /// True if the packet's head may move.
    pub moves_head: bool,
    /// Number of loop iterations that one packet may take, if the verifier has to follow each.
    pub parser_iterations: Option<u32>,
}

pub use model::same_code;

impl Report {
    /// Returns true if the verifier may have less to process if the program is compiled differently.
    pub fn can_shrink(&self) -> bool {
        self.parser_iterations.is_some()
            || !self.parse_record
            || self.fast_path
            || self.outlined == 0
            || self.programs < MOST_PROGRAMS
            || self.variables_can_be_forgotten()
    }

    /// Returns true if the verifier may have less to process if no variable is in a register. A very long program is
    /// too large for other reasons, and takes clang long.
    pub fn variables_can_be_forgotten(&self) -> bool {
        self.movable_variables && !limits::needs_long_jumps(self)
    }
}

/// Compiles a program, as `ir::passes` leave it, and its fast path if it has such (see `ir::passes::fast_path`), for
/// [`Options::hook`].
///
/// # Errors
///
/// Diagnostics if the program is of an architecture that the hook does not run, or uses what the kernel does
/// not have.
pub fn compile(
    program: &ir::Program,
    fast: Option<&ir::Program>,
    map: &SourceMap,
    options: &Options,
) -> Result<BpfOutput, Diagnostics> {
    compile::compile(program, fast, map, options)
}

/// Returns the headers that generated C includes: paths relative to the include path, and texts.
pub fn headers() -> &'static [(&'static str, &'static str)] {
    macro_rules! headers {
        ($($name:literal),*) => {
            &[
                emit::HEADERS[0],
                emit::HEADERS[1],
                emit::HEADERS[2],
                emit::HEADERS[3],
                emit::HEADERS[4],
                emit::HEADERS[5],
                emit::HEADERS[6],
                emit::HEADERS[7],
                emit::HEADERS[8],
                messages::HEADERS[0],
                messages::HEADERS[1],
                messages::HEADERS[2],
                messages::HEADERS[3],
                messages::HEADERS[4],
                messages::HEADERS[5],
                messages::HEADERS[6],
                messages::HEADERS[7],
                messages::HEADERS[8],
                tables::HEADERS[0],
                tables::HEADERS[1],
                tables::HEADERS[2],
                tables::HEADERS[3],
                tables::HEADERS[4],
                tables::HEADERS[5],
                tables::HEADERS[6],
                ::state::HEADERS[0],
                ::state::HEADERS[1],
                ::state::HEADERS[2],
                ::state::HEADERS[3],
                ::state::HEADERS[4],
                ::state::HEADERS[5],
                ::state::HEADERS[6],
                ::state::HEADERS[7],
                ::state::HEADERS[8],
                ::state::HEADERS[9],
                $((
                    concat!("onpath/", $name),
                    include_str!(concat!("../include/onpath/", $name)),
                )),*
            ]
        };
    }
    const _: () = assert!(emit::HEADERS.len() == 9, "all of them are in the list");
    const _: () = assert!(messages::HEADERS.len() == 9, "all of them are in the list");
    const _: () = assert!(tables::HEADERS.len() == 7, "all of them are in the list");
    const _: () = assert!(::state::HEADERS.len() == 10, "all of them are in the list");
    headers!(
        "bpf.h",
        "checksum_complete.h",
        "checksum_partial.h",
        "cut.h",
        "drops.h",
        "for_whom.h",
        "fragments.h",
        "kernel_packet.h",
        "lock.h",
        "ordered.h",
        "memory.h",
        "large.h",
        "payload.h",
        "outer_maps.h",
        "observe.h",
        "onpath.h",
        "programs.h",
        "read_kernel.h",
        "resize.h",
        "rewrite.h",
        "send.h",
        "skb.h",
        "tc.h",
        "traffic.h",
        "tunnel.h",
        "vlan.h",
        "xdp.h"
    )
}
