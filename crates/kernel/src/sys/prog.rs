//! Loaded programs, and running them on a packet without a network device.

use super::{Map, check, open_pinned, own, pin};
use host::safe_dir::Dir;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Properties that the kernel reports of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgInfo {
    /// The kernel's number for it.
    pub id: u32,
    /// `BPF_PROG_TYPE_*`.
    pub kind: u32,
    /// Instructions processed by the verifier, over all paths.
    pub verified_instructions: u32,
    /// Instructions after the kernel's rewriting.
    pub translated_instructions: u32,
    /// Bytes of machine code.
    pub machine_code_bytes: u32,
}

/// Result of a test run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunResult {
    /// The program's return value.
    pub verdict: u32,
    /// Bytes of the packet afterwards.
    pub length: usize,
    /// Nanoseconds a run, as the kernel measured them over all repetitions.
    pub nanoseconds: u32,
}

/// Makes the kernel count how often programs run, for as long as the descriptor is open.
pub fn count_runs() -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    own(unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) })
}

pub(super) fn instruction(code: u8, dst: u8, src: u8, imm: i32) -> libbpf_sys::bpf_insn {
    let mut one = libbpf_sys::bpf_insn {
        code,
        imm,
        ..Default::default()
    };
    one.set_dst_reg(dst);
    one.set_src_reg(src);
    one
}

/// Returns the number of a function in the kernel's type information.
fn kernel_function(name: &CStr) -> io::Result<i32> {
    // SAFETY: no arguments.
    let btf = unsafe { libbpf_sys::btf__load_vmlinux_btf() };
    if btf.is_null() {
        return Err(io::Error::last_os_error());
    }
    let kind = libbpf_sys::BTF_KIND_FUNC;
    // SAFETY: the type information was just loaded, and the name is a C string.
    let id = unsafe { libbpf_sys::btf__find_by_name_kind(btf, name.as_ptr(), kind) };
    // SAFETY: it was just loaded, and nothing uses it any more.
    unsafe { libbpf_sys::btf__free(btf) };
    check(id).map_err(|_| io::ErrorKind::Unsupported.into())
}

/// A loaded program.
#[derive(Debug)]
pub struct Prog {
    fd: OwnedFd,
}

impl Prog {
    /// Takes a program's descriptor.
    pub fn from_fd(fd: OwnedFd) -> Prog {
        Prog { fd }
    }

    /// Loads an XDP program that does nothing but return a verdict.
    pub fn constant_xdp(verdict: i32) -> io::Result<Prog> {
        Prog::constant(libbpf_sys::BPF_PROG_TYPE_XDP, verdict)
    }

    /// Loads a tc program that does nothing but return a verdict.
    pub fn constant_tc(verdict: i32) -> io::Result<Prog> {
        Prog::constant(libbpf_sys::BPF_PROG_TYPE_SCHED_CLS, verdict)
    }

    fn constant(kind: libbpf_sys::bpf_prog_type, verdict: i32) -> io::Result<Prog> {
        // r0 = verdict; exit
        let code = [instruction(0xb7, 0, 0, verdict), instruction(0x95, 0, 0, 0)];
        // It reads no packet, so packets in several buffers make no difference.
        let flags = match kind {
            libbpf_sys::BPF_PROG_TYPE_XDP => libbpf_sys::BPF_F_XDP_HAS_FRAGS,
            _ => 0,
        };
        Prog::with_flags(kind, c"constant", &code, flags)
    }

    /// Loads an XDP program with a loop that only `may_goto` ends.
    pub fn may_goto() -> io::Result<Prog> {
        // r0 = 0; may_goto +1; goto -2; exit
        let mut code = [
            instruction(0xb7, 0, 0, 0),
            instruction(0xe5, 0, 0, 0),
            instruction(0x05, 0, 0, 0),
            instruction(0x95, 0, 0, 0),
        ];
        code[1].off = 1;
        code[2].off = -2;
        Prog::from_instructions(libbpf_sys::BPF_PROG_TYPE_XDP, c"may_goto", &code)
    }

    /// Loads an XDP program with a jump whose distance has 32 bits.
    pub fn long_jump() -> io::Result<Prog> {
        // r1 = 1; r0 = 0; if r1 == 0 goto +1; gotol +1; r0 = r9; exit. A kernel that reads the distance where short
        // jumps have theirs reaches the read of a register that nothing set.
        let mut code = [
            instruction(0xb7, 1, 0, 1),
            instruction(0xb7, 0, 0, 0),
            instruction(0x15, 1, 0, 0),
            instruction(0x06, 0, 0, 1),
            instruction(0xbf, 0, 9, 0),
            instruction(0x95, 0, 0, 0),
        ];
        code[2].off = 1;
        Prog::from_instructions(libbpf_sys::BPF_PROG_TYPE_XDP, c"gotol", &code)
    }

