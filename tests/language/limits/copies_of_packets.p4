#include <core.p4>
#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct hs_t { eth_t eth; }
struct m_t { bit<16> x; }
parser prs(packet_in packet, out hs_t hdr, inout m_t m, inout standard_metadata_t std) {
    state start { packet.extract(hdr.eth); transition accept; }
}
control vrfy(inout hs_t hdr, inout m_t m) { apply { } }
control ingress(inout hs_t hdr, inout m_t m, inout standard_metadata_t std) {
    apply {
        clone(CloneType.I2E, 5); //~ E0748 cannot clone
        std.mcast_grp = hdr.eth.type; //~ E0748 cannot copy
    }
}
control egress(inout hs_t hdr, inout m_t m, inout standard_metadata_t std) { apply { } }
control compute(inout hs_t hdr, inout m_t m) { apply { } }
control dprs(packet_out packet, in hs_t hdr) { apply { packet.emit(hdr.eth); } }
V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
