// SPDX-License-Identifier: Apache-2.0
//
//! Requests and the responses to them.
//!
//! They belong together by a number that both have, or by their order on the connection. Requests wait in a `flow_state` of the program's own, under
//! an `exchange_key`, with what the program keeps of them (`request_t` here):
//!
//! ```p4
//! flow_state<exchange_key, request_t>(4096) waiting;
//! flow_state<stream_ends, exchange_connection>(4096) connections;
//! exchange_number(connections = connections, sent_once = false) in_order;
//! ...
//! exchange_message exchange = exchange_message_of(ends, is_request, is_response);
//! in_order.apply(exchange, hdr.tcp.seq + segment.at - segment.message.kept, segment.missed == 1);
//! if (is_request && exchange.is_numbered) { waiting.update(exchange.key, request); }
//! if (is_response && exchange.is_next && exchange_take(waiting, exchange, request)) { ... }
//! ...
//! if (segment.missed == 1) { miss.apply(ends); }   // behind the last message of the segment
//! ```

#ifndef _EXCHANGES_P4_
#define _EXCHANGES_P4_

#include <streams.p4>

/// A request: the ends of its connection, the client's first, and its number there.
struct exchange_key {
    stream_ends ends;
    bit<64>     number;
}

/// Numbers of the requests and responses that a connection had, and the positions at which the last of each began.
struct exchange_connection {
    bit<32> requests;
    bit<32> responses;
    bit<32> last_request;
    bit<32> last_response;
    bit<1>  missed_request;    // one may have been missed: those behind it have no number
    bit<1>  missed_response;
}

/// A message, of one side or the other.
struct exchange_message {
    bool         is_request;
    bool         is_response;
    exchange_key key;           // of the request
    bool         is_next;       // it was not sent before
    bool         is_numbered;   // and its number is known
}

/// A message that came between these ends.
exchange_message exchange_message_of(in stream_ends ends, in bool is_request, in bool is_response) {
    stream_ends client = ends;
    if (is_response) { client = { ends.dst, ends.src, ends.dst_port, ends.src_port }; }
    return { is_request, is_response, { client, 0 }, false, false };
}

/// Numbers a message that has a number of its own.
void exchange_by_number(inout exchange_message exchange, in bool has_number, in bit<64> number) {
    exchange.key.number = number;
    exchange.is_next = (exchange.is_request || exchange.is_response) && has_number;
    exchange.is_numbered = exchange.is_next;
}

/// Numbers a message by its order on its connection. `position` is where it begins in the bytes of its side; a message at the last one's position or
/// in front of it was sent again, unless messages are `sent_once`. If one in front of it was `missed`, its number is not known, and neither are those of
/// all that follow on its side.
control exchange_number(inout exchange_message exchange, in bit<32> position, in bool missed)
                       (flow_state<stream_ends, exchange_connection> connections, bool sent_once) {
    apply {
        if (exchange.is_request || exchange.is_response) {
            exchange_connection connection;
            stream_ends ends = exchange.key.ends;
            bool is_request = exchange.is_request;
            bool is_next = false;
            bool is_numbered = false;
            bit<64> number = 0;
            @atomic {
                bool known = connections.lookup(ends, connection);
                if (is_request) {
                    is_next = sent_once || connection.requests == 0 || (int<32>)(position - connection.last_request) > 0;
                    connection.missed_request = connection.missed_request | (bit<1>)missed;
                    if (is_next) {
                        number = (bit<64>)connection.requests;
                        is_numbered = connection.missed_request == 0;
                        connection.requests = connection.requests + (bit<32>)(bit<1>)is_numbered;
                        connection.last_request = position;
                    }
                } else {
                    is_next = sent_once || connection.responses == 0 || (int<32>)(position - connection.last_response) > 0;
                    connection.missed_response = connection.missed_response | (bit<1>)missed;
                    if (is_next) {
                        number = (bit<64>)connection.responses;
                        is_numbered = known && connection.missed_response == 0 && connection.responses != connection.requests;
                        if (is_numbered) { connection.responses = connection.responses + 1; }
                        connection.last_response = position;
                    }
                }
                if ((is_next || missed) && (known || is_request)) { connections.update(ends, connection); }
            }
            exchange.is_next = is_next;
            exchange.is_numbered = is_numbered;
            exchange.key.number = number;
        }
    }
}

/// Takes note that a message between these ends may have been missed whose side is not known.
control exchange_miss(in stream_ends ends)(flow_state<stream_ends, exchange_connection> connections) {
    apply {
        exchange_connection connection;
        stream_ends client = stream_reversed(ends);
        bool is_of_server = false;
        @atomic {
            is_of_server = connections.lookup(client, connection);
            if (is_of_server) {
                connection.missed_response = 1;
                connections.update(client, connection);
            }
        }
        @atomic {
            bool is_of_client = connections.lookup(ends, connection);
            if (is_of_client || !is_of_server) {
                connection.missed_request = 1;
                connections.update(ends, connection);
            }
        }
    }
}

/// Takes the request that a response answers; false if none waits.
bool exchange_take<R>(flow_state<exchange_key, R> waiting, in exchange_message exchange, inout R request) {
    bool is_known = false;
    if (exchange.is_numbered) { is_known = waiting.lookup(exchange.key, request); }
    if (is_known) {
        @noWarn("unused") bool gone = waiting.remove(exchange.key);
    }
    return is_known;
}

/// Forgets what is known under a key.
void exchange_forget<K, V>(flow_state<K, V> states, in K key) {
    @noWarn("unused") bool gone = states.remove(key);
}

#endif
