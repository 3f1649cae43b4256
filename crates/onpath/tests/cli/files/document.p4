// SPDX-License-Identifier: Apache-2.0
//
// Lets through what is a document in XML.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

struct headers_t {
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        transition accept;
    }
}

control documents(inout headers_t hdr, in xdp_input input, out xdp_output output) {
    message("xml") document;

    apply {
        bool is_one = document.read(0) == message_status.READ;
        output.output_port = 0;
        output.output_action = is_one ? xdp_action.XDP_PASS : xdp_action.XDP_DROP;
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
    }
}

xdp(prs(), documents(), dep()) main;
