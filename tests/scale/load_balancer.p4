// SPDX-License-Identifier: Apache-2.0
//
// A load balancer in front of many servers: packets to a service's address get a backend by consistent hashing (a ring of
// slots that the control plane fills as Maglev does), keep it while the connection lasts even if the ring changes, and go
// there in an IP-in-IP tunnel, so that servers answer clients directly. Errors that routers send about such
// packets find the server of the connection that they are about.

#include <core.p4>
#include <xdp_model.p4>
#include "headers.p4h"

header ports_t {
    bit<16> src;
    bit<16> dst;
}

// Of TCP, behind the ports.
header tcp_front_t {
    bit<32> seq;
    bit<32> ack;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
}

struct packet_t {
    bit<16> length;   // of the whole frame, as it came in
}

struct headers_t {
    ethernet_t  eth;
    ipv4_t      outer_ipv4;
    ipv6_t      outer_ipv6;
    ipv4_t      ipv4;
    ipv6_t      ipv6;
    ports_t     ports;
    tcp_front_t tcp;
    icmp_t      icmp;
    ipv4_t      about_ipv4;
    ipv6_t      about_ipv6;
    ports_t     about_ports;
    packet_t    packet;
}

// A connection, as the client's packets have it. IPv4 addresses are in the low 32 bits.
struct connection_t {
    bit<128> client;
    bit<128> service;
    bit<16>  client_port;
    bit<16>  service_port;
    bit<8>   protocol;
}

struct chosen_t {
    bit<16> backend;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        hdr.packet.length = (bit<16>)packet.length();
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }
    // Fragments cannot be told apart by ports, and options are not worth a fast path: neither has a service.
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0 &&& 1, 0, PROTOCOL_TCP):  tcp;
            (5, 0 &&& 1, 0, PROTOCOL_UDP):  udp;
            (5, 0 &&& 1, 0, PROTOCOL_ICMP): icmp;
            default:                        accept;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP:    tcp;
            PROTOCOL_UDP:    udp;
            PROTOCOL_ICMPV6: icmpv6;
            default:         accept;
        }
    }
    state tcp {
        packet.extract(hdr.ports);
        packet.extract(hdr.tcp);
        transition accept;
    }
    state udp {
        packet.extract(hdr.ports);
        transition accept;
    }
    // Destination unreachable (with "fragmentation needed") and time exceeded carry what they are about.
    state icmp {
        packet.extract(hdr.icmp);
        transition select(hdr.icmp.type) {
            3:       about_ipv4;
            11:      about_ipv4;
            default: accept;
        }
    }
    state icmpv6 {
        packet.extract(hdr.icmp);
        transition select(hdr.icmp.type) {
            1:       about_ipv6;
            2:       about_ipv6;
            3:       about_ipv6;
            default: accept;
        }
    }
    state about_ipv4 {
        packet.extract(hdr.about_ipv4);
        transition select(hdr.about_ipv4.ihl, hdr.about_ipv4.frag_offset, hdr.about_ipv4.protocol) {
            (5, 0, PROTOCOL_TCP): about_ports;
            (5, 0, PROTOCOL_UDP): about_ports;
            default:              accept;
        }
    }
    state about_ipv6 {
        packet.extract(hdr.about_ipv6);
        transition select(hdr.about_ipv6.next_header) {
            PROTOCOL_TCP: about_ports;
            PROTOCOL_UDP: about_ports;
            default:      accept;
        }
    }
    state about_ports {
        packet.extract(hdr.about_ports);
        transition accept;
    }
}

// Mixes what distinguishes connections, so that every bit of the result depends on all of it (Jenkins' final rounds).
bit<32> mix(in bit<32> first, in bit<32> second, in bit<32> third) {
    bit<32> a = first;
    bit<32> b = second;
    bit<32> c = third;
    c = (c ^ b) - (b << 14 | b >> 18);
    a = (a ^ c) - (c << 11 | c >> 21);
    b = (b ^ a) - (a << 25 | a >> 7);
    c = (c ^ b) - (b << 16 | b >> 16);
    a = (a ^ c) - (c << 4 | c >> 28);
    b = (b ^ a) - (a << 14 | a >> 18);
    c = (c ^ b) - (b << 24 | b >> 8);
    return c;
}

