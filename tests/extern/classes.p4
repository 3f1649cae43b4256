// SPDX-License-Identifier: Apache-2.0
//
// A filter with functions in C, tested as others write tests of filters.

#include <core.p4>
#include <ebpf_model.p4>

header Ethernet_h {
    bit<48> dstAddr;
    bit<48> srcAddr;
    bit<16> etherType;
}

header IPv4_h {
    bit<64> front;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> hdrChecksum;
    bit<32> srcAddr;
    bit<32> dstAddr;
}

struct Headers_t {
    Ethernet_h ethernet;
    IPv4_h     ipv4;
}

extern bool lives_on(in bit<8> ttl);
extern bit<8> class_of(in bit<8> protocol, out bit<16> weight);

parser prs(packet_in p, out Headers_t headers) {
    state start {
        p.extract(headers.ethernet);
        transition select(headers.ethernet.etherType) {
            0x800: ip;
            default: reject;
        }
    }
    state ip {
        p.extract(headers.ipv4);
        transition accept;
    }
}

control pipe(inout Headers_t headers, out bool pass) {
    bit<8> class;
    bit<16> weight;
    action Reject() {
        pass = false;
    }
    table classes {
        key = { class : exact @name("class"); }
        actions = { Reject; NoAction; }
        implementation = hash_table(4);
        const default_action = NoAction;
    }
    apply {
        class = class_of(headers.ipv4.protocol, weight);
        pass = lives_on(headers.ipv4.ttl);
        if (pass && weight > 40) {
            classes.apply();
        }
    }
}

ebpfFilter(prs(), pipe()) main;
