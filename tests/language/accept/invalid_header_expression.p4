header h_t { bit<8> x; }
header_union u_t { h_t h; }
struct s_t { h_t h; u_t u; }
void reset(out h_t h) { h = {#}; }
control c(inout h_t h, inout s_t s, out bool r) {
    apply {
        h = {#};
        r = h == {#};
        s = { {#}, {#} };
        s.h = r ? h : {#};
        reset(s.h);
        s = { h = {#}, ... };
    }
}
