//! Constants of the cost estimates and of the decisions based on them: weights and limits, with their sources.

/// Limits of the kernel.
pub mod kernel {
    /// Largest number of instructions of a program. The verifier also gives up on a program after it has processed this
    /// many (`BPF_COMPLEXITY_LIMIT_INSNS` of Linux).
    pub const LONGEST: u32 = 1_000_000;

    /// Number of instructions that a jump can span if the kernel lacks [`crate::features::Feature::LongJumps`].
    pub const FARTHEST: u32 = 32_767;

    /// Largest number of functions of a program (`BPF_MAX_SUBPROGS` of Linux).
    pub const MOST_FUNCTIONS: usize = 256;

    /// Largest number of maps that a program may use (`MAX_USED_MAPS` of Linux).
    pub const MOST_MAPS: usize = 64;

    /// Bytes of stack that a program may use, over all functions of a call chain (`MAX_BPF_STACK` of Linux).
    pub const STACK: u32 = 512;

    /// Bytes that a per-CPU array's value may have (`PCPU_MIN_UNIT_SIZE` of Linux).
    pub const SCRATCH: u32 = 32 << 10;

    /// Largest offset into a packet that the generated code follows, in bytes. The verifier accepts offsets below 64
    /// KiB in all.
    pub const MAX_OFFSET: u64 = 0x7fff;
}

/// Memory of variables.
pub mod memory {
    /// Bytes of stack that the functions of `onpath/rewrite.h` take.
    pub const REWRITING: u32 = 96;

    /// Bytes of the stack that variables may take, so that the compiler has room for what it adds.
    pub const STACK: u32 = 320;

    /// Largest number of members of a stage's memory that the map's BTF describes by name. For each line of the
    /// program, clang searches all names that were described before.
    pub const MOST_DESCRIBED: usize = 256;

    /// Bytes of a packet's front that are kept for fields of variable length, if the packet is deparsed several times:
    /// a power of two. `bpf.h` has it too.
    pub const KEPT_FRONT: u32 = 2048;
}

/// Estimates of C ([`super::code`]).
pub mod code {
    /// Registers that hold variables across calls.
    pub const REGISTERS: u32 = 4;

    /// Bytes of a struct on the stack, which is a key most of the time.
    pub const STRUCT: u32 = 24;

    /// Instructions of a call of a helper of the kernel: its arguments go to memory first.
    pub const HELPER: u32 = 4;

    /// Instructions that a call of anything else tends to take.
    pub const CALL: u32 = 2;
}

/// Estimate of the instructions that the verifier may process of IR ([`super::walk`]).
pub mod walk {
    /// Largest number of sets of headers that the estimate distinguishes at one point; more sets cost as much as this
    /// many.
    pub const SETS: usize = 1024;

    /// Instructions of a statement, besides its expressions' nodes.
    pub const STATEMENT: u64 = 3;
    /// Instructions of a table's look-up, without the actions.
    pub const LOOK_UP: u64 = 40;
    /// Instructions of a call of an extern object: a map's element is found and changed.
    pub const OBJECT: u64 = 60;

    /// Largest value of the estimate, however large the program is: ten times what the verifier processes.
    pub const MOST: u64 = 10 * super::kernel::LONGEST as u64;

    /// Largest estimate of a program that keeps the parse record in variables. It then runs a little faster, and the
    /// verifier takes a few milliseconds.
    pub const MOST_IN_VARIABLES: u64 = 10_000;

    /// Largest estimate of a stage that may have several copies of its deparser.
    pub const MOST_WITH_COPIES: u64 = 1000;

    /// Largest estimate of a program that reads messages in one function. Above it, the verifier takes seconds or gives
    /// up. Measured for queries on HTTP: it processed 100,000 instructions at an estimate of 173,000, but at least
    /// 840,000 from an estimate of 178,000 on. Outlined into several functions, it processed 80,000.
    pub const RISKY: u64 = 175_000;

    /// Longest key of a group, in words, for which a program that reads messages searches a set's ways by inline code.
    /// For longer keys, such as texts of messages, it calls a function, which takes some nanoseconds more.
    pub const SHORT_KEY: u32 = 8;
}

/// Least number of instructions that the verifier processes of IR ([`super::forecast`]), by construct.
pub mod forecast {
    /// A parser's state.
    pub const STATE: u64 = 9;
    /// An edge out of a state by the cases of its `select`. Clang may merge cases that lead to the same state.
    pub const CASE: u64 = 2;
    /// An `if`, or a value of a `switch`.
    pub const CONDITION: u64 = 8;
    /// A look-up in a table with keys.
    pub const LOOK_UP: u64 = 30;
    /// An action of such a table.
    pub const ACTION: u64 = 18;
    /// A call of an extern object that counts in a map.
    pub const CALL: u64 = 18;

    /// Largest forecast of a program that is compiled, if it may be several programs chained by tail calls. The
    /// verifier would accept more, but clang takes minutes. For parsers of 20,000 states, whose forecast is 540,000,
    /// clang takes nearly two minutes and the kernel nearly one.
    pub const MOST: u64 = 800_000;

