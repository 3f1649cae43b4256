// SPDX-License-Identifier: Apache-2.0
//
// Blocks sites by name: of a DNS query, of a TLS server, of an HTTP host. A rule blocks for some groups of sources, and allows for others; of
// those that cover a name, the one with the longest name decides. TCP connections are followed in both directions, so that what is decided holds for
// what the server gets.

#define READ_PPPOE
#include <packet_answers.p4>
#include <stream_verdicts.p4>
#include <telemetry.p4>

// Most rules; another file may define it and include this one.
#ifndef MOST_RULES
#define MOST_RULES 100000
#endif

// Connections whose state is known, and of these such that wait for bytes or for the server.
#ifndef MOST_CONNECTIONS
#define MOST_CONNECTIONS 65536
#endif
#ifndef MOST_UNDECIDED
#define MOST_UNDECIDED 1024
#endif

// Another file may also define COUNT_ONLY: then packets pass that would be dropped, and are counted all the same.
#ifdef COUNT_ONLY
const bool IS_COUNTED_ONLY = true;
#else
const bool IS_COUNTED_ONLY = false;
#endif

// With ANSWERS, what is refused is answered: TCP connections are reset, and names do not exist. More answers are below. It is for XDP alone.

// With DROP_UNKNOWN, what cannot be followed or read is dropped.
#ifdef DROP_UNKNOWN
const bool DROPS_UNKNOWN = true;
#else
const bool DROPS_UNKNOWN = false;
#endif

// With REFUSE_QUIC, connections of QUIC cannot begin, whose names are encrypted. Clients use TCP then.
#ifdef REFUSE_QUIC
const bool REFUSES_QUIC = true;
#else
const bool REFUSES_QUIC = false;
#endif

// With GROUPS, sources of requests belong to groups, which have rules of their own.
#ifdef GROUPS
const bit<32> MOST_GROUPS = 16;
#else
const bit<32> MOST_GROUPS = 1;
#endif

// With PATTERNS, there are rules for URLs: prefixes, which decide before names, and words and expressions, which decide behind them. Their automata have room for
// this number of states.
#ifndef MOST_STATES
#define MOST_STATES 65536
#endif

// With READ_QUIC, the names of such connections are read. So many connections have room that begin at the same time.
#ifndef MOST_INITIALS
#define MOST_INITIALS 4096
#endif

// With READ_ALIASES, the names are judged too to which responses of DNS lead.

// With PAGE_BYTES and ANSWERS, a blocked request of HTTP gets a response: PAGE_TEXT, which has this number of bytes, an even one, and whose words have the sum PAGE_SUM.

// With STRIP_ECH and ANSWERS, queries over UDP for HTTPS records get none: they have the keys by which clients encrypt a ClientHello.

const bit<16> PORT_DNS = 53;
const bit<16> PORT_HTTP = 80;
const bit<16> PORT_TLS = 443;

// Type of a DNS record with what a client of HTTPS needs (RFC 9460).
const bit<16> TYPE_HTTPS = 65;

const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

// Tells if a number is that of an extension header of IPv6. A packet whose headers end with one is cut there, or has them in an order that is not read.
bool is_extension(in bit<8> protocol) { return protocol == 0 || protocol == 43 || protocol == 44 || protocol == 51 || protocol == 60; }

// Tells if an EtherType announces a VLAN tag. Behind the tags that are read, there is one more.
bool is_vlan(in bit<16> type) { return type == 0x8100 || type == 0x88a8 || type == 0x9100; }

// Of a rule's 32 bits, two belong to a group, from the lowest ones on.
const bit<32> BLOCKS = 1;
const bit<32> ALLOWS = 2;

// Time in units of 2^30 nanoseconds of the monotonic clock.
bit<32> ticks() { return (bit<32>)(monotonic_ns() >> 30); }

// Answers to a packet that does not pass.
enum bit<8> answer {
    NONE       = 0,
    RESET_ON   = 1,   // the connection's other end learns
    RESET_BACK = 2,   // the sender learns
    NO_NAME    = 3,
    NO_TARGET  = 4,   // the response becomes one that the name does not exist
    NO_DATA    = 5,   // the name has no records of the type
    PAGE       = 6    // the client gets a response
}

// Source of a request.
struct source_group {
    bit<32> number;    // 0: all that belong to no other group, or to one at a time that is not its own
    bool is_paused;    // what is blocked passes, and is counted
    bool is_watched;   // what is blocked is reported
    bit<128> client;   // the source's address, if reports have it
}

