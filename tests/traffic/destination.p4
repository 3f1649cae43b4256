// SPDX-License-Identifier: Apache-2.0
//
// Another destination address for every packet that comes in: TO, by tc_model or, with SWITCH, by xdp_model.

#ifdef SWITCH
#include <core.p4>
#include <xdp_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
#else
#include "headers.p4h"
#endif

struct headers_t { ethernet_t eth; }

parser p(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}

#ifdef SWITCH
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        hdr.eth.dst = TO;
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
    }
}
#else
control c(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply { hdr.eth.dst = TO; }
}
#endif

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); }
}

#ifdef SWITCH
xdp(p(), c(), d()) main;
#else
tc(p(), c(), d()) main;
#endif
