// SPDX-License-Identifier: Apache-2.0
//
//! Traffic control: parser, control and deparser at an interface's ingress or egress.
//!
//! ```p4
//! tc(parser, control, deparser) main;
//! ```
//!
//! The packet is seen as it is on the wire: where the device took the outermost VLAN tag out, it is put back
//! before the parser runs. A packet that segmentation offload will split later is one packet here, with
//! the headers of all its segments; its length covers all segments.
//! A parser that rejects drops the packet without running the control. A packet that would leave shorter than an
//! Ethernet header, or end within a VLAN tag, is dropped too.
//!
//! Includes the models of XDP and of filters: a program under tc may be any of the three. At XDP, a program of
//! this model is refused (E0720).

#ifndef _TC_MODEL_P4_
#define _TC_MODEL_P4_

#include <core.p4>
#include <xdp_model.p4>

/// The direction of a packet.
enum tc_direction {
    TC_INGRESS,   // from the wire to the host
    TC_EGRESS     // from the host to the wire
}

/// What becomes of a packet.
/// TC_PASS is first: a control that sets no verdict lets the packet go on.
enum tc_verdict {
    TC_PASS,              // on its way, as the deparser left it
    TC_DROP,
    TC_REDIRECT_EGRESS,   // out of output_port
    TC_REDIRECT_INGRESS   // as if it had come in on output_port
}

/// What is known of a packet besides its bytes.
struct tc_input {
    bit<32>      input_port;     // the interface at which the program runs
    tc_direction direction;
    bit<32>      length;         // bytes, from the Ethernet header on; of all segments together
    bit<32>      mark;           // as netfilter and routing know it
    bit<32>      priority;
    bit<1>       vlan_present;   // whether the packet has a VLAN tag that the device keeps beside it
    bit<16>      vlan_tci;       // that tag: priority, drop eligibility, identifier
    bit<64>      timestamp;      // now, in nanoseconds of the monotonic clock
    bit<32>      gso_segments;   // packets that the device will make of this one; 0 or 1 too where the count is unknown: see gso_size
    bit<32>      gso_size;       // payload bytes of each of them but the last; 0: it stays one
    bit<32>      mtu;            // of the interface, without the Ethernet header; 0 if it is not known
}

/// What the control decides. It gets mark and priority as the packet has them, the rest as zeros.
/// Copies are made whatever the verdict, of a packet that is dropped too: the clone first, then those of the group in
/// its order, and then the packet itself. A packet that the parser rejects has none.
struct tc_output {
    tc_verdict verdict;
    bit<32>    output_port;       // read for the redirects only
    bit<32>    mark;
    bit<32>    priority;
    bit<16>    queue;             // the transmit queue, counted from 1; 0 leaves the choice as it is
    bool       clone;             // whether a copy, as the deparser left the packet, goes out of clone_port
    bit<32>    clone_port;
    bit<16>    multicast_group;   // a copy goes out of each port of the group; 0 is no group
}

/// What the checksum of a transport header (TCP, UDP, ICMPv6) becomes when a 16-bit word that it covers changes.
/// `pseudo` means that the word belongs to the pseudo header (addresses, length) instead of the segment. Where
/// the device is to compute the checksum, the packet holds the sum of the pseudo header only: then changes
/// to the segment change nothing. The word is at an even offset.
/// Quirk: a UDP packet without a checksum holds 0; the program has to leave it unchanged.
/// @on interpreter: Packets are as they are on the wire: no device is to compute a checksum, and `pseudo` makes no difference.
/// @on xdp: Refused (E0720): no program for tc_model runs there.
/// @on tc: As described.
/// @errors E0720
extern bit<16> l4_csum_replace2(in bit<16> csum, in bit<16> old, in bit<16> new, in bool pseudo);
/// What the checksum of a transport header becomes when a 32-bit word that it covers changes: as `l4_csum_replace2`.
/// @on interpreter: Packets are as they are on the wire: no device is to compute a checksum, and `pseudo` makes no difference.
/// @on xdp: Refused (E0720): no program for tc_model runs there.
/// @on tc: As described.
/// @errors E0720
extern bit<16> l4_csum_replace4(in bit<16> csum, in bit<32> old, in bit<32> new, in bool pseudo);

/// 32 random bits, not for secrets.
/// @on interpreter: They follow from the seed (`onpath test --seed`), so that a test always gets the same.
/// @on xdp: Refused (E0720): no program for tc_model runs there.
/// @on tc: As described.
/// @errors E0720
@isolated
extern bit<32> random32();

/// The block that turns bytes into headers.
parser tc_parse<H>(packet_in packet, out H headers);
/// The block that decides.
control tc_control<H>(inout H headers, in tc_input input, inout tc_output output);
/// The block that turns headers into bytes.
control tc_deparse<H>(in H headers, packet_out packet);

/// The package of a program for traffic control.
/// @errors E0601 E0603
package tc<H>(tc_parse<H> p, tc_control<H> c, tc_deparse<H> d);

#endif
