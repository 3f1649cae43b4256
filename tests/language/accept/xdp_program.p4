#include <xdp_model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct hs_t { eth_t eth; }
parser P(packet_in p, out hs_t h) { state start { p.extract(h.eth); transition accept; } }
control S(inout hs_t h, in xdp_input i, out xdp_output o) {
    CounterArray(16, true) seen;
    action pass() { o.output_action = xdp_action.XDP_PASS; }
    action abort() { o.output_action = xdp_action.XDP_ABORTED; }
    table t {
        key = { h.eth.dst: exact; }
        actions = { pass; abort; }
        default_action = pass();
        implementation = hash_table(64);
    }
    apply { o.output_action = xdp_action.XDP_DROP; o.output_port = i.input_port; seen.increment(0); t.apply(); }
}
control D(in hs_t h, packet_out p) { apply { p.emit(h.eth); } }
xdp(P(), S(), D()) main;
