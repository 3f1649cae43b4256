// SPDX-License-Identifier: Apache-2.0
//
//! What the parser left of a packet, read without taking it from the packet: what a deparser emits does not change.
//!
//! The payload begins behind the last byte that the parser extracted or passed over, and ends with the packet. Offsets count
//! bytes from its start. It is the payload as the packet came in, and is read in controls, wherever in the packet's memory it lies: also
//! that of jumbo frames, and of packets that are still to be segmented. Reading may begin at any of the packet's first 65536 bytes, and ends
//! 16384 bytes behind them at the latest: no packet of IP is so long. Only the length counts all of a packet that is larger.
//!
//! At XDP such packets are in several buffers. A program that includes this header and reads payloads takes them if its parser has no loop and
//! reads no more than 1,024 bytes.

#ifndef _PAYLOAD_P4_
#define _PAYLOAD_P4_

/// How many bytes the payload has.
/// @on interpreter: As described.
/// @on xdp, tc: As described, but not in a program that copies packets or sends them round (E0749).
/// @errors E0608 E0749
@isolated
extern bit<32> payload_length();

/// Reads the bytes at an offset into a `bit<W>` of as many bytes, the first one the most significant. False, and the value 0, if
/// the payload ends before. W is a multiple of 8, and 1024 at most.
/// @on interpreter: As described.
/// @on xdp, tc: As described, but not in a program that copies packets or sends them round (E0749).
/// @errors E0607 E0608 E0749
@isolated
extern bool payload_read<T>(in bit<32> offset, out T value);

/// Replaces the bytes at an offset by a `bit<W>` of as many bytes, the first one the most significant. False, and nothing is written, if the payload ends
/// before. Later reads see the new bytes; a message that was read keeps its attributes. W is a multiple of 8, and 512 at most. Checksums are the program's.
/// @on interpreter: As described.
/// @on xdp: As described, for programs of `xdp_model`.
/// @on tc: Refused (E0613).
/// @errors E0607 E0608 E0613
@isolated
extern bool payload_write<T>(in bit<32> offset, in T value);

/// Truncates the payload of the packet that leaves to this number of bytes. What is read stays. Lengths in headers, and checksums, are the program's.
/// @on interpreter: As described.
/// @on xdp: As described, for programs of `xdp_model`.
/// @on tc: Refused (E0613).
/// @errors E0608 E0613
@isolated
extern void payload_truncate(in bit<32> bytes);

/// Lets the packet leave as it came in: nothing of it is deparsed. What `payload_write` wrote stays.
/// @on interpreter: As described.
/// @on xdp: As described, for programs of `xdp_model`.
/// @on tc: Refused (E0613).
/// @errors E0608 E0613
@isolated
extern void packet_unchanged();

/// The ones' complement sum of the payload's first `bytes` bytes, or of as many as there are, as 16-bit words in network byte order (RFC 1071). A last
/// byte without a second one counts as a word's first.
/// @on interpreter: As described.
/// @on xdp, tc: As described, but not in a program that copies packets or sends them round (E0749).
/// @errors E0608 E0749
@isolated
extern bit<16> payload_sum(in bit<32> bytes);

/// Whether these bytes stand at an offset, be their ASCII letters large or small. The value is a constant, a `bit<W>` of up to 64 bytes.
/// @on interpreter: As described.
/// @on xdp, tc: As described, but not in a program that copies packets or sends them round (E0749).
/// @errors E0607 E0608 E0749
@isolated
extern bool payload_matches_ignore_case<T>(in bit<32> offset, in T value);

/// Where these bytes stand first in the 65536 bytes from this offset on, all of which is the payload of any packet that a network
/// carries; PAYLOAD_NOT_FOUND if they do not. The value is a constant, a `bit<W>` of up to 64 bytes.
/// @on interpreter: As described.
/// @on xdp, tc: From Linux 6.9 on (E0748), and not in a program that copies packets or sends them round (E0749).
/// @errors E0607 E0608 E0748 E0749
@isolated
extern bit<32> payload_find<T>(in bit<32> offset, in T value);

