//! Every weight and limit by which costs are estimated and decided about, with its source.

/// Limits of the kernel.
pub mod kernel {
    /// Instructions that a program may have, and that the verifier processes of one before it gives up (`BPF_COMPLEXITY_LIMIT_INSNS` of
    /// Linux).
    pub const LONGEST: u32 = 1_000_000;

    /// Instructions that a jump can pass over where the kernel lacks [`crate::features::Feature::LongJumps`].
    pub const FARTHEST: u32 = 32_767;

    /// Functions that it lets a program have (`BPF_MAX_SUBPROGS` of Linux).
    pub const MOST_FUNCTIONS: usize = 256;

    /// The most maps that one program may use (`MAX_USED_MAPS` of Linux).
    pub const MOST_MAPS: usize = 64;

    /// Bytes of stack that a program may use, over all functions of a call chain (`MAX_BPF_STACK` of Linux).
    pub const STACK: u32 = 512;

    /// Bytes that a per-CPU array's value may have (`PCPU_MIN_UNIT_SIZE` of Linux).
    pub const SCRATCH: u32 = 32 << 10;

    /// The largest offset into a packet that the generated code follows, in bytes. The verifier takes less than 64 KiB for an offset in
    /// all.
    pub const MAX_OFFSET: u64 = 0x7fff;
}

/// Memory of variables.
pub mod memory {
    /// Bytes of stack that the functions of `onpath/rewrite.h` take.
    pub const REWRITING: u32 = 96;

    /// Bytes of the stack that variables may take, so that the compiler has room for what it adds.
    pub const STACK: u32 = 320;

    /// Members up to which the description of a stage's memory has their names. For each line of the program clang looks through all
    /// names that were described before.
    pub const MOST_DESCRIBED: usize = 256;

    /// Bytes of a packet's front that are kept for fields of variable length where the packet is put together several times: a
    /// power of two. `bpf.h` has it too.
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

/// The verifier's walk of IR ([`super::walk`]).
pub mod walk {
    /// Sets of headers at one point that the estimate distinguishes; more cost what these do.
    pub const SETS: usize = 1024;

    /// Instructions of a statement, besides its expressions' nodes.
    pub const STATEMENT: u64 = 3;
    /// Of a table's look-up, actions aside.
    pub const LOOK_UP: u64 = 40;
    /// Of a call of an extern object: a map's element is found and changed.
    pub const OBJECT: u64 = 60;

    /// Beyond that the estimate ends, however much more there is: ten times what the verifier processes.
    pub const MOST: u64 = 10 * super::kernel::LONGEST as u64;

    /// Up to which a program keeps what its parser leaves in variables: it runs a little faster, and the verifier takes a few
    /// milliseconds.
    pub const MOST_IN_VARIABLES: u64 = 10_000;

    /// Up to which a stage may grow by copies of its deparser.
    pub const MOST_WITH_COPIES: u64 = 1000;

    /// Of one function that reads messages: above it the verifier takes seconds or gives up. Of queries on HTTP, it processed 100,000
    /// instructions where 173,000 were estimated, and from 178,000 on 840,000 at least; as several functions 80,000.
    pub const RISKY: u64 = 175_000;

    /// Words of a group's key of which each path may compare those of all ways by itself, in a program that reads messages: a call takes
    /// some nanoseconds. Texts of messages have more.
    pub const SHORT_KEY: u32 = 8;
}

/// The least that the verifier processes of IR ([`super::forecast`]): instructions by construct.
pub mod forecast {
    /// A parser's state.
    pub const STATE: u64 = 9;
    /// A way out of a state by the cases of its `select`, of which clang may merge those that lead to the same state.
    pub const CASE: u64 = 2;
    /// An `if`, or a value of a `switch`.
    pub const CONDITION: u64 = 8;
    /// A look-up in a table with keys.
    pub const LOOK_UP: u64 = 30;
    /// An action of such a table.
    pub const ACTION: u64 = 18;
    /// A call of an extern object that keeps what it counts in a map.
    pub const CALL: u64 = 18;