    /// Loads an XDP program that spills a number, checks a bound of its copy, and relies on the bound for the spilled
    /// one.
    pub fn tracked_spill() -> io::Result<Prog> {
        // r0 = clock(); r2 = r0; *(r10 - 8) = r2; if r2 > 7 goto +5;
        // r3 = *(r10 - 8); r4 = r10; r4 += -16; r4 += r3; *(u8 *)r4 = 0; r0 = 0; exit
        let mut code = [
            instruction(0x85, 0, 0, libbpf_sys::BPF_FUNC_ktime_get_ns as i32),
            instruction(0xbf, 2, 0, 0),
            instruction(0x7b, 10, 2, 0),
            instruction(0x25, 2, 0, 7),
            instruction(0x79, 3, 10, 0),
            instruction(0xbf, 4, 10, 0),
            instruction(0x07, 4, 0, -16),
            instruction(0x0f, 4, 3, 0),
            instruction(0x72, 4, 0, 0),
            instruction(0xb7, 0, 0, 0),
            instruction(0x95, 0, 0, 0),
        ];
        code[2].off = -8;
        code[3].off = 5;
        code[4].off = -8;
        Prog::from_instructions(libbpf_sys::BPF_PROG_TYPE_XDP, c"spill", &code)
    }

    /// Loads a tc program that only calls a function of the kernel with its context. Needs BTF;
    /// [`io::ErrorKind::Unsupported`] if the kernel has no such function.
    pub fn calls_kernel(function: &CStr) -> io::Result<Prog> {
        const PSEUDO_KFUNC_CALL: u8 = 2;
        let id = kernel_function(function)?;
        // r0 = function(r1); r0 = 0; exit
        let code = [
            instruction(0x85, 0, PSEUDO_KFUNC_CALL, id),
            instruction(0xb7, 0, 0, 0),
            instruction(0x95, 0, 0, 0),
        ];
        Prog::from_instructions(libbpf_sys::BPF_PROG_TYPE_SCHED_CLS, c"kfunc", &code)
    }

    /// Loads a tc program that sends every packet out of a device.
    pub fn redirect_tc(ifindex: u32) -> io::Result<Prog> {
        // r1 = ifindex; r2 = 0; r0 = redirect(r1, r2); exit
        let code = [
            instruction(0xb7, 1, 0, ifindex as i32),
            instruction(0xb7, 2, 0, 0),
            instruction(0x85, 0, 0, libbpf_sys::BPF_FUNC_redirect as i32),
            instruction(0x95, 0, 0, 0),
        ];
        Prog::from_instructions(libbpf_sys::BPF_PROG_TYPE_SCHED_CLS, c"onpath_out", &code)
    }

    /// Loads a tc program that runs the program in the array's first slot, and lets packets pass while the slot is
    /// empty. `name` has 15 bytes at most.
    pub fn gate(array: &Map, name: &CStr) -> io::Result<Prog> {
        const PSEUDO_MAP_FD: u8 = 1;
        let fd = array.as_fd().as_raw_fd();
        // r2 = array; r3 = 0; tail_call(r1, r2, r3); r0 = -1; exit
        let code = [
            instruction(0x18, 2, PSEUDO_MAP_FD, fd),
            instruction(0, 0, 0, 0),
            instruction(0xb7, 3, 0, 0),
            instruction(0x85, 0, 0, libbpf_sys::BPF_FUNC_tail_call as i32),
            instruction(0xb7, 0, 0, -1),
            instruction(0x95, 0, 0, 0),
        ];
        Prog::from_instructions(libbpf_sys::BPF_PROG_TYPE_SCHED_CLS, name, &code)
    }

    pub(super) fn from_instructions(
        kind: libbpf_sys::bpf_prog_type,
        name: &CStr,
        code: &[libbpf_sys::bpf_insn],
    ) -> io::Result<Prog> {
        Prog::with_flags(kind, name, code, 0)
    }

    fn with_flags(
        kind: libbpf_sys::bpf_prog_type,
        name: &CStr,
        code: &[libbpf_sys::bpf_insn],
        flags: u32,
    ) -> io::Result<Prog> {
        let mut opts = libbpf_sys::bpf_prog_load_opts::default();
        opts.sz = size_of_val(&opts) as _;
        opts.prog_flags = flags;
        // SAFETY: names, instructions and options outlive the call.
        let fd = own(unsafe {
            libbpf_sys::bpf_prog_load(
                kind,
                name.as_ptr(),
                c"GPL".as_ptr(),
                code.as_ptr(),
                code.len() as _,
                &mut opts,
            )
        })?;
        Ok(Prog { fd })
    }

    /// Opens a program by the kernel's number for it.
    pub fn by_id(id: u32) -> io::Result<Prog> {
        // SAFETY: no pointers.
        let fd = own(unsafe { libbpf_sys::bpf_prog_get_fd_by_id(id) })?;
        Ok(Prog { fd })
    }

