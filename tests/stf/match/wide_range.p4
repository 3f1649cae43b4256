// SPDX-License-Identifier: Apache-2.0
//
// Ranges over several bytes: three in one table, and two IPv6 addresses in another.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<32>  from;
    bit<32>  to;
    bit<24>  label;
    bit<8>   narrow;
    bit<128> address;
    bit<128> peer;
    bit<8>   wide;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action of_narrow(bit<8> value) {
        hdr.data.narrow = value;
    }

    action of_wide(bit<8> value) {
        hdr.data.wide = value;
    }

    table narrow {
        key = {
            hdr.data.from  : range @name("from");
            hdr.data.to    : range @name("to");
            hdr.data.label : range @name("label");
        }
        actions = { of_narrow; NoAction; }
        default_action = NoAction();
    }

    table wide {
        key = {
            hdr.data.address : range @name("address");
            hdr.data.peer    : range @name("peer");
            hdr.eth.src      : ternary @name("src");
        }
        actions = { of_wide; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        narrow.apply();
        wide.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
