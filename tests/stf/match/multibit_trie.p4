// SPDX-License-Identifier: Apache-2.0
//
// Longest prefix match by multibit tries, which the annotation asks for: of addresses, behind an exact key, of odd and of
// long keys.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>   tenant;
    bit<32>  addr;
    bit<128> wide;
    bit<20>  odd;
    bit<4>   pad;
    bit<8>   alone;
    bit<8>   within;
    bit<8>   of_wide;
    bit<16>  of_odd;
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
    action alone(bit<8> value) {
        hdr.data.alone = value;
    }

    action within(bit<8> value) {
        hdr.data.within = value;
    }

    action of_wide(bit<8> value) {
        hdr.data.of_wide = value;
    }

    action of_odd(bit<16> value) {
        hdr.data.of_odd = value;
    }

    @layout("multibit_trie")
    table routes {
        key = { hdr.data.addr : lpm @name("addr"); }
        actions = { alone; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    @layout("multibit_trie")
    table tenant_routes {
        key = {
            hdr.data.tenant : exact @name("tenant");
            hdr.data.addr   : lpm   @name("addr");
        }
        actions = { within; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    @layout("multibit_trie")
    table wide_routes {
        key = { hdr.data.wide : lpm @name("wide"); }
        actions = { of_wide; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    // Without an annotation: by its size.
    table odd_routes {
        key = { hdr.data.odd : lpm @name("odd"); }
        actions = { of_odd; NoAction; }
        default_action = of_odd(0xdddd);
        size = 20000;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        routes.apply();
        tenant_routes.apply();
        wide_routes.apply();
        odd_routes.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
