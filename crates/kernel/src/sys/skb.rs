//! Test runs of tc programs, on a packet without a network device.

use super::{Prog, RunResult, check};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// `struct __sk_buff`, with room for fields of later kernels. A kernel accepts a struct longer than its own, but none
/// that is shorter.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct SkBuff {
    len: u32,
    pkt_type: u32,
    mark: u32,
    queue_mapping: u32,
    protocol: u32,
    vlan_present: u32,
    vlan_tci: u32,
    vlan_proto: u32,
    priority: u32,
    ingress_ifindex: u32,
    ifindex: u32,
    tc_index: u32,
    cb: [u32; 5],
    hash: u32,
    tc_classid: u32,
    data: u32,
    data_end: u32,
    napi_id: u32,
    family: u32,
    remote_ip4: u32,
    local_ip4: u32,
    remote_ip6: [u32; 4],
    local_ip6: [u32; 4],
    remote_port: u32,
    local_port: u32,
    data_meta: u32,
    flow_keys: u64,
    tstamp: u64,
    wire_len: u32,
    gso_segs: u32,
    sk: u64,
    gso_size: u32,
    tstamp_type: u8,
    padding: [u8; 3],
    hwtstamp: u64,
    later: [u64; 8],
}

/// Packet metadata of the kernel (`__sk_buff`) that a test run of a tc program takes and returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcContext {
    /// The mark of netfilter and routing.
    pub mark: u32,
    /// Class of service.
    pub priority: u32,
    /// Number of packets that the device will make of this one. With 0 or 1 it stays one.
    pub gso_segs: u32,
    /// Number of payload bytes of each of them.
    pub gso_size: u32,
    /// Control block, in which programs leave data for others that meet the packet later.
    pub control_block: [u32; 5],
}

impl Prog {
    /// Runs a tc program `repeat` times on `packet` (at least 14 bytes). Each run gets the packet as the one before
    /// left it. The last result is in `out`, which must be large enough, and in `context`. The packet is on the
    /// loopback device.
    pub fn run_tc(
        &self,
        packet: &[u8],
        out: &mut [u8],
        context: &mut TcContext,
        repeat: u32,
    ) -> io::Result<RunResult> {
        let before = SkBuff {
            mark: context.mark,
            priority: context.priority,
            gso_segs: context.gso_segs,
            gso_size: context.gso_size,
            cb: context.control_block,
            ..Default::default()
        };
        let mut after = SkBuff::default();
        let mut opts = libbpf_sys::bpf_test_run_opts::default();
        opts.sz = size_of_val(&opts) as _;
        opts.data_in = packet.as_ptr().cast();
        opts.data_size_in = packet.len() as u32;
        opts.data_out = out.as_mut_ptr().cast();
        opts.data_size_out = out.len() as u32;
        opts.ctx_in = (&raw const before).cast();
        opts.ctx_size_in = size_of_val(&before) as u32;
        opts.ctx_out = (&raw mut after).cast();
        opts.ctx_size_out = size_of_val(&after) as u32;
        opts.repeat = repeat as i32;
        // SAFETY: every pointer is to memory of the length given beside it.
        check(unsafe { libbpf_sys::bpf_prog_test_run_opts(self.as_fd().as_raw_fd(), &mut opts) })?;
        *context = TcContext {
            mark: after.mark,
            priority: after.priority,
            gso_segs: after.gso_segs,
            gso_size: context.gso_size,
            control_block: after.cb,
        };
        Ok(RunResult {
            verdict: opts.retval,
            length: opts.data_size_out as usize,
            nanoseconds: opts.duration,
        })
    }
}