/// What `payload_find` returns for bytes that are nowhere.
const bit<32> PAYLOAD_NOT_FOUND = 0xffffffff;

/// Whether a regular expression is found in the bytes at an offset: in `length` of them, or as many as there are, but no more than
/// 65536. It is found anywhere in them unless `^` and `$` bind it to their ends. It has what a deterministic automaton can do (no
/// backreferences, no look-around), the classes of ASCII, and an automaton of 256 KB at most, which takes the same time for each byte
/// whatever it looks for: of a set of patterns, `first|second` finds any at once. In a string, a backslash is written twice: `"\\.html$"`.
/// @on interpreter: As described.
/// @on xdp, tc: From Linux 6.9 on (E0748), and not in a program that copies packets or sends them round (E0749).
/// @errors E0608 E0609 E0748 E0749
@isolated
extern bool payload_matches(in bit<32> offset, in bit<32> length, string pattern);

/// Passes over a body in chunks (RFC 9112, section 7.1), of which `length` bytes, or as many as there are, stand at an offset: how many bytes there are up
/// to its end if it ends there. `state` says where in the body they begin: CHUNKS_BEGIN at its first byte. Where the body goes on behind them, the result is the
/// state for the bytes that follow; of bytes that are no such body, it is CHUNKS_LOST.
/// @on interpreter: As described.
/// @on xdp, tc: From Linux 6.9 on (E0748), and not in a program that copies packets or sends them round (E0749).
/// @errors E0608 E0748 E0749
@isolated
extern bit<64> payload_chunks(in bit<32> offset, in bit<32> length, in bit<64> state);

/// The first state of `payload_chunks`, and the least one: numbers of bytes are less.
const bit<64> CHUNKS_BEGIN = 0x8000000000000000;
/// The state behind bytes that are no body in chunks.
const bit<64> CHUNKS_LOST = 0x8e00000000000000;

/// What became of reading a message.
enum bit<8> message_status {
    READ            = 0,   // it is one, as its schema describes it
    OTHER           = 1,   // it does not begin as such a message does
    TRUNCATED       = 2,   // malformed: the payload, or the bytes around a field, end within it
    LENGTH_PAST_END = 3,   // malformed: a length reaches beyond the bytes around its field, or is negative
    TOO_DEEP        = 4,   // malformed: more is nested than the schema allows, or an XML element has more than 64 attributes
    POINTER_LOOP    = 5,   // malformed: following a DNS name's pointer may never end
    UNEXPECTED      = 6,   // malformed: bytes that cannot stand there
    TOO_LONG        = 7,   // it goes on behind the limit
    CONFLICT        = 8,   // malformed: lengths of its body that do not agree
    BEGINS          = 9    // it may be one, of which there are too few bytes to tell: only of `read_behind` and `read_held`
}

/// Rules for domain names, up to `size` of them and 2000000 at most. A rule covers a name and the names below it (`NAME`), the name alone
/// (`=NAME`), or the names below it (`*.NAME`). Letters may be large or small; a port behind the name, and then a final dot, do not count. Of the
/// rules that cover a name, the one with the longest name decides. Rules are named by an entries file (`name_add`), and all of them change at once.
///
/// ```p4
/// name_set(100000) blocked;
/// message("tls") tls;
/// apply {
///     bit<32> rule;
///     bit<32> lists;
///     if (tls.read(0) == message_status.READ && tls.find_name("sni", blocked, rule, lists)) { ... }
/// }
/// ```
/// @on interpreter: As described.
/// @on xdp, tc: From Linux 6.9 on (E0748), and not in a program that copies packets or sends them round (E0749). A set takes about 63 bytes for each rule that it has room for, and up to 300 if it has room for few.
/// @errors E0608 E0611 E0748 E0749
extern name_set {
    /// Room for this number of rules.
    name_set(bit<32> size);

    /// Whether a rule covers the name at an offset of the payload, which has `length` bytes. The number of the rule that decides, and its
    /// lists, a bit each; 0 if there is none.
    bool find(in bit<32> offset, in bit<32> length, out bit<32> number, out bit<32> lists);
}

