#include <v1model.p4>
header h_t { bit<8> x; bit<32> y; }
struct hs_t { h_t h; }
struct m_t { @field_list(1) bit<8> z; }
parser P(packet_in p, out hs_t h, inout m_t m, inout standard_metadata_t sm) {
    state start { p.extract(h.h); m.z = (bit<8>) sm.ingress_port; transition accept; }
}
control V(inout hs_t h, inout m_t m) { apply { verify_checksum(h.h.isValid(), { h.h.x }, (bit<16>) h.h.y, HashAlgorithm.csum16); } }
control I(inout hs_t h, inout m_t m, inout standard_metadata_t sm) {
    register<bit<32>>(16) reg;
    counter(8, CounterType.packets) cnt;
    direct_counter(CounterType.bytes) direct;
    meter(4, MeterType.bytes) met;
    action a(bit<9> port) { sm.egress_spec = port; direct.count(); }
    table t {
        key = { h.h.x: ternary; sm.ingress_port: range; }
        actions = { a; NoAction; }
        counters = direct;
        implementation = action_profile(10);
    }
    apply {
        bit<32> v;
        reg.read(v, 3);
        reg.write(3, v + 1);
        cnt.count(1);
        met.execute_meter(5, m.z);
        hash(v, HashAlgorithm.crc32, 32w0, { h.h.x, h.h.y }, 32w100);
        random(m.z, 0, 255);
        log_msg("v = {}", { v });
        log_msg("plain");
        digest(1, m);
        if (t.apply().miss) { mark_to_drop(sm); }
        clone_preserving_field_list(CloneType.I2E, 5, 1);
        assert(v > 0 || true);
    }
}
control E(inout hs_t h, inout m_t m, inout standard_metadata_t sm) { apply {} }
control C(inout hs_t h, inout m_t m) { apply { update_checksum(true, { h.h.x, 8w0 }, h.h.y, HashAlgorithm.csum16); } }
control D(packet_out p, in hs_t h) { apply { p.emit(h.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
