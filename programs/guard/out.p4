// SPDX-License-Identifier: Apache-2.0
//
// The guard's egress: remembers every flow that the host speaks in.

#include "guard.p4h"

control remember(inout headers_t hdr, in tc_input input, inout tc_output output) {
    flow_state<flow_t, talk_t>(FLOWS, IDLE) flows;
    CounterArray(1, false) spoken;

    apply {
        if (hdr.ipv4.isValid()) {
            flow_t flow = { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, 0, 0 };
            if (hdr.ports.isValid()) {
                flow.host_port = hdr.ports.src;
                flow.peer_port = hdr.ports.dst;
            } else if (hdr.icmp.isValid()) {
                flow.host_port = hdr.icmp.id;
                flow.peer_port = hdr.icmp.id;
            }
            talk_t talk;
            @atomic {
                flows.lookup(flow, talk);
                talk.sent = talk.sent + 1;
                flows.update(flow, talk);
            }
            spoken.increment(0);
        }
    }
}

tc(prs(), remember(), dprs()) main;