/// Rules for the text of URLs: the host, the path and the query, as in `www.example.com/news?page=2`. Letters are in lower case, `%XX` is the byte that it stands for, dot
/// segments of the path are resolved, and a port does not count. A rule is a prefix of URLs of a name and the names below it (`NAME/PATH`) or of the name alone (`=NAME/PATH`), a word that
/// the text has (`*WORD*`), or a regular expression that is found in it (`/EXPRESSION/`), as for `payload_matches`. Rules are named by an entries file
/// (`name_add`), each with a number and lists that are not 0, and all of them change at once. They are one table a kind for each byte of a text, however many they are.
///
/// ```p4
/// pattern_set(65536) patterns;
/// message("http") http;
/// apply {
///     bit<32> prefix;
///     bit<32> prefix_lists;
///     bit<32> rule;
///     bit<32> lists;
///     if (http.read(0) == message_status.READ && http.find_url(patterns, prefix, prefix_lists, rule, lists)) { ... }
/// }
/// ```
/// @on interpreter: As described; any number of states has room.
/// @on xdp, tc: From Linux 6.9 on (E0748), and not in a program that copies packets or sends them round (E0749). A state takes 256 bytes. Patterns that do not fit are refused when they are set.
/// @errors E0608 E0611 E0748 E0749
extern pattern_set {
    /// Room for automata with this number of states, 1048576 at most: about one for each byte of a prefix or word, and more for an expression.
    pattern_set(bit<32> size);
}

/// The last bytes of up to `streams` TCP streams, 65536 at most. A program reads messages there that packets bring in parts, and compares bytes that are
/// sent again. The bytes of a stream are named by their sequence numbers, and the last STREAM_HELD of them stay. A new stream takes a free place, or that of the stream
/// that was begun first of eight. So a program releases streams that it is done with. Two packets cannot change a stream at the same time: one of them fails, and is best dropped, since TCP sends it again.
///
/// ```p4
/// stream_bytes(1024) streams;
/// message("tls", 16384) tls;
/// apply {
///     // `ticket` and `first` are in a `flow_state`.
///     ticket = streams.hold(ticket, sequence, 0, length);
///     if (tls.read_held(streams, ticket, first, 0, sequence + length - first, "sni") == message_status.READ) { ... }
/// }
/// ```
/// @on interpreter: As described.
/// @on xdp, tc: From Linux 6.9 on (E0748), and not in a program that copies packets or sends them round (E0749). Each stream takes 18,448 bytes.
/// @errors E0608 E0611 E0612 E0748 E0749
extern stream_bytes {
    /// Room for this number of streams.
    stream_bytes(bit<32> streams);

    /// Holds `length` bytes at an offset of the payload, of which the first one has a sequence number, besides those that a ticket leads to; with 0 as
    /// ticket, as the first ones of a stream. A ticket that leads to all of them: the one before it leads nowhere. 0 if they cannot be held: they are not
    /// in the packet's first 65536 bytes, there are none or more than 16384, what was held is forgotten, or another packet changes it.
    bit<64> hold(in bit<64> ticket, in bit<32> sequence, in bit<32> offset, in bit<32> length);

    /// Compares `length` bytes at an offset of the payload with those that are held from a sequence number on: true if they are equal. False if they cannot be compared, for the same
    /// reasons as in `hold`. Bytes that were never held may equal any.
    bool equal(in bit<64> ticket, in bit<32> sequence, in bit<32> offset, in bit<32> length);

    /// Lets another stream have the place of the one that a ticket leads to, and forgets its bytes. False if it leads nowhere.
    bool release(in bit<64> ticket);
}

/// Bytes of a stream that may be held at once.
const bit<32> STREAM_HELD = 16376;

