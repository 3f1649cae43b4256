// SPDX-License-Identifier: Apache-2.0
//
// Arguments in the order in which they are written (P4-16, 6.8): each is read when its turn comes, before later ones are
// evaluated, and copied back in the same order, also if the callee has not written it.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> n;
    bit<8> a;
    bit<8> b;
    bit<8> i;
}

header item_t {
    bit<8> v;
}

struct pair_t {
    bit<8> x;
    bit<8> y;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
    item_t[2]  items;
    item_t     last;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        packet.extract(hdr.last);
        transition accept;
    }
}

bit<8> look(inout bit<8> x, in bit<8> z) {
    return x + z;
}

bit<8> look_at_half(inout bit<4> x, in bit<8> z) {
    return (bit<8>) x + z;
}

bit<8> look_at_validity(inout item_t x, in bit<8> z) {
    return x.isValid() ? 0x80 + z : z;
}

bit<8> add(inout bit<8> x, in bit<8> z) {
    x = x + z;
    return x;
}

void add_to_first(inout pair_t p, in bit<8> z) {
    p.x = p.x + z;
}

bit<8> bump(inout bit<8> z) {
    z = z + 3;
    return 1;
}

bit<8> advance(inout bit<8> i) {
    i = i + 1;
    return 1;
}

bit<8> invalidate(inout item_t z) {
    z.setInvalid();
    return 1;
}

bit<8> minus(in bit<8> x, in bit<8> y) {
    return x - y;
}

void two(out bit<8> x, out bit<8> y) {
    x = 0x11;
    y = 0x22;
}

void add_both(inout bit<8> x, inout bit<8> y) {
    x = x + 1;
    y = y + 2;
}

control adder(inout bit<8> x, in bit<8> z) {
    apply {
        x = x + z;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    adder() first;

    action add_by_action(inout bit<8> x, in bit<8> z) {
        x = x + z;
    }

    action nine() {
        hdr.data.a = 9;
    }

    table nines {
        key = { hdr.data.b : exact; }
        actions = { nine; }
        const entries = { 0x20 : nine(); }
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        pair_t p = { hdr.data.a, hdr.data.b };
        switch (hdr.data.n) {
            0: { hdr.data.b = look(hdr.data.a, bump(hdr.data.a)); }
            1: { hdr.data.b = minus(y = bump(hdr.data.a), x = hdr.data.a); }
            2: { two(y = hdr.data.a, x = hdr.data.a); }
            3: { two(hdr.data.a, hdr.data.a); }
            4: { hdr.data.b = look_at_half(hdr.data.a[3:0], bump(hdr.data.a)); }
            5: { add_to_first(p, bump(p.y)); hdr.data.a = p.x; hdr.data.b = p.y; }
            6: { hdr.data.b = add(hdr.items[hdr.data.i].v, advance(hdr.data.i)); }
            7: { hdr.data.b = look_at_validity(hdr.last, invalidate(hdr.last)); }
            8: { hdr.data.b = look(hdr.data.a, nines.apply().hit ? 8w1 : 8w2); }
            9: { add_by_action(hdr.data.a, bump(hdr.data.a)); }
            10: { first.apply(hdr.data.a, bump(hdr.data.a)); }
            11: { hdr.data.b = minus(look(hdr.data.a, bump(hdr.data.a)), hdr.data.a); }
            12: { add_by_action(z = bump(hdr.data.a), x = hdr.data.a); }
            13: { add_both(y = hdr.data.a, x = hdr.data.a); }
            14: { hdr.data.b = look(z = bump(hdr.data.a), x = hdr.data.a); }
            default: { }
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
        packet.emit(hdr.items);
        packet.emit(hdr.last);
    }
}

xdp(prs(), sw(), dprs()) main;
