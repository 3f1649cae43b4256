// SPDX-License-Identifier: Apache-2.0
//
// The relay: two stages, each with a parser, a control and a deparser. What the near deparser makes of a packet the far
// parser gets.

#ifndef _RELAY_MODEL_P4_
#define _RELAY_MODEL_P4_

#include <core.p4>

// What becomes of a packet behind the far stage: in the order of XDP's verdicts.
enum relay_verdict { ABORT, DROP, PASS, BACK, SEND }

struct relay_input {
    bit<32> input_port;
}

// What the controls decide, the far one last.
struct relay_output {
    bool          dropped;   // set by a stage: the packet goes no further
    relay_verdict output_action;
    bit<32>       output_port;   // read for SEND only
}

parser relay_parse<H, M>(packet_in packet, out H headers, inout M meta);
control relay_decide<H, M>(inout H headers, inout M meta, in relay_input input, inout relay_output output);
control relay_deparse<H>(in H headers, packet_out packet);

package relay<N, F, M>(relay_parse<N, M> np, relay_decide<N, M> nc, relay_deparse<N> nd,
                       relay_parse<F, M> fp, relay_decide<F, M> fc, relay_deparse<F> fd);

#endif