// A request that would be blocked, for those that watch.
struct blocked_request {
    bit<64>  time;         // nanoseconds of the monotonic clock
    bit<32>  rule;
    bit<8>   kind;         // OF_DNS and so on
    bit<8>   group;
    bit<8>   is_excused;   // it passes: its group is paused, or all is counted only
    bit<128> client;       // 0 where nobody asks for it
}

// Bits of a group.
bit<32> of_group(in bit<32> lists, in source_group group) { return (lists >> (2 * (bit<8>)group.number)) & 3; }

#ifdef PATTERNS
// Decides between a rule for names, and words and expressions.
void or_words(inout bit<32> rule, inout bit<32> lists, in source_group group, in bit<32> word, in bit<32> word_lists) {
    if (of_group(lists, group) == 0) {
        rule = word;
        lists = word_lists;
    }
}
#endif

// Of a blocked stream: its server has got a reset.
const bit<8> SERVER_KNOWS = 2;

// Messages, as indices of counters.
const bit<32> OF_DNS = 0;
const bit<32> OF_HTTP = 1;
const bit<32> OF_TLS = 2;
const bit<32> OF_QUIC = 3;

// HTTP connections that become something else: asked for by Upgrade or by CONNECT, and then granted.
const bit<32> ASKS_UPGRADE = 1;
const bit<32> ASKS_TUNNEL = 2;
const bit<32> IS_UPGRADED = 3;
const bit<32> IS_TUNNEL = 4;

// Queries of DNS over TCP that are cut: the first byte of the length has come, or all of it, which is in the lowest bits.
const bit<32> HAS_BYTE = 0x10000;
const bit<32> HAS_LENGTH = 0x20000;

// Finds the group of a packet's source: by its address of the link layer, or else by the longest prefix of its address.
control find_group(in packet_headers hdr, in bool is_answer, out source_group group) {
    bit<32> now = ticks();
    bit<128> address;
    bit<128> other;
    bit<48> station;
#ifdef GROUPS
    action in_group(bit<32> number) { group.number = number; }
    action holds() { }
    table stations {
        key = { station: exact @name("hdr.eth.src"); }
        actions = { in_group; NoAction; }
        default_action = NoAction();
        implementation = hash_table(4096);
    }
    table sources {
        key = { address: lpm; }
        actions = { in_group; NoAction; }
        default_action = NoAction();
        implementation = hash_table(4096);
    }
    // Times at which the rules of a group hold.
    table times {
        key = { group.number: exact; now: range; }
        actions = { holds; NoAction; }
        default_action = NoAction();
        implementation = hash_table(8192);
    }
#endif
    action until(bit<32> end) { group.is_paused = now < end; }
    table pauses {
        key = { group.number: exact; }
        actions = { until; NoAction; }
        default_action = NoAction();
        implementation = array_table(MOST_GROUPS);
    }
    action report(bit<32> end, bit<1> with_client) {
        group.is_watched = now < end;
        if (with_client == 1) { group.client = address; }
    }
    table watchers {
        key = { group.number: exact; }
        actions = { report; NoAction; }
        default_action = NoAction();
        implementation = array_table(MOST_GROUPS);
    }
    apply {
        group.number = 0;
        group.is_paused = false;
        group.is_watched = false;
        group.client = 0;
        packet_addresses(hdr, address, other);
        station = hdr.eth.src;
        if (is_answer) {
            address = other;
            station = hdr.eth.dst;
        }
#ifdef GROUPS
        if (!stations.apply().hit) { sources.apply(); }
        if (group.number != 0 && !times.apply().hit) { group.number = 0; }
#endif
        pauses.apply();
        watchers.apply();
    }
}

// Counts a rule, and tells if it blocks. Counters of messages have four for each group.
control decide(out bool is_blocked, in source_group group, in bit<32> kind, in bit<32> rule, in bit<32> lists)
              (CounterArray blocked, CounterArray allowed, CounterArray excused, CounterArray decided_by) {
    apply {
        is_blocked = false;
        bit<32> verdict = of_group(lists, group);
        bit<32> index = 4 * group.number + kind;
        if (verdict != 0) {
            decided_by.increment((bit<32>) rule[31:27]);
            if (verdict & ALLOWS != 0) {
                allowed.increment(index);
            } else if (group.is_paused) {
                excused.increment(index);
            } else {
                blocked.increment(index);
                is_blocked = true;
            }
            if (verdict & ALLOWS == 0 && group.is_watched) {
                digest<blocked_request>(0, { monotonic_ns(), rule, (bit<8>)kind, (bit<8>)group.number, (group.is_paused || IS_COUNTED_ONLY) ? 8w1 : 0, group.client });
            }
        }
    }
}

