// SPDX-License-Identifier: Apache-2.0
//
// A filter that looks far into the packet: long lookahead, extracts after a loop, no deparser.

#include <core.p4>
#include <ebpf_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header byte_t {
    bit<8> value;
}

header text_t {
    bit<64> first;
    bit<64> second;
}

struct headers_t {
    ethernet_t eth;
    byte_t     b;
    text_t     text;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<8> rounds = 0;

    state start {
        packet.extract(hdr.eth);
        transition next;
    }
    // Looks for a colon within 16 bytes.
    state next {
        packet.extract(hdr.b);
        rounds = rounds + 1;
        transition select(hdr.b.value, rounds) {
            (0x3a, _): found;
            (_, 16):   reject;
            default:   next;
        }
    }
    state found {
        packet.extract(hdr.text);
        transition accept;
    }
}

control flt(inout headers_t hdr, out bool pass) {
    apply {
        pass = hdr.text.isValid() && hdr.text.first == 0x6f6e706174682121 && hdr.text.second[7:0] != 0;
    }
}

ebpfFilter(prs(), flt()) main;
