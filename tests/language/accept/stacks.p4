#include <core.p4>
header h_t { bit<8> x; }
struct hs_t { h_t[4] s; h_t last; }
parser p(packet_in packet, out hs_t h) {
    state start { transition next; }
    state next {
        packet.extract(h.s.next);
        transition select(h.s.last.x, h.s.lastIndex) {
            (0, _): accept;
            (_, 3): accept;
            default: next;
        }
    }
}
control c(inout hs_t h, in bit<8> i, out bit<32> r) {
    apply {
        r = h.s.size;
        h.s[0].x = h.s[1].x;
        h.s[(bit<32>)i].x = 1;
        h.s.push_front(1);
        h.s.pop_front(2);
        h.s[0] = { 5 };
        h.last = h.s[3];
        h_t[4] copy = h.s;
        h.s = { { 1 }, { 2 }, {#}, ... };
        if (copy == h.s) { r = 0; }
    }
}
