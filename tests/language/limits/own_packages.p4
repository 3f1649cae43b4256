#include <core.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
parser parse_t<H>(packet_in packet, out H hdr);
package Tap<H>(parse_t<H> p);
struct hs_t { eth_t eth; }
parser prs(packet_in packet, out hs_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}
Tap(prs()) main; //~ E0602 `Tap`
