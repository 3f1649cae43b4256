// Metrics about what senders send: how many packets and bytes, of which sizes, to how many ports, and whose are most.

#include <core.p4>
#include <ebpf_model.p4>
#include <telemetry.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<16> size;
    bit<16> port;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

struct pair_t {
    bit<48> from;
    bit<48> to;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x1234: data;
        }
    }
    state data {
        packet.extract(hdr.data);
        transition accept;
    }
}

control count(inout headers_t hdr, out bool pass) {
    tally<pair_t>(1024) pairs;
    tally<bit<16>>(8) by_port;
    histogram<bit<1>>(1) sizes;
    distinct_count<bit<48>, bit<16>>(64, 12) ports;
    top_keys<bit<16>>(32) busiest;

    apply {
        bit<64> size = (bit<64>)hdr.data.size;
        pairs.add({ hdr.eth.src, hdr.eth.dst }, size);
        by_port.add(hdr.data.port, size);
        sizes.add(0, size);
        ports.add(hdr.eth.src, hdr.data.port);
        busiest.add(hdr.data.port, 1);
        pass = true;
    }
}

ebpfFilter(prs(), count()) main;
