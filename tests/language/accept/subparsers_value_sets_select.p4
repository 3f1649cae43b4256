#include <core.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header one_t { bit<8> x; }
struct hs_t { eth_t eth; one_t one; }
struct sig_t { bit<16> type; bit<8> kind; }
enum color { red, green }
parser sub(packet_in packet, out one_t o)(bit<8> limit) {
    state start {
        packet.extract(o);
        transition select(o.x) { 0 .. 5: accept; limit: accept; _: reject; }
    }
}
parser plain(packet_in packet, out one_t o) { state start { packet.extract(o); transition accept; } }
parser p(packet_in packet, inout hs_t h, in color k) {
    value_set<bit<16>>(4) types;
    value_set<sig_t>(8) sigs;
    value_set<tuple<bit<16>, bit<8>>>(8) pairs;
    sub(9) s;
    bit<16> seen = 0;
    state start {
        packet.extract(h.eth);
        seen = h.eth.type;
        transition select(h.eth.type, h.eth.src[7:0], k) {
            (0x0800, 1 .. 3, color.red): inner;
            (0x0800 &&& 0xFF00, _, _): direct;
            (types, 0x10 &&& 0xF0, _): inner;
            default: more;
        }
    }
    state inner { s.apply(packet, h.one); transition accept; }
    state direct { plain.apply(packet, h.one); transition accept; }
    state more {
        transition select(seen, packet.lookahead<bit<8>>()) { sigs: inner; pairs: direct; (1, 2): tup; }
    }
    state tup {
        sig_t sig = { seen, 1 };
        transition select({ seen, 8w1 }, h.eth.isValid()) { ({ 1, 2 }, true): accept; (sigs, _): last; (sig, _): accept; }
    }
    @name("final") state last { if (seen == 1) { seen = 2; } { bit<8> skip = 8; packet.advance((bit<32>) skip); } }
}
parser nested(in bit<8> x) {
    state start {
        transition select(x, { x, x }, x) {
            (0, { 0, 1 }, 0): accept;
            (1, default, 1): reject;
            default: reject;
        }
    }
}
