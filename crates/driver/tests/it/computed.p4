#include <core.p4>
#include <v1model.p4>
struct meta_t { }
header first_t { bit<40> a; bit<8> kind; bit<8> b; bit<8> c; }
header second_t { bit<64> wide; bit<40> middle; bit<9> narrow; bit<7> rest; }
header one_t { bit<8> kind; bit<8> length; }
header two_t { bit<8> kind; bit<24> value; }
header_union option_t { one_t one; two_t two; }
struct headers_t { first_t first; second_t second; option_t[17] options; }
parser prs(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.kind) { 0: accept; 1: second; default: options; }
    }
    state second { packet.extract(hdr.second); transition options; }
    state options {
        transition select(packet.lookahead<bit<8>>()) { 1: one; 2: two; default: accept; }
    }
    state one { packet.extract(hdr.options.next.one); transition options; }
    state two { packet.extract(hdr.options.next.two); transition options; }
}
control ing(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    bit<9> x = 511;
    bit<48> y = 2;
    bit<60> z = 3;
    bit<65> w = 1;
    action none() { }
    action change() {
        y = ((y >> 21) ^ (y << w[19:15])) ^ (sm.packet_length[30:18] <= z[28:16] ? y : ((hdr.second.isValid() ? hdr.second.middle : 0) ++ hdr.first.b));
        x = (((bit<9>)(hdr.second.isValid() ? hdr.second.wide : 0)) & ((bit<9>)((int<9>)x |+| (int<9>)x))) |+| (((hdr.second.isValid() ? hdr.second.narrow : 239) ^ (hdr.second.isValid() ? hdr.second.narrow : 87)) - x);
        hdr.first.c[3:2] = y[25:24];
    }
    @layout("tuple_space") table t { key = { hdr.first.b : optional; } actions = { none; change; } default_action = none(); }
    apply {
        sm.egress_spec = 1;
        for (bit<8> i = 0; i < 2; i = i + 1) { t.apply(); }
        y[36:28] = (x >> 3) + (hdr.second.isValid() ? hdr.second.narrow : 0);
        switch (hdr.second.isValid() ? hdr.second.rest : 0) { 127: { y = y - ((y >> 40) << 27); } default: { } }
        t.apply();
    }
}
control vc(inout headers_t hdr, inout meta_t meta) { apply { } }
control cc(inout headers_t hdr, inout meta_t meta) { apply { } }
control eg(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control dep(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.first); packet.emit(hdr.second); packet.emit(hdr.options); }
}
V1Switch(prs(), vc(), ing(), eg(), cc(), dep()) main;
