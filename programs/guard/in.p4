// SPDX-License-Identifier: Apache-2.0
//
// The guard's ingress: lets in answers to flows that the host has spoken in, open ports, ARP, and ICMP's errors.
// All else is dropped.

#include "guard.p4h"

const bit<8> ECHO_REQUEST = 8;
const bit<8> ECHO_REPLY = 0;

control admit(inout headers_t hdr, in tc_input input, inout tc_output output) {
    flow_state<flow_t, talk_t>(FLOWS, IDLE) flows;
    CounterArray(4, false) packets;   // answers, to open ports, other admitted ones, dropped

    action open() {
        packets.increment(1);
    }
    action closed() {
        output.verdict = tc_verdict.TC_DROP;
        packets.increment(3);
    }
    table services {
        key = {
            hdr.ipv4.protocol: exact @name("protocol");
            hdr.ports.dst: exact @name("port");
        }
        actions = { open; closed; }
        default_action = closed();
        size = 256;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            flow_t flow = { hdr.ipv4.dst, hdr.ipv4.src, hdr.ipv4.protocol, 0, 0 };
            if (hdr.ports.isValid()) {
                flow.host_port = hdr.ports.dst;
                flow.peer_port = hdr.ports.src;
            } else if (hdr.icmp.isValid()) {
                flow.host_port = hdr.icmp.id;
                flow.peer_port = hdr.icmp.id;
            }
            talk_t talk;
            bool known = false;
            @atomic {
                known = flows.lookup(flow, talk);
                if (known) {
                    talk.answered = talk.answered + 1;
                    flows.update(flow, talk);
                }
            }
            if (known) {
                packets.increment(0);
            } else if (hdr.icmp.isValid() && hdr.icmp.type != ECHO_REQUEST && hdr.icmp.type != ECHO_REPLY) {
                packets.increment(2);
            } else {
                services.apply();
            }
        } else if (hdr.eth.type == 0x806) {
            packets.increment(2);
        } else {
            closed();
        }
    }
}

tc(prs(), admit(), dprs()) main;
