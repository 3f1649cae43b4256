typedef bit<9> port_t;
type bit<9> port_id_t;
type port_id_t narrow_t;
typedef port_id_t alias_t;
const alias_t ZERO = (alias_t) 0;
control c(in port_t p, out port_id_t r, out bit<9> s) {
    apply {
        r = (port_id_t) p;
        s = (bit<9>) r;
        if (r == ZERO) { r = (port_id_t) 9w1; }
        narrow_t n = (narrow_t) r;
        r = (port_id_t) n;
        port_t q = p + 1;
        s = q;
    }
}
