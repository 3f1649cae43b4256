// SPDX-License-Identifier: Apache-2.0
//
// Const tables with more exact entries than are compared one by one, the zero key among them.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<16> service;
    bit<32> addr;
    bit<20> label;
    bit<4>  pad;
    bit<8>  number;
    bit<72> wide;
    bit<8>  by_label;
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
    action both(bit<8> number, bit<72> wide) {
        hdr.data.number = number;
        hdr.data.wide = wide;
    }

    action odd(bit<8> value) {
        hdr.data.by_label = value;
    }

    table services {
        key = { hdr.data.service : exact; hdr.data.addr : exact; }
        actions = { both; NoAction; }
        const default_action = both(0xdd, 0xdd);
        const entries = {
            (0, 0x00000000) : both(1, 0x0);
            (80, 0x0a000001) : both(2, 0x123456789);
            (1, 0x0512bd13) : both(3, 0x2468acf12);
            (0, 0x0a000002) : NoAction();
            (1, 0x00000000) : both(5, 0x48d159e24);
            (80, 0x0a000002) : both(6, 0x5b05b05ad);
            (443, 0xffffffff) : both(7, 0x6d3a06d36);
            (2, 0x0a000002) : both(8, 0x7f6e5d4bf);
            (11710, 0x00000000) : both(9, 0x91a2b3c48);
            (80, 0xffffffff) : both(10, 0xa3d70a3d1);
            (80, 0x00000000) : NoAction();
            (65535, 0x0a000001) : both(12, 0xc83fb72e3);
            (8080, 0xffffffff) : both(13, 0xda740da6c);
            (2, 0x5b17b966) : both(14, 0xeca8641f5);
            (42030, 0x00000000) : both(15, 0xfedcba97e);
            (1, 0x0a000002) : both(16, 0x1111111107);
            (443, 0x0a000001) : both(17, 0x1234567890);
            (1, 0x0a000001) : NoAction();
            (8080, 0x28adf9c6) : both(19, 0x147ae147a2);
            (443, 0xff478895) : both(20, 0x159e26af2b);
            (65535, 0xffffffff) : both(21, 0x16c16c16b4);
            (2, 0x9b44baf5) : both(22, 0x17e4b17e3d);
            (3, 0x091b5ffb) : both(23, 0x1907f6e5c6);
            (8080, 0x0a000001) : both(24, 0x1a2b3c4d4f);
            (65535, 0x00000000) : NoAction();
            (443, 0xed939512) : both(26, 0x1c71c71c61);
            (8080, 0x0a000002) : both(27, 0x1d950c83ea);
            (2, 0x00000000) : both(28, 0x1eb851eb73);
            (8080, 0xe0bc9aa3) : both(29, 0x1fdb9752fc);
            (3, 0x9bb81a4f) : both(30, 0x20fedcba85);
            (61801, 0x00000000) : both(31, 0x222222220e);
            (1, 0xdd5e4758) : NoAction();
            (0, 0x5cd15df0) : both(33, 0x2468acf120);
            (11159, 0x0a000001) : both(34, 0x258bf258a9);
            (8080, 0x00000000) : both(35, 0x26af37c032);
            (1, 0xffffffff) : both(36, 0x27d27d27bb);
            (443, 0x0a000002) : both(37, 0x28f5c28f44);
            (15853, 0x1c5fec71) : both(38, 0x2a1907f6cd);
            (63471, 0x0a000002) : NoAction();
            (3, 0x00000000) : both(40, 0x2c5f92c5df);
        }
    }

    table labels {
        key = { hdr.data.label : exact; }
        actions = { odd; NoAction; }
        default_action = NoAction();
        const entries = {
            0x00000 : odd(100);
            0x003a7 : odd(101);
            0x0074e : odd(102);
            0x00af5 : odd(103);
            0x00e9c : odd(104);
            0x01243 : odd(105);
            0x015ea : odd(106);
            0x01991 : odd(107);
            0x01d38 : odd(108);
            0x020df : odd(109);
            0x02486 : odd(110);
            0x0282d : odd(111);
        }
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        services.apply();
        if (labels.apply().hit) {
            hdr.data.pad = 1;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
