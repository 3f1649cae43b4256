#include <core.p4>
parser prs<H, M>(packet_in p, out H h, inout M m);
control pipe<H, M>(inout H h, inout M m);
control dep<H>(packet_out p, in H h);
package Switch<H, M>(prs<H, M> p, pipe<H, M> i, dep<H> d, bit<8> ports = 4);
package Two<H, M>(Switch<H, M> a, Switch<H, M> b);
package Maybe<H, M, N>(prs<H, M> p, @optional Switch<H, N> more, @optional N none);
control nothing<H, M>(inout H h, inout M m) { apply { } }
control around<H, M>(inout H h, inout M m)(pipe<H, M> inner = nothing()) { apply { inner.apply(h, m); } }
package Filled<H, M>(prs<H, M> p, pipe<H, M> i = nothing(), pipe<H, M> e = around(nothing()));
package Told<H, M>(prs<H, M> p, pipe<H, M> i = around<H, M>());
header h_t { bit<8> x; }
struct hs_t { h_t h; }
struct m_t { bit<8> y; }
parser P(packet_in p, out hs_t h, inout m_t m) {
    state start { p.extract(h.h); m.y = h.h.x; transition accept; }
}
control I(inout hs_t h, inout m_t m)(bit<8> by) { apply { h.h.x = m.y + by; } }
control D(packet_out p, in hs_t h) { apply { p.emit(h); p.emit(h.h); } }
Switch(P(), I(1), D()) one;
Switch<hs_t, m_t>(p = P(), d = D(), i = I(2)) two;
Maybe(P()) inferred;
Maybe<hs_t, m_t, _>(p = P()) told;
Filled(P()) by_default;
Filled<hs_t, m_t>(p = P(), e = I(3)) half;
Told(P()) told_by_default;
Two(one, two) main;