    /// The most that is compiled, by forecast, of what may be several programs that go on in each other. The verifier would take more; it is clang that
    /// takes minutes: nearly two over parsers of 20,000 states, which are 540,000 here, and the kernel nearly one.
    pub const MOST: u64 = 800_000;

    /// The same where packets are copied or begin anew. What runs for each is a loop, which has to be one program, and the verifier processes a million
    /// instructions of one: of parsers with eight ways out of each state three times what is forecast.
    pub const MOST_OF_ONE: u64 = 350_000;

    /// Elements of a header stack that does not stay rolled: of more cases clang makes code that has no room on the stack.
    pub const MOST_CASES: usize = 256;

    /// The same where copies of packets differ, of which the verifier processes half a million instructions then: each copy has all elements.
    pub const MOST_CASES_OF_COPIES: usize = 128;
}

/// Lengths of code.
pub mod length {
    /// Instructions of the C that a program becomes ([`super::code`]), of one that its IR suggests ([`super::walk`]): 1.4 to 3.
    pub const OF_IR: u64 = 2;

    /// As many times as long as what a jump can pass over is a program that is certainly too long for one function.
    pub const CERTAINLY: u32 = 3;

    /// As many times as long as the program may be its estimate; 2.7 is the most that was seen.
    pub const OVERESTIMATE: u32 = 3;

    /// As many times as long as what a jump can pass over, by estimate, is a function that is likely to have a jump that is too far.
    pub const NEEDS_LONG_JUMPS: u32 = 2;

    /// Instructions by estimate of a program whose copies differ that may be no longer than the kernel allows. The estimate is closer
    /// there: the verifier was seen to process 0.8 to 1.7 times as many.
    pub const LONGEST_OF_COPIES: u64 = super::kernel::LONGEST as u64 * 5 / 4;
}

/// Clang's time.
pub mod clang {
    /// Of a function of more instructions it does not describe where its variables are: that would take it longer than all
    /// the rest, and as much more again each time the function doubles.
    pub const LONG: u32 = 4_000;

    /// Instructions by estimate that it takes a second, about, of parsers in parts; fewer of long functions.
    pub const A_SECOND: u32 = 15_000;

    /// Instructions by estimate from which it may take more than five seconds.
    pub const SLOW: u32 = 5 * A_SECOND;
}

/// Functions that are cut, and spread over several programs.
pub mod parts {
    /// Instructions of a part, about, of a function that is cut: clang's time grows faster than a function does, and each call takes a few
    /// nanoseconds. In a loop that is not cut, stack slots that clang spilled to in one turn most likely keep the verifier from pruning states of the
    /// next: it was seen not to finish on loops of 1,500 instructions.
    pub const SIZE: u32 = 1_000;

    /// Instructions that a statement of a program tends to become.
    pub const STATEMENT: u32 = 25;

    /// Places in a part's length where the function can be cut.
    pub const PLACES: u32 = 8;

    /// Functions of a program besides those of headers, of [`super::kernel::MOST_FUNCTIONS`].
    pub const MOST: usize = 220;

    /// One in so many functions is to be a part, which leaves room for estimates that are too low.
    pub const ONE_IN: usize = 2;

    /// The same of several programs.
    pub const ONE_IN_OF_SEVERAL: usize = 3;

    /// Programs that one may be in. The kernel lets a packet go on in another one 32 times at least, one of which may lead to the first.
    pub const MOST_PROGRAMS: usize = 24;

    /// Instructions by estimate of a program of several. The verifier was seen to process up to 1.7 times as many. It would take more than
    /// that, but the time that the kernel needs grows faster than a program does.
    pub const PROGRAM: u32 = 150_000;

    /// As many times as many programs as are needed by estimate are made if the verifier refuses those.
    pub const MORE_PROGRAMS: usize = 4;
}

/// Turns of loops that a packet may take where the verifier has to follow each.
pub mod turns {
    /// The turns if it can: as many as there are bytes in a packet of Ethernet's usual size.
    pub const MOST: u32 = 1600;

    /// Those that are tried if it cannot, one after the other.
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
