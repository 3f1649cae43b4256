#include <core.p4>
#include <v1model.p4>

struct nothing_t { }

parser prs(packet_in packet, out nothing_t hdr, inout nothing_t meta, inout standard_metadata_t std) {
    state start { transition accept; }
}
control checks(inout nothing_t hdr, inout nothing_t meta) { apply { } }
control update(inout nothing_t hdr, inout nothing_t meta) { apply { } }
control ingress(inout nothing_t hdr, inout nothing_t meta, inout standard_metadata_t std) {
    apply {
        clone(CloneType.I2E, 5);
        recirculate_preserving_field_list(0);
        std.mcast_grp = 1;
    }
}
control egress(inout nothing_t hdr, inout nothing_t meta, inout standard_metadata_t std) { apply { } }
control dprs(packet_out packet, in nothing_t hdr) { apply { } }

V1Switch(prs(), checks(), ingress(), egress(), update(), dprs()) main;