// Reads requests of HTTP in a segment, and decides about them.
control read_http(inout verdict_segment segment, inout message_status status, in source_group group)
                 (message http, name_set names,
#ifdef PATTERNS
                  pattern_set patterns,
#endif
                  stream_bytes held, CounterArray blocked, CounterArray allowed, CounterArray excused, CounterArray decided_by) {
    decide(blocked = blocked, allowed = allowed, excused = excused, decided_by = decided_by) decide_message;
    apply {
        bit<32> rule;
        bit<32> lists;
        bool is_blocked = false;
        for (bit<32> request = 0; request < 8 && segment.is_read && segment.stream.kind < IS_UPGRADED; request = request + 1) {
            status = http.read_held(held, segment.ticket, segment.message, segment.at, segment.bytes,
#ifdef PATTERNS
                "method,target,path,host,body,content_length,header.transfer-encoding,header.upgrade");
#else
                "method,host,body,content_length,header.transfer-encoding,header.upgrade");
#endif
            http.find_name("host", names, rule, lists);
#ifdef PATTERNS
            bit<32> prefix;
            bit<32> prefix_lists;
            bit<32> word;
            bit<32> word_lists;
            http.find_url(patterns, prefix, prefix_lists, word, word_lists);
            or_words(rule, lists, group, word, word_lists);
            if (of_group(prefix_lists, group) != 0) {
                rule = prefix;
                lists = prefix_lists;
            }
#endif
            // A request may be cut behind its host.
            bool blocks = of_group(lists, group) == BLOCKS && !group.is_paused;
            if (status == message_status.READ || blocks) {
                decide_message.apply(is_blocked, group, OF_HTTP, rule, lists);
            }
            if (is_blocked) {
                verdict_block(segment);
            } else if (status == message_status.READ) {
                bit<8> first;
                bit<32> rest;
                bit<80> digits;
                bit<32> length;
                bit<64> body = 0;
                @noWarn("unused") bool has_body = http.get_bytes("body", first, rest);
                bool has_digits = http.get_bytes("content_length", digits, length);
                bool is_number = stream_decimal(digits, length, body);
                bit<32> head = segment.bytes - rest;
                bool is_coded = http.get_bytes("header.transfer-encoding", first, length);
                bool is_chunked = http.matches("header.transfer-encoding", "(?i)(^|,)[ \\t]*chunked$");
                bit<64> method;
                @noWarn("unused") bool has_method = http.get_bytes("method", method, length);
                bool asks_upgrade = http.matches("header.upgrade", "(?i)^websocket$");
                // "CONNECT"
                if (method == 0x434f4e4e45435400) {
                    segment.stream.kind = ASKS_TUNNEL;
                } else {
                    segment.stream.kind = asks_upgrade ? ASKS_UPGRADE : 0;
                }
                if (has_digits && !is_number || is_coded && (!is_chunked || has_digits)) {
                    verdict_unknown(segment, verdict_count.MALFORMED);
                } else if (is_coded) {
                    verdict_chunks(segment, segment.message + head, CHUNKS_BEGIN);
                } else {
                    verdict_next(segment, (bit<64>)head + body);
                }
            } else {
                verdict_unread(segment, status);
            }
        }
    }
}