/// What became of a datagram of QUIC. What is not WHOLE or PART should not reach a server: it was not read, or not all of it.
enum bit<8> quic_status {
    WHOLE     = 0,   // its Initial packets were read, and all bytes of the ClientHello are known
    PART      = 1,   // they were read, and more of the ClientHello comes in other datagrams
    OTHER     = 2,   // it has no Initial packet
    VERSION   = 3,   // a packet of a version that is not 1 or 2
    MALFORMED = 4,   // bytes that cannot stand there, or that no server takes for authentic
    CONFLICT  = 5,   // other bytes than those that came before at the same place, or an id that was left
    TOO_LONG  = 6,   // more than 4096 bytes of a datagram, or of a ClientHello
    FORGOTTEN = 7,   // the ticket leads nowhere any more
    BUSY      = 8    // another processor reads a datagram of this connection
}

/// The bytes with which connections of QUIC begin (RFC 9000, RFC 9001, version 2: RFC 9369): those of the ClientHello, from the Initial packets of
/// clients, whose keys follow from the connection id. They may come in any order, cut anywhere, and in several packets and datagrams. There is room for
/// this number of connections, 1048576 at most: what began first is forgotten first.
///
/// ```p4
/// quic_initials(4096) initials;
/// message("quic") hello;
/// apply {
///     bit<64> ticket;
///     if (initials.take(0, 0, payload_length(), ticket) == quic_status.WHOLE && hello.read_initials(initials, ticket, "sni") == message_status.READ) { ... }
/// }
/// ```
///
/// Bytes that came once stay: a datagram that has others at their place is CONFLICT. So the tag of a packet need not be checked, and a decoy that
/// no server takes gains nothing: what differs from it does not pass. If the id is not the one with which the connection began, the tag tells whether
/// the server has chosen it (the keys stay) or the client begins anew, after a Retry for example. Then the bytes begin anew too, and the ids before
/// are CONFLICT; there are four at most. So every datagram that passes was judged as the server reads it.
/// @on interpreter: As described; BUSY does not occur.
/// @on xdp, tc: From Linux 6.9 on (E0748), and not in a program that copies packets or sends them round (E0749). A connection takes 5280 bytes.
/// @errors E0608 E0611 E0612 E0748 E0749
extern quic_initials {
    /// Room for this number of connections.
    quic_initials(bit<32> connections);

    /// Takes the bytes of a datagram of a client, which has `length` bytes at an offset of the payload: with ticket 0 those of a new connection, or of the
    /// one to which the ticket of an earlier datagram leads. The new ticket leads to all; it is 0 if no connection begins with this datagram.
    quic_status take(in bit<64> ticket, in bit<32> offset, in bit<32> length, out bit<64> ticket_of_all);
}

