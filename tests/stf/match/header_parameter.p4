// SPDX-License-Identifier: Apache-2.0
//
// Action parameters that are structs, headers and stacks: the control plane gives each of their fields by its own name.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  key;
    bit<8>  a;
    bit<16> b;
    bit<8>  c;
}

header tag_t {
    bit<8>  kind;
    bit<16> value;
}

struct pair_t {
    bit<8>  a;
    bit<16> b;
}

struct nested_t {
    pair_t pair;
    bit<8> c;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
    tag_t      tag;
    tag_t[2]   tags;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action set(pair_t p) {
        hdr.d.a = p.a;
        hdr.d.b = p.b;
    }
    action set_all(nested_t n, bit<8> more) {
        set(n.pair);
        hdr.d.c = n.c + more;
    }
    action push(tag_t tag) {
        hdr.tag = tag;
        hdr.d.c = tag.isValid() ? 8w1 : 0;
    }
    action push_both(in bit<8> key, tag_t[2] tags) {
        hdr.tags = tags;
        hdr.tags[1].kind = key;
    }
    table t {
        key = { hdr.d.key : exact @name("key"); }
        actions = { set; set_all; push; push_both(hdr.d.key); }
        default_action = set({ 1, 2 });
        entries = {
            100: set({ b = 4, a = 3 });
            101: set_all({ { 5, 6 }, 7 }, 8);
            102: push({ 9, 10 });
            103: push_both({ { 11, 12 }, { 13, 14 } });
        }
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.d.key == 200) {
            push({#});
        } else if (hdr.d.key == 201) {
            push_both(hdr.d.key, { { 1, 2 }, {#} });
        } else {
            t.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
        packet.emit(hdr.tag);
        packet.emit(hdr.tags);
    }
}

xdp(prs(), sw(), dprs()) main;
