// SPDX-License-Identifier: Apache-2.0
//
// Entries in the program of an exact table and of a prefix table; entries of the control plane beside them.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

enum bit<16> service_t {
    WEB = 80,
    DNS = 53,
    NTP = 123
}

header data_t {
    service_t service;
    bit<32>   addr;
    bit<8>    by_service;
    bit<8>    by_addr;
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
    action service(bit<8> value) {
        hdr.data.by_service = value;
    }

    action addr(bit<8> value) {
        hdr.data.by_addr = value;
    }

    table services {
        key = { hdr.data.service : exact; }
        actions = { service; NoAction; }
        default_action = service(0xee);
        const entries = {
            service_t.WEB : service(1);
            service_t.DNS : service(2);
            service_t.NTP : NoAction();
        }
    }

    table addrs {
        key = { hdr.data.addr : lpm @name("addr"); }
        actions = { addr; NoAction; }
        default_action = NoAction();
        size = 16;
        entries = {
            0x0a000000 &&& 0xff000000 : addr(8);
            0x0a010203                : addr(32);
            _                         : addr(1);
        }
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        services.apply();
        addrs.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
