#include <core.p4>
#include <tc_model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct hs_t { eth_t eth; }
parser prs(packet_in packet, out hs_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}
control sw(inout hs_t hdr, in tc_input tin, inout tc_output tout) { apply { } }
control dprs(in hs_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); } }
tc(prs(), sw(), dprs()) main; //~ E0720 tc_model
