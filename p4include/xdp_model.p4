// SPDX-License-Identifier: Apache-2.0
//
//! The XDP switch: parser, control and deparser, and one of XDP's five verdicts.
//!
//! ```p4
//! xdp(parser, control, deparser) main;
//! ```
//!
//! Includes the filter model as well: a program under XDP may be either of the two.
//! A parser that rejects ends the packet as XDP_ABORTED without running the control.

#ifndef _XDP_MODEL_P4_
#define _XDP_MODEL_P4_

#include <core.p4>
#include <ebpf_model.p4>

/// What becomes of a packet.
/// In the kernel's own order: the number of a member is the program's return value.
/// @errors E0732
enum xdp_action {
    XDP_ABORTED,   // dropped, and the kernel's exception tracepoint reports it
    XDP_DROP,      // dropped
    XDP_PASS,      // on to the kernel's network stack, as the deparser left it
    XDP_TX,        // back out of the interface that it came in on
    XDP_REDIRECT   // out of output_port
}

/// What is known of a packet besides its bytes.
struct xdp_input {
    bit<32> input_port;   // the port that the packet came in on
}

/// What the control decides.
struct xdp_output {
    xdp_action output_action;
    bit<32>    output_port;   // read for XDP_REDIRECT only
}

/// The checksum of an IPv4 header without options, to be stored as it is.
/// Quirk: the header's own checksum is not among the parameters and counts as zero.
/// @on interpreter, xdp, tc: As described.
@pure extern bit<16> ebpf_ipv4_checksum(in bit<4> version, in bit<4> ihl, in bit<8> diffserv,
                                        in bit<16> totalLen, in bit<16> identification,
                                        in bit<3> flags, in bit<13> fragOffset,
                                        in bit<8> ttl, in bit<8> protocol,
                                        in bit<32> srcAddr, in bit<32> dstAddr);

/// What an Internet checksum becomes when one 16-bit word that it covers changes (RFC 1624).
/// Quirk: the word is at an even offset; a byte has to be widened with its neighbour.
/// @on interpreter, xdp, tc: As described.
@pure extern bit<16> csum_replace2(in bit<16> csum, in bit<16> old, in bit<16> new);
/// What an Internet checksum becomes when one 32-bit word that it covers changes (RFC 1624).
/// Quirk: the word is at an even offset.
/// @on interpreter, xdp, tc: As described.
@pure extern bit<16> csum_replace4(in bit<16> csum, in bit<32> old, in bit<32> new);

/// The kernel's monotonic clock. Quirk: the low 32 bits of the nanoseconds, which wrap every 4.3 seconds.
/// @on interpreter: A clock of its own, so that a test always gets the same times: a microsecond passes from packet to packet, and what `wait` says.
/// @on xdp, tc: As described.
@isolated
extern bit<32> BPF_KTIME_GET_NS();

/// Sends the packet as it came in to user space by a perf event. The result is 0, or the kernel's error number.
/// @on interpreter: The result is always 0.
/// @on xdp, tc: The event has the packet's length in 32 bits, and then its bytes. Without a reader the result is an error's number.
extern bit<32> BPF_PERF_EVENT_OUTPUT();

/// The block that turns bytes into headers.
parser xdp_parse<H>(packet_in packet, out H headers);
/// The block that decides.
control xdp_switch<H>(inout H headers, in xdp_input imd, out xdp_output omd);
/// The block that turns headers into bytes.
control xdp_deparse<H>(in H headers, packet_out packet);

/// The package of an XDP switch.
/// @errors E0601 E0603
package xdp<H>(xdp_parse<H> p, xdp_switch<H> s, xdp_deparse<H> d);

#endif
