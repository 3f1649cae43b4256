// SPDX-License-Identifier: Apache-2.0
//
// A destination address that is another host's on the wire: the stack takes packets in as soon as the address is its own
// again.

#include "headers.p4h"

struct headers_t { ethernet_t eth; }

parser p(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}

control c(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply { hdr.eth.dst = hdr.eth.dst ^ 0x00005a5a0000; }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); }
}

tc(p(), c(), d()) main;
