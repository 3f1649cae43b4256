#include <core.p4>
header a_t { bit<8> x; }
header b_t { bit<16> y; }
header_union u_t { a_t a; b_t b; }
struct hs_t { u_t u; u_t[2] us; }
parser p(packet_in packet, out hs_t h) {
    state start {
        packet.extract(h.us.next.a);
        transition select(packet.lookahead<bit<8>>()) {
            0: one;
            default: two;
        }
    }
    state one { packet.extract(h.u.a); transition accept; }
    state two { packet.extract(h.u.b); transition accept; }
}
control c(inout hs_t h, out bool r) {
    apply {
        r = h.u.isValid() && h.u.a.isValid();
        if (h.u == h.us[0]) { h.u.b.setValid(); h.u.b.y = 1; }
        h.u = {#};
    }
}
