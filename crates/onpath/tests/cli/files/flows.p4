// Counts what hosts send to each other, and packets by their TTL.
#include <core.p4>
#include <xdp_model.p4>

header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> dscp; bit<16> total_len; bit<16> id; bit<3> flags; bit<13> offset; bit<8> ttl;
    bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
struct headers_t { eth_t eth; ipv4_t ipv4; }
struct hosts_t { bit<32> src; bit<32> dst; bit<8> protocol; }
struct sent_t { bit<64> packets; bit<16> last_length; bool fragments; }

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) { 0x0800: ipv4; default: accept; }
    }
    state ipv4 { packet.extract(hdr.ipv4); transition accept; }
}

control count(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<hosts_t, sent_t>(1024) talks;
    flow_state<bit<8>, bit<32>>(256) ttls;
    @noWarn("unused") flow_state<bit<8>, bit<32>>(256) unused;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        if (hdr.ipv4.isValid()) {
            sent_t sent;
            hosts_t hosts = { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol };
            @atomic {
                talks.lookup(hosts, sent);
                sent.packets = sent.packets + 1;
                sent.last_length = hdr.ipv4.total_len;
                sent.fragments = sent.fragments || hdr.ipv4.offset != 0;
                talks.update(hosts, sent);
            }
            bit<32> count;
            @atomic {
                ttls.lookup(hdr.ipv4.ttl, count);
                ttls.update(hdr.ipv4.ttl, count + 1);
            }
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.ipv4); }
}

xdp(prs(), count(), dprs()) main;
