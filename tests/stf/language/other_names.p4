// SPDX-License-Identifier: Apache-2.0
//
// A filter with tables at the top of its control and in a sub-control, for tests that call things as generated C does.

#include <core.p4>
#include <ebpf_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<8>  ttl;
    bit<32> src;
}

header extra_t {
    bit<16> h;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    extra_t[2] extra;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.extra.next);
        packet.extract(hdr.extra.next);
        transition select(hdr.eth.type) {
            0x800: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control by_extra(in headers_t hdr, inout bool passes) {
    action Reject() {
        passes = false;
    }
    table Check_extra {
        key = {
            hdr.extra[0].h: ternary;
            hdr.ipv4.isValid(): exact;
        }
        actions = { Reject; NoAction; }
        default_action = NoAction();
        implementation = hash_table(16);
    }
    apply {
        Check_extra.apply();
    }
}

control pipe(inout headers_t hdr, out bool pass) {
    by_extra() sub;
    bool passes = true;
    action Reject(bit<8> least) {
        if (hdr.ipv4.ttl < least) {
            passes = false;
        }
    }
    table Check_src_ip {
        key = { hdr.ipv4.src: exact; }
        actions = { Reject; NoAction; }
        default_action = NoAction();
        implementation = hash_table(16);
    }
    apply {
        Check_src_ip.apply();
        sub.apply(hdr, passes);
        pass = passes;
    }
}

ebpfFilter(prs(), pipe()) main;