    /// Largest forecast of a program whose packets are copied, resubmitted or recirculated. Its loop over the copies
    /// has to be one program, and the verifier processes a million instructions of one. For parsers with eight edges
    /// out of each state, these are three times the forecast.
    pub const MOST_OF_ONE: u64 = 350_000;

    /// Largest number of elements of a header stack that does not stay rolled. An access by index has a case for each
    /// element. With more cases, clang's code exceeds the BPF stack.
    pub const MOST_CASES: usize = 256;

    /// Largest number of elements of such a stack if copies of packets differ, since each copy has all elements. The
    /// verifier then processes half a million instructions.
    pub const MOST_CASES_OF_COPIES: usize = 128;
}

/// Lengths of code.
pub mod length {
    /// Ratio of the instructions of a program's C ([`super::code`]) to those that its IR suggests ([`super::walk`]):
    /// 1.4 to 3.
    pub const OF_IR: u64 = 2;

    /// Ratio of half a program's forecast length to the span of a jump. Above it, the program is certainly too long for
    /// one function.
    pub const CERTAINLY: u32 = 3;

    /// Largest ratio of a program's estimated length to its real one. The largest ratio that was seen is 2.7.
    pub const OVERESTIMATE: u32 = 3;

    /// Ratio of a function's estimated length to the span of a jump. Above it, the function is likely to have a jump
    /// that is too far.
    pub const NEEDS_LONG_JUMPS: u32 = 2;

    /// Largest estimate, in instructions, of a program whose copies differ that may still be within the kernel's
    /// limit. The estimate is closer for these: the verifier was seen to process 0.8 to 1.7 times as many.
    pub const LONGEST_OF_COPIES: u64 = super::kernel::LONGEST as u64 * 5 / 4;
}

/// Clang's time.
pub mod clang {
    /// Length of a function, in instructions, above which clang does not describe the locations of its variables.
    /// Describing them would take clang longer than all the rest, and the time grows faster than the function.
    pub const LONG: u32 = 4_000;

    /// Instructions, by estimate, that clang compiles in about a second, for outlined parsers; fewer for long
    /// functions.
    pub const A_SECOND: u32 = 15_000;

    /// Instructions, by estimate, from which clang may take more than five seconds.
    pub const SLOW: u32 = 5 * A_SECOND;
}

/// Outlined functions, and programs chained by tail calls.
pub mod outline {
    /// Approximate length of an outlined function, in instructions. Clang's time grows faster than a function does,
    /// and each call takes a few nanoseconds. In a loop that is not outlined, stack slots that clang spilled to in one
    /// iteration most likely keep the verifier from pruning states of the next. It was seen not to finish on loops of
    /// 1,500 instructions.
    pub const SIZE: u32 = 1_000;

    /// Instructions that a statement of a program tends to become.
    pub const STATEMENT: u32 = 25;

    /// Number of positions at which a function can be cut, in the length of an outlined function.
    pub const PLACES: u32 = 8;

    /// Largest number of functions of a program besides those of headers, of [`super::kernel::MOST_FUNCTIONS`].
    pub const MOST: usize = 220;

    /// Greatest nesting depth of blocks that functions are outlined from. Each level calls the next, and a packet's
    /// functions may have eight frames.
    pub const DEEPEST: u32 = 3;

    /// The same for programs that read QUIC, whose functions take most of the frames.
    pub const DEEPEST_WITH_QUIC: u32 = 0;

    /// Inverse share of outlined functions among the functions that a program may have. It leaves room for estimates
    /// that are too low.
    pub const ONE_IN: usize = 2;

    /// The same as [`ONE_IN`], for several chained programs.
    pub const ONE_IN_OF_SEVERAL: usize = 3;

    /// Largest number of programs that one is split into. The kernel allows a packet at least 32 tail calls, one of
    /// which may lead to the first program.
    pub const MOST_PROGRAMS: usize = 24;

    /// Length of one of several chained programs, in instructions by estimate. The verifier was seen to process up to
    /// 1.7 times as many. It would accept more than that, but the time that the kernel needs grows faster than a
    /// program does.
    pub const PROGRAM: u32 = 150_000;

    /// Factor on the estimated number of chained programs, if the verifier refuses that number.
    pub const MORE_PROGRAMS: usize = 4;
}

/// Iterations of loops that a packet may take, if the verifier has to follow each.
pub mod iterations {
    /// Number of iterations that is tried first: as many as there are bytes in a packet of Ethernet's usual size.
    pub const MOST: u32 = 1600;

    /// Numbers that are tried after that, one after the other.
    pub const FEWER: [u32; 4] = [400, 100, 32, 8];
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_c_keeps_as_much_of_a_packets_front() {
        let mut headers = crate::headers().iter();
        let text = headers.find(|(name, _)| *name == "onpath/bpf.h");
        let define = format!("#define GATHERED_FRONT {}\n", super::memory::KEPT_FRONT);
        assert!(text.is_some_and(|(_, text)| text.contains(&define)));
    }
}