// Reads queries of DNS in a segment, each behind its length, and decides about them.
control read_dns(inout verdict_segment segment, inout message_status status, in source_group group)
                (message dns, name_set names,
#ifdef PATTERNS
                 pattern_set patterns,
#endif
                 stream_bytes held, CounterArray blocked, CounterArray allowed, CounterArray excused, CounterArray decided_by) {
    decide(blocked = blocked, allowed = allowed, excused = excused, decided_by = decided_by) decide_message;
    apply {
        bit<32> rule;
        bit<32> lists;
        for (bit<32> query = 0; query < 8 && segment.is_read; query = query + 1) {
            bit<16> length = segment.stream.kind[15:0];
            bit<8> one = 0;
            if (segment.stream.kind & HAS_BYTE != 0) {
                @noWarn("unused") bool has_rest = payload_read(segment.at, one);
                length = segment.stream.kind[7:0] ++ one;
            } else if (segment.stream.kind == 0) {
                @noWarn("unused") bool has_byte = payload_read(segment.at, one);
                @noWarn("unused") bool has_both = payload_read(segment.at, length);
            }
            if (segment.bytes < 2) {
                segment.stream.kind = HAS_BYTE | (bit<32>)one;
                verdict_unread(segment, message_status.BEGINS);
            } else {
                bit<32> bytes = segment.bytes - 2;
                bool is_whole = bytes >= (bit<32>)length;
                if (is_whole) { bytes = (bit<32>)length; }
                segment.stream.kind = is_whole ? 0 : HAS_LENGTH | (bit<32>)length;
                status = dns.read_held(held, segment.ticket, segment.message + 2, segment.at + 2, bytes, "qname");
                dns.find_name("qname", names, rule, lists);
#ifdef PATTERNS
                bit<32> word;
                bit<32> word_lists;
                dns.find_pattern("qname", patterns, word, word_lists);
                or_words(rule, lists, group, word, word_lists);
#endif
                bool blocks = of_group(lists, group) == BLOCKS && !group.is_paused;
                bool is_blocked = false;
                if (is_whole || blocks) { decide_message.apply(is_blocked, group, OF_DNS, rule, lists); }
                if (is_blocked) {
                    verdict_block(segment);
                } else if (!is_whole) {
                    verdict_unread(segment, message_status.BEGINS);
                } else if (status == message_status.READ) {
                    verdict_next(segment, (bit<64>)length + 2);
                } else {
                    verdict_unknown(segment, verdict_count.MALFORMED);
                }
            }
        }
    }
}

#ifdef READ_ALIASES
// Decides about the names to which the first answers of a response lead. A name that is allowed may lead anywhere.
control read_aliases(out bool is_blocked, in source_group group)
                    (message dns, name_set names, CounterArray blocked, CounterArray allowed, CounterArray excused, CounterArray decided_by) {
    decide(blocked = blocked, allowed = allowed, excused = excused, decided_by = decided_by) decide_message;
    apply {
        bit<32> rule;
        bit<32> lists;
        bit<32> asked;
        is_blocked = false;
        dns.find_name("qname", names, rule, asked);
        dns.find_name("target.1", names, rule, lists);
        if (of_group(lists, group) != BLOCKS) { dns.find_name("target.2", names, rule, lists); }
        if (of_group(lists, group) != BLOCKS) { dns.find_name("target.3", names, rule, lists); }
        if (of_group(lists, group) != BLOCKS) { dns.find_name("target.4", names, rule, lists); }
        if (of_group(lists, group) == BLOCKS && of_group(asked, group) & ALLOWS == 0) {
            decide_message.apply(is_blocked, group, OF_DNS, rule, lists);
        }
    }
}
#endif

#ifdef READ_QUIC
// A connection of QUIC.
struct quic_flow {
    bit<64> ticket;      // leads to the bytes that it begins with
    bit<32> rule;        // that decides, if it is decided
    bit<8>  is_decided;
    bit<8>  is_blocked;
}

// Nanoseconds after which a connection without datagrams is another one.
const bit<64> QUIC_IDLE = 120000000000;

