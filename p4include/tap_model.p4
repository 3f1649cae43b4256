// SPDX-License-Identifier: Apache-2.0
//
//! The tap: reads packets that pass, and changes none.
//!
//! ```p4
//! tap(parser, control) main;
//! ```
//!
//! Every packet goes on as it came, whatever the program does: at XDP and at tc, in and out. The control runs for
//! a packet that the parser rejects too, with the headers that were extracted before. Only a parser that does not end keeps a
//! packet from the control; that packet goes on as well.
//!
//! Includes the filter model for its match kinds and counters, and telemetry.p4.

#ifndef _TAP_MODEL_P4_
#define _TAP_MODEL_P4_

#include <core.p4>
#include <ebpf_model.p4>
#include <telemetry.p4>

/// What is known of a packet besides its bytes.
struct tap_input {
    bit<32> length;         // bytes, from the Ethernet header on; at tc of all segments together
    bit<64> timestamp;      // now, in nanoseconds of the monotonic clock
    error   parser_error;   // why the parser rejected the packet; NoError if it did not
}

/// The block that turns bytes into headers.
parser tap_parse<H>(packet_in packet, out H headers);
/// The block that looks at them.
control tap_watch<H>(in H headers, in tap_input input);

/// The package of a tap.
/// @errors E0601 E0603
package tap<H>(tap_parse<H> p, tap_watch<H> w);

#endif
