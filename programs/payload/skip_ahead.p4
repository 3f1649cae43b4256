// SPDX-License-Identifier: Apache-2.0
//
// Skip ahead and check: counts messages whose query attribute has a value, where the sizes of attributes are known and their
// order is not. Every packet goes on, except one that is cut short.
//
// A message is what a UDP datagram to port 5005 carries: attributes one after the other, each a byte that tells which it is and
// as many bytes as such an attribute has, and a byte 0 at the end. The query attribute is the symbol.

#include <core.p4>
#include <ebpf_model.p4>

const bit<16> MESSAGES = 5005;

// Which attribute it is.
const bit<8> SEQUENCE = 1;   // bit<32>
const bit<8> TIMESTAMP = 2;  // bit<64>
const bit<8> VENUE = 3;      // 4 characters
const bit<8> SIDE = 4;       // bit<8>
const bit<8> PRICE = 5;      // bit<64>
const bit<8> QUANTITY = 6;   // bit<32>
const bit<8> ACCOUNT = 7;    // 12 characters
const bit<8> SYMBOL = 8;     // 8 characters

// "ONPATH", with blanks behind it.
const bit<64> VALUE = 0x4f4e504154482020;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  dscp_ecn;
    bit<16> total_len;
    bit<16> id;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

header symbol_t {
    bit<8>  tag;
    bit<64> value;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    udp_t      udp;
    symbol_t   symbol;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x0800:  ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, 17): udp;
            default:    accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            MESSAGES: attribute;
            default:  accept;
        }
    }

    // The loop: one turn for each attribute in front of the symbol.
    state attribute {
        transition select(packet.lookahead<bit<8>>()) {
            SEQUENCE:  skip_4;
            TIMESTAMP: skip_8;
            VENUE:     skip_4;
            SIDE:      skip_1;
            PRICE:     skip_8;
            QUANTITY:  skip_4;
            ACCOUNT:   skip_12;
            SYMBOL:    symbol;
            default:   accept;
        }
    }
    state skip_1 {
        packet.advance(8 * (1 + 1));
        transition attribute;
    }
    state skip_4 {
        packet.advance(8 * (1 + 4));
        transition attribute;
    }
    state skip_8 {
        packet.advance(8 * (1 + 8));
        transition attribute;
    }
    state skip_12 {
        packet.advance(8 * (1 + 12));
        transition attribute;
    }

    state symbol {
        packet.extract(hdr.symbol);
        transition accept;
    }
}

control count(inout headers_t hdr, out bool pass) {
    CounterArray(1, false) found;

    apply {
        pass = true;
        if (hdr.symbol.isValid() && hdr.symbol.value == VALUE) {
            found.increment(0);
        }
    }
}

ebpfFilter(prs(), count()) main;