// Reads the server's name in the Initials of a datagram, and decides about its connection.
control read_quic(out bool pass, in stream_ends ends, in bit<32> bytes, in source_group group)
                 (quic_initials initials, message hello, flow_state<stream_ends, quic_flow> flows, name_set names,
#ifdef PATTERNS
                  pattern_set patterns,
#endif
                  CounterArray blocked, CounterArray allowed,
                  CounterArray excused, CounterArray unread, CounterArray decided_by) {
    decide(blocked = blocked, allowed = allowed, excused = excused, decided_by = decided_by) decide_message;
    apply {
        quic_flow flow;
        bit<8> first = 0;
        @noWarn("unused") bool is_known = flows.lookup(ends, flow);
        @noWarn("unused") bool has_first = payload_read(0, first);
        pass = flow.is_blocked == 0;
        // Behind a short header there is no other packet (RFC 9000, section 12.2).
        if (pass && first[7:7] == 1) {
            bit<64> ticket;
            quic_status status = initials.take(flow.ticket, 0, bytes, ticket);
            if (status == quic_status.FORGOTTEN && !DROPS_UNKNOWN) {
                // It may be another connection with the same ports.
                unread.increment(16 * OF_QUIC + (bit<32>) (bit<8>) status);
                status = initials.take(0, 0, bytes, ticket);
                flow = { 0, 0, 0, 0 };
            }
            flow.ticket = ticket;
            if (status == quic_status.WHOLE) {
                bit<32> rule;
                bit<32> lists;
                message_status read = hello.read_initials(initials, ticket, "sni");
                hello.find_name("sni", names, rule, lists);
#ifdef PATTERNS
                bit<32> word;
                bit<32> word_lists;
                hello.find_pattern("sni", patterns, word, word_lists);
                or_words(rule, lists, group, word, word_lists);
#endif
                if (read != message_status.READ) {
                    status = quic_status.MALFORMED;
                } else if (flow.is_decided == 0 || flow.rule != rule) {
                    // A rule counts once for a connection, however many Initials it has.
                    bool is_blocked;
                    decide_message.apply(is_blocked, group, OF_QUIC, rule, lists);
                    flow.rule = rule;
                    flow.is_decided = 1;
                    flow.is_blocked = is_blocked ? 8w1 : 0;
                    pass = !is_blocked;
                }
            }
            if (status > quic_status.OTHER) {
                unread.increment(16 * OF_QUIC + (bit<32>) (bit<8>) status);
                pass = !DROPS_UNKNOWN && status != quic_status.CONFLICT;
            }
            if (ticket != 0) { flows.update(ends, flow); }
        }
    }
}
#endif