/// A message of an application, described by a schema: `http`, `dns`, `tls` or another of those that are built in
/// (`messages/README.md`; `onpath plan --list`).
///
/// ```p4
/// message("http") request;
/// apply {
///     bit<256> host;
///     bit<32> length;
///     if (request.read(0) == message_status.READ && request.get_bytes("host", host, length)) { ... }
/// }
/// ```
///
/// Of a message, no more than `limit` bytes are read, 16384 at most; without one, as many as the schema says. What is cut off
/// there has no attributes, and the status is TOO_LONG; a field that extends to the message's end ends there.
/// @on interpreter: As described, for every schema.
/// @on xdp, tc: From Linux 6.9 on (E0748), and not in a program that copies packets or sends them round; a schema for which no code can be written is refused too (E0749).
/// @errors E0604 E0605 E0606 E0607 E0608 E0609 E0612 E0748 E0749
extern message {
    /// Messages of the schema with this name.
    message(string schema);
    /// The same, of which no more than `limit` bytes are read.
    message(string schema, bit<32> limit);

    /// Reads the message that begins at an offset of the payload. Until the packet's next call, its attributes can be had: if it
    /// is malformed or too long, those in front of where reading stopped.
    message_status read(in bit<32> offset);

    /// The same of a message that has no more than `length` bytes, whatever follows it in the packet: those of a UDP datagram,
    /// which Ethernet may have filled up.
    message_status read(in bit<32> offset, in bit<32> length);

    /// The same for some attributes, whose names have `,` between them: as soon as all of them were found, reading stops, and the status is
    /// READ, whatever follows.
    message_status read_for(in bit<32> offset, in bit<32> length, string attributes);

    /// Keeps `length` bytes at an offset of the payload, with which a message begins, for a later packet in which it goes on: a ticket that
    /// leads to them. With the ticket of an earlier packet's bytes they are kept behind these, and it leads to all; with 0 they are the
    /// first ones. 0 if they cannot be kept: they are not there, more than a quarter of `limit`, or those in front were forgotten. There is
    /// room for 1024 messages: what was kept first is forgotten first. Behind it, no attribute can be had before a message is read.
    bit<64> keep(in bit<64> ticket, in bit<32> offset, in bit<32> length);

    /// As `read`, of a message that begins with the bytes that a ticket leads to, and goes on at an offset of the payload, of which half of `limit`
    /// is read at most; OTHER if they were forgotten. With 0 there are none, and it is `read`. BEGINS if all of its bytes are too few to tell a message by.
    message_status read_behind(in bit<64> ticket, in bit<32> offset, in bit<32> length);

    /// The same for some attributes, as in `read_for`.
    message_status read_behind(in bit<64> ticket, in bit<32> offset, in bit<32> length, string attributes);

    /// As `read_for`, of a message whose `length` bytes a `stream_bytes` holds from a sequence number on, under a ticket; OTHER if they are forgotten.
    /// With 0 as ticket, the message is in the packet alone, at an offset of the payload. BEGINS as in `read_behind`.
    message_status read_held(stream_bytes streams, in bit<64> ticket, in bit<32> sequence, in bit<32> offset, in bit<32> length, string attributes);

    /// Reads the ClientHello to which a ticket leads for some attributes, as in `read_for`, as far as its bytes came without a gap: `message("quic")`. OTHER if there
    /// are none, or they were forgotten. Such an object keeps no bytes of its own.
    message_status read_initials(quic_initials connections, in bit<64> ticket, string attributes);

    /// An attribute that is a number. False, and the value 0, if the message has none of this name. T is a `bit<W>` of up to
    /// 64 bits that has room for all values, or `int<64>` for those that may be negative. Of several values the first in the message.
    bool get_number<T>(string attribute, out T value);

    /// An attribute that is bytes or text, of which T, a `bit<W>` of up to 256 bytes, has the first ones: the first byte is the most
    /// significant, and zeros follow the last. The length counts all of its bytes.
    bool get_bytes<T>(string attribute, out T value, out bit<32> length);

    /// Whether the message has such an attribute, and a regular expression, as for `payload_matches`, is found in its bytes: in all
    /// of them, also those behind the ones that `get_bytes` has room for.
    bool matches(string attribute, string pattern);

    /// Whether a rule of a set covers an attribute, which is a name. The number of the rule that decides, and its lists, a bit each; 0 if there
    /// is none.
    bool find_name(string attribute, name_set names, out bit<32> number, out bit<32> lists);

    /// Whether words or expressions of a set are found in an attribute, which is a name: the greatest number of their rules, and the lists of all of
    /// them; 0 if none is.
    bool find_pattern(string attribute, pattern_set patterns, out bit<32> number, out bit<32> lists);

    /// Whether rules of a set are found in the URL of an HTTP request that has a `host`, which is read with its `path` and `target`. Of prefixes, the number of the longest one; their
    /// lists are sixteen fields of two bits, each that of the longest prefix in which it is not 0. Of words and expressions as in `find_pattern`.
    bool find_url(pattern_set patterns, out bit<32> prefix, out bit<32> prefix_lists, out bit<32> number, out bit<32> lists);
}

#endif