    /// Returns the kernel's numbers for the maps that it uses, the first eight at most.
    pub fn map_ids(&self) -> io::Result<Vec<u32>> {
        let mut ids = [0u32; 8];
        let mut info = libbpf_sys::bpf_prog_info {
            nr_map_ids: ids.len() as u32,
            map_ids: ids.as_mut_ptr() as u64,
            ..Default::default()
        };
        let mut len = size_of_val(&info) as u32;
        // SAFETY: `info` is `len` bytes of plain data; its only pointer is to as many numbers as it says.
        check(unsafe {
            libbpf_sys::bpf_prog_get_info_by_fd(self.fd.as_raw_fd(), &mut info, &mut len)
        })?;
        Ok(ids[..ids.len().min(info.nr_map_ids as usize)].to_vec())
    }

    /// Returns the number of its runs since its load, as far as the kernel counted; see [`count_runs`].
    pub fn runs(&self) -> io::Result<u64> {
        Ok(self.raw_info()?.run_cnt)
    }

    /// Returns the number of its runs since its load, and their total time, as far as the kernel measured; see
    /// [`count_runs`].
    pub fn run_time(&self) -> io::Result<(u64, Duration)> {
        let info = self.raw_info()?;
        Ok((info.run_cnt, Duration::from_nanos(info.run_time_ns)))
    }

    fn raw_info(&self) -> io::Result<libbpf_sys::bpf_prog_info> {
        let mut info = libbpf_sys::bpf_prog_info::default();
        let mut len = size_of_val(&info) as u32;
        // SAFETY: `info` is `len` bytes of plain data, its pointers null.
        check(unsafe {
            libbpf_sys::bpf_prog_get_info_by_fd(self.fd.as_raw_fd(), &mut info, &mut len)
        })?;
        Ok(info)
    }

    /// Opens a pinned program.
    pub fn open(folder: &Dir, name: &str) -> io::Result<Prog> {
        Ok(Prog {
            fd: open_pinned(folder, name)?,
        })
    }

    /// Pins it.
    pub fn pin(&self, folder: &Dir, name: &str) -> io::Result<()> {
        pin(self.fd.as_raw_fd(), folder, name)
    }

    /// Returns the properties that the kernel reports of it.
    pub fn info(&self) -> io::Result<ProgInfo> {
        let info = self.raw_info()?;
        Ok(ProgInfo {
            id: info.id,
            kind: info.type_,
            verified_instructions: info.verified_insns,
            translated_instructions: info.xlated_prog_len / 8,
            machine_code_bytes: info.jited_prog_len,
        })
    }

    /// Runs an XDP program `repeat` times on `packet` (at least 14 bytes). Each run gets the packet as the one before
    /// left it, and the last result is in `out`, which must be large enough. The program sees `ingress_ifindex`, a
    /// device of this network namespace; 0 is the loopback device.
    pub fn run_xdp(
        &self,
        packet: &[u8],
        out: &mut [u8],
        ingress_ifindex: u32,
        repeat: u32,
    ) -> io::Result<RunResult> {
        let context = libbpf_sys::xdp_md {
            data_end: packet.len() as u32,
            ingress_ifindex,
            ..Default::default()
        };
        let mut opts = libbpf_sys::bpf_test_run_opts::default();
        opts.sz = size_of_val(&opts) as _;
        opts.data_in = packet.as_ptr().cast();
        opts.data_size_in = packet.len() as u32;
        opts.data_out = out.as_mut_ptr().cast();
        opts.data_size_out = out.len() as u32;
        opts.repeat = repeat as i32;
        if ingress_ifindex != 0 {
            opts.ctx_in = (&raw const context).cast();
            opts.ctx_size_in = size_of_val(&context) as u32;
        }
        // SAFETY: every pointer is to memory of the length given beside it.
        check(unsafe { libbpf_sys::bpf_prog_test_run_opts(self.fd.as_raw_fd(), &mut opts) })?;
        Ok(RunResult {
            verdict: opts.retval,
            length: opts.data_size_out as usize,
            nanoseconds: opts.duration,
        })
    }
}

impl Prog {
    /// Lets an XDP program send `count` copies of a packet through the real network stack: its
    /// redirects and transmissions happen, in batches of 64.
    pub fn run_live(&self, packet: &[u8], count: u32) -> io::Result<()> {
        let context = libbpf_sys::xdp_md {
            data_end: packet.len() as u32,
            ..Default::default()
        };
        let mut opts = libbpf_sys::bpf_test_run_opts::default();
        opts.sz = size_of_val(&opts) as _;
        opts.data_in = packet.as_ptr().cast();
        opts.data_size_in = packet.len() as u32;
        opts.ctx_in = (&raw const context).cast();
        opts.ctx_size_in = size_of_val(&context) as u32;
        opts.repeat = count as i32;
        opts.flags = libbpf_sys::BPF_F_TEST_XDP_LIVE_FRAMES;
        // SAFETY: every pointer is to memory of the length given beside it.
        check(unsafe { libbpf_sys::bpf_prog_test_run_opts(self.fd.as_raw_fd(), &mut opts) })
            .map(|_| ())
    }
}

impl AsFd for Prog {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