// Decides about a packet. The answer to one that does not pass may need a number: RESET_ON that of the sequence, NO_TARGET the bytes of the question.
control packet_verdict(in packet_headers hdr, out bool pass, out answer refusal, out bit<32> number) {
    name_set(MOST_RULES) names;
#ifdef PATTERNS
    pattern_set(MOST_STATES) patterns;
#endif
    message("dns") dns;
    message("http", STREAM_LIMIT) http;
    message("tls", STREAM_LIMIT) tls;
    flow_state<stream_ends, followed_stream>(MOST_CONNECTIONS) followed;
    flow_state<stream_ends, decided_stream>(MOST_CONNECTIONS) decided;
    stream_bytes(MOST_UNDECIDED) held;
    // Messages with a name that is blocked, with one that is allowed, and with one that is blocked while its group is paused.
    CounterArray(4 * MOST_GROUPS, false) blocked;
    CounterArray(4 * MOST_GROUPS, false) allowed;
    CounterArray(4 * MOST_GROUPS, false) excused;
    // Messages whose name could not be read: 16 times the kind of message, and the status of reading it.
    CounterArray(64, false) unread;
    // Connections that could not be followed, and segments that were dropped because of their order (`verdict_count`).
    CounterArray(VERDICT_COUNTS, false) followings;
    // Packets with which connections of QUIC begin.
    CounterArray(1, false) quic;
#ifdef STRIP_ECH
    // Queries for HTTPS records, which get none.
    CounterArray(1, false) withheld;
#endif
    // Packets whose ports are not read: fragments and such that end before them; and such behind more headers, or others, than are read.
    CounterArray(2, false) fragments;
    // Messages for which a list decides. The first five bits of a rule's number are that of its list.
    CounterArray(32, false) decided_by;
    verdict_decided(decided = decided) decision;
    verdict_begin(followed = followed, held = held, counts = followings, drops_unknown = DROPS_UNKNOWN) begin;
    verdict_end(followed = followed, decided = decided, held = held, counts = followings, drops_unknown = DROPS_UNKNOWN) end;
    verdict_acknowledge(followed = followed, decided = decided, held = held) acknowledge;
    decide(blocked = blocked, allowed = allowed, excused = excused, decided_by = decided_by) decide_message;
    find_group() find_source;
    read_http(http = http, names = names,
#ifdef PATTERNS
              patterns = patterns,
#endif
              held = held, blocked = blocked, allowed = allowed, excused = excused, decided_by = decided_by) read_requests;
    read_dns(dns = dns, names = names,
#ifdef PATTERNS
              patterns = patterns,
#endif
              held = held, blocked = blocked, allowed = allowed, excused = excused, decided_by = decided_by) read_queries;
#ifdef READ_ALIASES
    message("dns", 4096) responses;
    read_aliases(dns = responses, names = names, blocked = blocked, allowed = allowed, excused = excused, decided_by = decided_by) read_targets;
#endif
#ifdef READ_QUIC
    quic_initials(MOST_INITIALS) initials;
    message("quic") hello;
    flow_state<stream_ends, quic_flow>(MOST_CONNECTIONS, QUIC_IDLE) quic_flows;
    read_quic(initials = initials, hello = hello, flows = quic_flows, names = names,
#ifdef PATTERNS
              patterns = patterns,
#endif
              blocked = blocked, allowed = allowed, excused = excused, unread = unread,
              decided_by = decided_by) read_hellos;
#endif

    apply {
        bit<32> rule = 0;
        bit<32> lists = 0;
        bool is_blocked = false;
        bit<32> kind = OF_DNS;
        message_status status = message_status.OTHER;
        source_group group = { 0, false, false, 0 };
        pass = true;
        refusal = answer.NONE;
        number = 0;
#ifdef READ_ALIASES
        bit<16> response = 0;
        bool is_response = hdr.udp.isValid() && hdr.udp.src_port == PORT_DNS && hdr.udp.dst_port != PORT_TLS && payload_read(2, response) && response[15:15] == 1;
        if (is_response) {
            status = responses.read_for(0, hdr.payload_bytes, "qname,target.1,target.2,target.3,target.4");
            if (status != message_status.OTHER) {
                // What stands before a fault, or before the end of what is read, counts.
                find_source.apply(hdr, true, group);
                read_targets.apply(is_blocked, group);
                pass = !is_blocked;
                bit<8> end = 1;
                bit<16> questions = 0;
                @noWarn("unused") bool has_name = responses.get_bytes("qname", end, number);
                @noWarn("unused") bool has_count = payload_read(4, questions);
                // Behind the name's text and the length of its first label, there is the root's.
                if (questions == 1 && payload_read(number + 13, end) && end == 0) { refusal = answer.NO_TARGET; }
                number = number + 6;
                if (status != message_status.READ) {
                    unread.increment(16 * OF_DNS + (bit<32>) (bit<8>) status);
                    if (DROPS_UNKNOWN && status != message_status.TOO_LONG) { pass = false; }
                }
            }
        } else
#endif
        if (hdr.udp.isValid() && hdr.udp.dst_port == PORT_DNS) {
#ifdef STRIP_ECH
            bit<16> type = 0;
            status = dns.read_for(0, hdr.payload_bytes, "qname,qtype");
            @noWarn("unused") bool has_type = dns.get_number("qtype", type);
#else
            status = dns.read_for(0, hdr.payload_bytes, "qname");
#endif
            if (status == message_status.READ) {
                dns.find_name("qname", names, rule, lists);
                find_source.apply(hdr, false, group);
#ifdef PATTERNS
                bit<32> word;
                bit<32> word_lists;
                dns.find_pattern("qname", patterns, word, word_lists);
                or_words(rule, lists, group, word, word_lists);
#endif
                decide_message.apply(is_blocked, group, OF_DNS, rule, lists);
                pass = !is_blocked;
                refusal = answer.NO_NAME;
#ifdef STRIP_ECH
                bit<16> flags = 0;
                if (pass && type == TYPE_HTTPS && payload_read(2, flags) && flags[15:15] == 0) {
                    withheld.increment(0);
                    pass = false;
                    refusal = answer.NO_DATA;
                }
#endif
            } else if (status != message_status.OTHER) {
                unread.increment(16 * OF_DNS + (bit<32>) (bit<8>) status);
                pass = !DROPS_UNKNOWN;
            }
        } else if (hdr.udp.isValid() && hdr.udp.dst_port == PORT_TLS) {
            // A long header, and a version (RFC 8999).
            bit<40> start;
            if (payload_read(0, start) && start[39:38] == 3 && start[31:0] != 0) {
                quic.increment(0);
                pass = !REFUSES_QUIC;
            }
#ifdef READ_QUIC
            stream_ends ends = { 0, 0, hdr.udp.src_port, hdr.udp.dst_port };
            packet_addresses(hdr, ends.src, ends.dst);
            find_source.apply(hdr, false, group);
            read_hellos.apply(pass, ends, hdr.payload_bytes, group);
#endif
        } else if (hdr.tcp.isValid() && (hdr.tcp.dst_port == PORT_TLS || hdr.tcp.dst_port == PORT_HTTP || hdr.tcp.dst_port == PORT_DNS)) {
            bool opens = hdr.tcp.flags[1:1] == 1;
            bool is_urgent = hdr.tcp.flags[5:5] == 1;
            bool is_empty = false;
#ifdef PAGE_BYTES
            // Of a client that has its page, the server knows nothing. The first segment without data tells it, the next one the client.
            is_empty = hdr.payload_bytes == 0 && !opens && !is_urgent;
#endif
            if (hdr.payload_bytes != 0 || opens || is_urgent || is_empty) {
                stream_ends ends = { 0, 0, hdr.tcp.src_port, hdr.tcp.dst_port };
                packet_addresses(hdr, ends.src, ends.dst);
                bool is_decided;
                decision.apply(is_decided, pass, ends, opens, hdr.payload_bytes);
                if (is_decided) {
                    if (!opens) { refusal = answer.RESET_BACK; }
                    decided_stream known;
                    if (is_empty && decided.lookup(ends, known) && known.is_blocked == 1) {
                        known.is_blocked = SERVER_KNOWS;
                        decided.update(ends, known);
                        refusal = answer.RESET_ON;
                        number = hdr.tcp.seq;
                    }
                } else if (!is_empty) {
                    verdict_segment segment;
                    begin.apply(segment, ends, hdr.tcp.seq, opens, is_urgent, hdr.payload_bytes);
                    if (segment.is_read) { find_source.apply(hdr, false, group); }
                    if (hdr.tcp.dst_port == PORT_HTTP) {
                        kind = OF_HTTP;
                        read_requests.apply(segment, status, group);
                    } else if (hdr.tcp.dst_port == PORT_DNS) {
                        read_queries.apply(segment, status, group);
                    } else {
                        kind = OF_TLS;
                    }
                    bool is_tunnel = kind == OF_HTTP && segment.stream.kind >= IS_UPGRADED;
                    if (segment.is_read && (kind == OF_TLS || is_tunnel)) {
                        status = tls.read_held(held, segment.ticket, segment.message, segment.at, segment.bytes, "sni");
                        if (status == message_status.READ) {
                            tls.find_name("sni", names, rule, lists);
#ifdef PATTERNS
                            bit<32> word;
                            bit<32> word_lists;
                            tls.find_pattern("sni", patterns, word, word_lists);
                            or_words(rule, lists, group, word, word_lists);
#endif
                            decide_message.apply(is_blocked, group, OF_TLS, rule, lists);
                            if (is_blocked) { verdict_block(segment); } else { verdict_allow(segment); }
                        } else if (status == message_status.OTHER && is_tunnel && segment.stream.kind == IS_UPGRADED) {
                            // Its name was that of the request.
                            verdict_allow(segment);
                        } else {
                            verdict_unread(segment, status);
                        }
                    }
                    end.apply(segment, ends);
                    pass = segment.passes;
                    if (!segment.is_lost && !opens && (segment.is_blocked || segment.is_unknown)) {
                        refusal = answer.RESET_ON;
                        number = segment.was_next;
#ifdef PAGE_BYTES
                        // The responses to other requests may still come.
                        if (segment.is_blocked && kind == OF_HTTP && segment.message == segment.stream.first) { refusal = answer.PAGE; }
#endif
                    }
                    if (!segment.is_lost && segment.is_unknown && status > message_status.OTHER) {
                        unread.increment(16 * kind + (bit<32>) (bit<8>) status);
                    }
                    if (IS_COUNTED_ONLY && segment.is_lost) {
                        // It passes, so that the rest cannot be followed.
                        decided.update(ends, { segment.first_byte, segment.end, 0, 0, 0 });
                    }
                }
            }
        } else if (hdr.tcp.isValid() && (hdr.tcp.src_port == PORT_TLS || hdr.tcp.src_port == PORT_HTTP || hdr.tcp.src_port == PORT_DNS)) {
            stream_ends ends = { 0, 0, hdr.tcp.dst_port, hdr.tcp.src_port };
            packet_addresses(hdr, ends.dst, ends.src);
            bit<32> asked = 0;
            bit<32> granted = 0;
            bit<96> start;
            if (hdr.tcp.src_port == PORT_HTTP && hdr.payload_bytes >= 12 && payload_read(0, start) && start[95:40] == 0x485454502f312e) {
                // "HTTP/1." and " 101", or " 2".
                if (start[31:0] == 0x20313031) {
                    asked = ASKS_UPGRADE;
                    granted = IS_UPGRADED;
                } else if (start[31:16] == 0x2032) {
                    asked = ASKS_TUNNEL;
                    granted = IS_TUNNEL;
                }
            }
            acknowledge.apply(pass, ends, hdr.tcp.seq, hdr.tcp.ack, hdr.tcp.flags[1:1] == 1, asked, granted);
            refusal = answer.RESET_BACK;
        } else if (!hdr.tcp.isValid() && !hdr.udp.isValid()) {
            if (hdr.protocol == PROTOCOL_TCP || hdr.protocol == PROTOCOL_UDP || hdr.ipv6.isValid() && is_extension(hdr.protocol)) {
                fragments.increment(0);
                pass = !DROPS_UNKNOWN;
            } else if (is_vlan(hdr.ether_type) || hdr.pppoe.isValid() && !hdr.ipv4.isValid() && !hdr.ipv6.isValid() && hdr.pppoe.protocol[15:15] == 0) {
                fragments.increment(1);
                pass = !DROPS_UNKNOWN;
            }
        }
        pass = pass || IS_COUNTED_ONLY;
    }
}

