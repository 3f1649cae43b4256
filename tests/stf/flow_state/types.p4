// Keys and values of every type, at every offset in a word; structs in structs; keys in headers.
#include <core.p4>
#include <xdp_model.p4>

enum colour_t { red, green, blue }
enum bit<16> kind_t { small = 3, large = 700 }
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header fields_t {
    bit<4> a; bit<12> b; bit<24> c; bit<40> d; bit<1> e; bit<7> f; bit<72> g; bit<128> h; bit<16> kind; bit<8> colour;
    int<16> i; bit<8> found;
}
struct headers_t { ethernet_t ethernet; fields_t f; }
struct inner_t { bit<12> b; bool e; }
struct key_t { bit<4> a; inner_t inner; bit<24> c; bit<40> d; bit<72> g; bit<128> h; colour_t colour; kind_t kind; int<16> i; }
struct value_t { bit<7> f; inner_t inner; bit<72> g; bit<128> h; colour_t colour; kind_t kind; int<16> i; bit<40> d; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.f);
        transition accept;
    }
}

control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<key_t, value_t>(64) flows;
    flow_state<colour_t, bit<8>>(8) colours;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        colour_t colour = colour_t.red;
        if (hdr.f.colour == 1) { colour = colour_t.green; }
        if (hdr.f.colour == 2) { colour = colour_t.blue; }
        key_t key = {
            hdr.f.a, { hdr.f.b, hdr.f.e == 1 }, hdr.f.c, hdr.f.d, hdr.f.g, hdr.f.h, colour, (kind_t)hdr.f.kind, hdr.f.i
        };
        value_t value;
        hdr.f.found = 0;
        @atomic {
            if (flows.lookup(key, value)) {
                hdr.f.found = 1;
                value.f = value.f + 1;
                value.g = value.g + 1;
                value.i = value.i - 1;
                value.inner.e = !value.inner.e;
            } else {
                value = {
                    hdr.f.f, { hdr.f.b, hdr.f.e == 1 }, hdr.f.g, hdr.f.h, colour, (kind_t)hdr.f.kind, hdr.f.i, hdr.f.d
                };
            }
            flows.update(key, value);
        }
        bit<8> count;
        @atomic {
            if (colours.lookup(colour, count)) {}
            count = count + 1;
            colours.update(colour, count);
        }
        hdr.f.f = value.f;
        hdr.f.g = value.g;
        hdr.f.h = value.h;
        hdr.f.d = value.d;
        hdr.f.i = value.i;
        hdr.f.e = value.inner.e ? 1w1 : 0;
        hdr.f.kind = (bit<16>)value.kind;
        hdr.f.colour = count;
        if (value.colour == colour_t.blue) { hdr.f.found = hdr.f.found | 16; }
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.f); }
}

xdp(p(), c(), d()) main;
