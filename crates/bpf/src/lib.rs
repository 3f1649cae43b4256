//! IR to BPF C and a description of its maps: pure, deterministic, no kernel.
//!
//! [`compile`] takes a program after `ir::passes` and gives C that clang makes an object of, the
//! description that user space keeps its tables by ([`abi::Abi`]), and a report of what the object will
//! need. The C includes only the headers that [`headers`] gives.

/// How many parameters a function of the program may have, results aside: what BPF passes in registers.
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
mod packets;
mod parts;
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
use costs::weights::parts::MOST_PROGRAMS;
use costs::weights::turns;
use diag::{Diagnostics, SourceMap};
use features::Features;
use serde::{Deserialize, Serialize};

/// When what the parser leaves is kept in a per-CPU map ([`emit::plan::parse_record`]) instead of in variables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ParseRecord {
    /// In large programs, and in what is behind a fast path.
    BySize,
    /// Always, but for the fast path.
    Always,
}

/// How functions are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    /// About how many instructions a part has.
    pub size: u32,
    /// The most programs that they are in, which go on in each other: up to [`costs::weights::parts::MOST_PROGRAMS`].
    pub programs: usize,
}

impl Parts {
    /// Parts of about so many instructions, all in one program.
    pub fn of(size: u32) -> Parts {
        Parts { size, programs: 1 }
    }
}

/// Options of a compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Where the program is to run.
    pub hook: Hook,
    /// The program's main file, as named on the command line.
    pub source_name: String,
    /// C files with the bodies of externs that the program declares, as `#include` will find them.
    pub extern_files: Vec<String>,
    /// How many ports the port maps hold.
    pub max_ports: u32,
    /// Keep as much as possible in the per-CPU map: for a program whose stack proved too large.
    pub spill_everything: bool,
    /// Cut functions into parts ([`cgen::parts`]). Then as much as possible is in the per-CPU map, whatever
    /// [`Options::spill_everything`] and [`Options::parse_record`] say.
    pub parts: Option<Parts>,
    /// Copy every header to variables: for a program that the verifier refused although each access is
    /// behind its check, because the compiler took the checks apart.
    pub copy_headers: bool,
    /// Where what the parser leaves is kept.
    pub parse_record: ParseRecord,
    /// What the kernel has that is to run it.
    pub features: Features,
    /// How often a parser may go round in loops, for one packet, where the kernel has no [`features::Feature::MayGoto`].
    pub parser_turns: u32,
    /// The layout of tables that it is for and that do not say which they want; `None` for bit vectors, where these are
    /// not too large, and by the number of entries of other tables.
    pub layout: Option<layout::Structure>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            hook: Hook::Xdp,
            source_name: String::new(),
            extern_files: Vec::new(),
            max_ports: 1024,
            spill_everything: false,
            parts: None,
            copy_headers: false,
            parse_record: ParseRecord::BySize,
            features: Features::newest(),
            parser_turns: turns::MOST,
            layout: None,
        }
    }
}

/// What a compilation gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BpfOutput {
    /// The C file, for `clang -target bpf -mcpu=v3 -O2 -g` with [`headers`] on the include path.
    pub c_source: String,
    /// What user space must know of the object.
    pub abi: Abi,
    /// What the object will need.
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
    /// There is a fast path beside the full program.
    pub fast_path: bool,
    /// What the parser leaves is in the per-CPU map.
    pub parse_record: bool,
    /// About how many instructions the verifier would process if it were in variables, up to [`costs::weights::walk::MOST`].
    pub verifier_estimate: u64,
    /// Headers that live in variables instead of the packet.
    pub copied_headers: Vec<String>,
    /// Header stacks, and stacks of unions, whose elements are parsed by a loop and found by tables in the parse record: names, and
    /// how many elements they have.
    pub rolled_stacks: Vec<(String, u32)>,
    /// Maps that the program uses, of the 64 that the kernel lets it use: an outer map counts as one, whatever is in it.
    pub maps_used: usize,
    /// Tables' maps that are in an outer map, since the program would use too many.
    pub inner_maps: usize,
    /// Functions of the object, but for those of headers.
    pub functions: usize,
    /// How many of them are parts of a longer one.
    pub parts: usize,
    /// Programs that they are in, which go on in each other.
    pub programs: usize,
    /// Instructions of the longest function.
    pub longest_estimate: u32,
    /// Whether there are variables that could be in a per-CPU map, and are not.
    pub movable_variables: bool,
    /// Whether the packet's head may move.
    pub moves_head: bool,
    /// How often one packet may go round in loops, if the verifier has to follow each turn.
    pub parser_turns: Option<u32>,
}

pub use model::same_code;

impl Report {
    /// Whether the verifier may have less to process if the program is compiled otherwise.
    pub fn can_shrink(&self) -> bool {
        self.parser_turns.is_some()
            || !self.parse_record
            || self.fast_path
            || self.parts == 0
            || self.programs < MOST_PROGRAMS
            || self.variables_can_be_forgotten()
    }

    /// Whether the verifier may have less to process if no variable is in a register. A program that is very long is too large for
    /// other reasons, and takes clang long.
    pub fn variables_can_be_forgotten(&self) -> bool {
        self.movable_variables && !limits::needs_long_jumps(self)
    }
}

/// Compiles a program, as `ir::passes` leave it, and its fast path if it has such (see `ir::passes::fast_path`), for [`Options::hook`].
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

/// The headers that generated C includes: paths relative to the include path, and texts.
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
                tables::HEADERS[0],
                tables::HEADERS[1],
                tables::HEADERS[2],
                tables::HEADERS[3],
                tables::HEADERS[4],
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
    const _: () = assert!(messages::HEADERS.len() == 3, "all of them are in the list");
    const _: () = assert!(tables::HEADERS.len() == 5, "all of them are in the list");
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