#ifdef ANSWERS
#ifdef PAGE_BYTES
// The response to a blocked request.
header page_t { bit<(8 * PAGE_BYTES)> text; }
#endif

struct firewall_packet {
    answered_packet answered;
#ifdef PAGE_BYTES
    page_t          page;
#endif
}

parser parse_packet(packet_in packet, out firewall_packet all) {
    state start {
        packet_parser.apply(packet, all.answered.packet);
        transition accept;
    }
}

control deparse_packet(in firewall_packet all, packet_out packet) {
    answer_deparser() deparser;
    apply {
        deparser.apply(all.answered, packet);
#ifdef PAGE_BYTES
        packet.emit(all.page);
#endif
    }
}

control firewall(inout firewall_packet all, in xdp_input input, out xdp_output output) {
    packet_verdict() verdict;
    apply {
        bool pass;
        answer refusal;
        bit<32> number;
        verdict.apply(all.answered.packet, pass, refusal, number);
        output.output_port = 0;
        output.output_action = xdp_action.XDP_DROP;
        bit<8> flags = all.answered.packet.tcp.isValid() ? all.answered.packet.tcp.flags : 0;
        if (pass || refusal == answer.RESET_BACK && flags & TCP_RST != 0) {
            // A server's reset tells the client.
            output.output_action = xdp_action.XDP_PASS;
            packet_unchanged();
        } else if (refusal == answer.RESET_ON) {
            answer_reset_on(all.answered, number);
            output.output_action = xdp_action.XDP_PASS;
#ifdef PAGE_BYTES
        } else if (refusal == answer.PAGE && flags & (TCP_RST | TCP_ACK) == TCP_ACK && answer_can_turn(all.answered.packet)) {
            // It has to follow what the client knows of the server's bytes, so the server gets nothing.
            all.page.setValid();
            all.page.text = PAGE_TEXT;
            answer_segment_back(all.answered, TCP_FIN | TCP_PSH, PAGE_BYTES, PAGE_SUM);
            output.output_action = xdp_action.XDP_TX;
        } else if (refusal == answer.PAGE) {
            answer_reset_on(all.answered, number);
            output.output_action = xdp_action.XDP_PASS;
#endif
        } else if (refusal == answer.RESET_BACK && flags & TCP_ACK != 0 && answer_can_turn(all.answered.packet)) {
            answer_reset_back(all.answered);
            output.output_action = xdp_action.XDP_TX;
        } else if (refusal == answer.NO_NAME && answer_no_name(all.answered)) {
            output.output_action = xdp_action.XDP_TX;
#ifdef STRIP_ECH
        } else if (refusal == answer.NO_DATA && answer_no_data(all.answered)) {
            output.output_action = xdp_action.XDP_TX;
#endif
        } else if (refusal == answer.NO_TARGET) {
            answer_without_records(all.answered, number);
            output.output_action = xdp_action.XDP_PASS;
        }
    }
}

xdp(parse_packet(), firewall(), deparse_packet()) main;
#else
control firewall(inout packet_headers hdr, out bool pass) {
    packet_verdict() verdict;
    apply {
        @noWarn("unused") answer refusal;
        @noWarn("unused") bit<32> number;
        verdict.apply(hdr, pass, refusal, number);
    }
}

ebpfFilter(packet_parser(), firewall()) main;
#endif
