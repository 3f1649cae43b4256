// SPDX-License-Identifier: Apache-2.0
//
// A Destination Options header of 16 bytes put between IPv6 and what follows, and taken out again, with the payload
// length and the next header mended.

#include <core.p4>
#include <tc_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv6_t {
    bit<4>   version;
    bit<8>   class;
    bit<20>  flow;
    bit<16>  length;
    bit<8>   next;
    bit<8>   hops;
    bit<128> src;
    bit<128> dst;
}

header options_t {
    bit<8>  next;
    bit<8>  length;   // units of 8 bytes beyond the first
    bit<16> pad;
    bit<8>  type;
    bit<8>  size;
    bit<80> data;
}

struct headers_t {
    ethernet_t eth;
    ipv6_t     ipv6;
    options_t  options;
}

const bit<8> DESTINATION_OPTIONS = 60;

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x86dd:  ipv6;
            default: accept;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next) {
            DESTINATION_OPTIONS: options;
            default:             accept;
        }
    }
    state options {
        packet.extract(hdr.options);
        transition accept;
    }
}

control ctl(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        if (hdr.options.isValid()) {
            hdr.ipv6.next = hdr.options.next;
            hdr.ipv6.length = hdr.ipv6.length - 16;
            hdr.options.setInvalid();
        } else if (hdr.ipv6.isValid()) {
            hdr.options = { hdr.ipv6.next, 1, 0x0100, 0x1e, 10, (bit<80>)tin.length };
            hdr.ipv6.next = DESTINATION_OPTIONS;
            hdr.ipv6.length = hdr.ipv6.length + 16;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.options);
    }
}

tc(prs(), ctl(), dprs()) main;
