// SPDX-License-Identifier: Apache-2.0
//
// Entries in the program with a prefix beside keys that need a priority: the priority decides, not the prefix.

#include <core.p4>
#include <xdp_model.p4>

header data_t {
    bit<32> address;
    bit<8>  port;
    bit<8>  by_optional;
    bit<8>  by_mask;
}

struct headers_t {
    data_t data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action optional_of(bit<8> value) {
        hdr.data.by_optional = value;
    }

    action mask_of(bit<8> value) {
        hdr.data.by_mask = value;
    }

    table prefix_and_optional {
        key = {
            hdr.data.address : lpm;
            hdr.data.port    : optional;
        }
        actions = { optional_of; NoAction; }
        default_action = NoAction();
        const entries = {
            (0x0a000000 &&& 0xff000000, 5) : optional_of(1);
            (0x0a010000 &&& 0xffff0000, _) : optional_of(2);
        }
    }

    table prefix_and_mask {
        key = {
            hdr.data.address : lpm;
            hdr.data.port    : ternary;
        }
        actions = { mask_of; NoAction; }
        default_action = NoAction();
        const entries = {
            (0x0a000000 &&& 0xff000000, 4 &&& 0xfc) : mask_of(1);
            (0x0a010000 &&& 0xffff0000, _)          : mask_of(2);
        }
    }

    apply {
        prefix_and_optional.apply();
        prefix_and_mask.apply();
        xout.output_action = xdp_action.XDP_TX;
        xout.output_port = 0;
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dep()) main;
