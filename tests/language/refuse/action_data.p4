match_kind { exact }
action NoAction() {}
enum color_t { red, green }
enum bit<8> kind_t { low = 1, high = 2 }
type bit<9> port_t;
struct next_t { bit<8> port; bit<16> weight; }
header h_t { bit<8> x; }
header_union u_t { h_t a; h_t b; }
struct painted_t { next_t next; color_t color; }
control c(inout bit<8> x) {
    action paint(color_t color) { if (color == color_t.red) { x = 1; } }
    action forward(bit<8> queue, painted_t next) { x = next.next.port + queue; }
    action fill(u_t h) { x = h.a.x; }
    action classify(kind_t kind, port_t port, bool loud, int<4> level) { if (loud) { x = (bit<8>) kind; } }
    table colors {
        key = { x: exact; }
        actions = { paint; } //~ E0479 the control plane cannot give `color`, which is a `color_t`
    }
    table hops {
        key = { x: exact; }
        actions = { forward; fill; classify; } //~ E0479 cannot give `next`, which is a `painted_t`
        //~^ E0479 cannot give `h`, which is a `u_t`
    }
    table only_entries {
        key = { x: exact; }
        actions = { paint; NoAction; } //~ E0479 cannot give `color`
        const default_action = paint(color_t.red);
    }
    apply { colors.apply(); hops.apply(); only_entries.apply(); }
}