control balance(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    const bit<16> ETHERNET_BYTES = 14;
    const bit<16> IPV4_BYTES = 20;
    const bit<64> SECONDS = 1000000000;

    // The indices of `packets`.
    const bit<32> NEW = 0;
    const bit<32> KNOWN = 1;
    const bit<32> ABOUT = 2;
    const bit<32> NO_BACKEND = 3;
    const bit<32> NOT_FOR_A_SERVICE = 4;

    CounterArray(5, false) packets;
    CounterArray(4096, false) backends_packets;
    flow_state<connection_t, chosen_t>(65536, 60 * SECONDS) connections;

    connection_t connection = { 0, 0, 0, 0, 0 };
    bit<16> service = 0;
    bit<16> slots_mask = 0;
    bool    sticky = false;
    bit<16> slot = 0;
    bit<16> backend = 0;
    bool    found = false;

    action balanced(bit<16> number, bit<16> mask, bool keep) {
        service = number;
        slots_mask = mask;
        sticky = keep;
        found = true;
    }

    // Services: address, port and protocol; the number of slots in the ring is a power of two, here less one.
    table services {
        key = {
            connection.service      : exact @name("address");
            connection.service_port : exact @name("port");
            connection.protocol     : exact @name("protocol");
        }
        actions = { balanced; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    action assign(bit<16> number) {
        backend = number;
    }

    // The ring: one entry a slot of a service.
    table ring {
        key = {
            service : exact @name("service");
            slot    : exact @name("slot");
        }
        actions = { assign; NoAction; }
        default_action = NoAction();
        size = 262144;
    }

    action send(bit<32> port, bit<48> src, bit<48> dst) {
        hdr.eth.src = src;
        hdr.eth.dst = dst;
        xout.output_action = xdp_action.XDP_REDIRECT;
        xout.output_port = port;
        backends_packets.increment((bit<32>)backend);
    }

    action tunnel_ipv4(bit<32> own, bit<32> address, bit<32> port, bit<48> src, bit<48> dst) {
        bit<16> bytes = hdr.packet.length - ETHERNET_BYTES;
        bit<8> inner = hdr.ipv4.isValid() ? PROTOCOL_IPV4 : PROTOCOL_IPV6;
        bit<6> dscp = hdr.ipv4.isValid() ? hdr.ipv4.dscp : hdr.ipv6.dscp;
        bit<2> ecn = hdr.ipv4.isValid() ? hdr.ipv4.ecn : hdr.ipv6.ecn;
        hdr.outer_ipv4 = {
            version = 4, ihl = 5, dscp = dscp, ecn = ecn, total_len = bytes + IPV4_BYTES, id = 0, flags = 0b010,
            frag_offset = 0, ttl = 64, protocol = inner, checksum = 0, src = own, dst = address
        };
        hdr.outer_ipv4.checksum = ebpf_ipv4_checksum(
            4, 5, dscp ++ ecn, bytes + IPV4_BYTES, 0, 0b010, 0, 64, inner, own, address);
        hdr.eth.type = TYPE_IPV4;
        send(port, src, dst);
    }

    action tunnel_ipv6(bit<128> own, bit<128> address, bit<32> port, bit<48> src, bit<48> dst) {
        hdr.outer_ipv6 = {
            version = 6,
            dscp = hdr.ipv4.isValid() ? hdr.ipv4.dscp : hdr.ipv6.dscp,
            ecn = hdr.ipv4.isValid() ? hdr.ipv4.ecn : hdr.ipv6.ecn,
            flow_label = 0,
            payload_len = hdr.packet.length - ETHERNET_BYTES,
            next_header = hdr.ipv4.isValid() ? PROTOCOL_IPV4 : PROTOCOL_IPV6,
            hop_limit = 64,
            src = own,
            dst = address
        };
        hdr.eth.type = TYPE_IPV6;
        send(port, src, dst);
    }

    action drop() {
        xout.output_action = xdp_action.XDP_DROP;
        packets.increment(NO_BACKEND);
    }

    // Servers, and how to get to them.
    table backends {
        key = { backend : exact @name("number"); }
        actions = { tunnel_ipv4; tunnel_ipv6; drop; }
        default_action = drop();
        size = 4096;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;

        bool about = false;
        bool starts = false;
        if (hdr.ports.isValid()) {
            connection.client_port = hdr.ports.src;
            connection.service_port = hdr.ports.dst;
            if (hdr.ipv4.isValid()) {
                connection.client = (bit<128>)hdr.ipv4.src;
                connection.service = (bit<128>)hdr.ipv4.dst;
                connection.protocol = hdr.ipv4.protocol;
            } else {
                connection.client = hdr.ipv6.src;
                connection.service = hdr.ipv6.dst;
                connection.protocol = hdr.ipv6.next_header;
            }
            starts = hdr.tcp.isValid() && hdr.tcp.flags & (TCP_SYN | TCP_ACK) == TCP_SYN;
        } else if (hdr.about_ports.isValid()) {
            // What is within went from the service to the client.
            about = true;
            connection.client_port = hdr.about_ports.dst;
            connection.service_port = hdr.about_ports.src;
            if (hdr.about_ipv4.isValid()) {
                connection.client = (bit<128>)hdr.about_ipv4.dst;
                connection.service = (bit<128>)hdr.about_ipv4.src;
                connection.protocol = hdr.about_ipv4.protocol;
            } else {
                connection.client = hdr.about_ipv6.dst;
                connection.service = hdr.about_ipv6.src;
                connection.protocol = hdr.about_ipv6.next_header;
            }
        } else {
            return;
        }

        services.apply();
        if (!found) {
            packets.increment(NOT_FOR_A_SERVICE);
            return;
        }

        // The first packet of a connection goes by the ring, even if an old one had the same ports.
        chosen_t chosen = { 0 };
        bool known = false;
        if (sticky && !starts) {
            known = connections.lookup(connection, chosen);
        }
        if (known) {
            backend = chosen.backend;
        } else {
            bit<32> hash = mix(
                connection.client[127:96] ^ connection.client[95:64] ^ connection.client[63:32] ^ connection.client[31:0],
                connection.client_port ++ connection.service_port,
                (bit<32>)connection.protocol ^ connection.service[31:0]);
            slot = (hash[31:16] ^ hash[15:0]) & slots_mask;
            ring.apply();
            if (sticky && !about && backend != 0) {
                connections.update(connection, { backend });
            }
        }
        packets.increment(about ? ABOUT : known ? KNOWN : NEW);
        backends.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.outer_ipv4);
        packet.emit(hdr.outer_ipv6);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.ports);
        packet.emit(hdr.tcp);
        packet.emit(hdr.icmp);
        packet.emit(hdr.about_ipv4);
        packet.emit(hdr.about_ipv6);
        packet.emit(hdr.about_ports);
    }
}

xdp(prs(), balance(), dprs()) main;
