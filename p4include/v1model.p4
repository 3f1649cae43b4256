// SPDX-License-Identifier: Apache-2.0
//
// v1model: the switch that most P4 programs are written for.
//
//   V1Switch(parser, verify checksums, ingress, egress, compute checksums, deparser) main;
//
// A parser that rejects does not drop: ingress runs with the headers extracted so far and
// standard_metadata.parser_error set.

#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include <core.p4>

// Match kinds beyond core.p4's. The guard is there because another model may declare them too, and a match
// kind is declared once.
#ifndef _MORE_MATCH_KINDS_P4_
#define _MORE_MATCH_KINDS_P4_
match_kind {
    range,     // lo..hi, both ends included
    optional,  // one exact value or anything
    selector   // no part of the key: hashed by an action selector to choose a member
}
#endif

// Programs choose between two editions of this interface by defining V1MODEL_VERSION before the include.
// From 20200408 on, ports have a type name and counters, meters and registers take any index type.
#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

#if V1MODEL_VERSION != 20180101 && V1MODEL_VERSION != 20200408
#error "V1MODEL_VERSION is neither 20180101 nor 20200408: there are no other editions"
#endif

const bit<32> __v1model_version = V1MODEL_VERSION;

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#endif

@metadata @name("standard_metadata")
struct standard_metadata_t {
#if V1MODEL_VERSION >= 20200408
    PortId_t ingress_port;
    PortId_t egress_spec;   // where ingress sends it; 511 drops
    PortId_t egress_port;   // where it goes, in egress
#else
    bit<9>  ingress_port;
    bit<9>  egress_spec;    // where ingress sends it; 511 drops
    bit<9>  egress_port;    // where it goes, in egress
#endif
    // In ingress 0 for a packet as it came in, 4 recirculated, 6 resubmitted; in egress 0 as ingress sent it, 1 a clone that
    // ingress made, 2 a clone that egress made, 5 a copy of a multicast group.
    bit<32> instance_type;
    bit<32> packet_length;  // bytes, of the packet as it came in
    // Between ingress and egress no packet waits for another: depths and the time in the queue are 0.
    @alias("queueing_metadata.enq_timestamp") bit<32> enq_timestamp;  // microseconds, set for egress
    @alias("queueing_metadata.enq_qdepth")    bit<19> enq_qdepth;     // packets
    @alias("queueing_metadata.deq_timedelta") bit<32> deq_timedelta;  // microseconds
    @alias("queueing_metadata.deq_qdepth")    bit<19> deq_qdepth;     // packets
    @alias("intrinsic_metadata.ingress_global_timestamp") bit<48> ingress_global_timestamp;  // microseconds
    @alias("intrinsic_metadata.egress_global_timestamp")  bit<48> egress_global_timestamp;   // microseconds
    @alias("intrinsic_metadata.mcast_grp")  bit<16> mcast_grp;  // 0: none
    @alias("intrinsic_metadata.egress_rid") bit<16> egress_rid;
    bit<1>  checksum_error; // 1 once a verify_checksum has failed
    error   parser_error;
    @alias("intrinsic_metadata.priority") bit<3> priority;  // of no effect: there is one queue
}

enum CounterType { packets, bytes, packets_and_bytes }
enum MeterType { packets, bytes }
enum HashAlgorithm { crc32, crc32_custom, crc16, crc16_custom, random, identity, csum16, xor16 }
enum CloneType { I2E, E2E }

// Colours as execute_meter and read give them.
#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

// `size` counters, incremented by the program. An index outside counts nothing.
extern counter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    counter(bit<32> size, CounterType type);
#if V1MODEL_VERSION >= 20200408
    void count(in I index);
#else
    void count(in bit<32> index);
#endif
}

// One counter an entry of the table that names it in its `counters` property.
// Quirk: every hit counts, whether or not the action calls count().
extern direct_counter {
    direct_counter(CounterType type);
    void count();
}

// `size` two-rate three-colour meters, colour-blind (RFC 2698). Tokens come by the microsecond, and only whole ones count.
// Quirk: a meter without rates returns green.
extern meter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    meter(bit<32> size, MeterType type);
    // T is bit<W>, W at least 2. With an index outside, `result` is undefined.
#if V1MODEL_VERSION >= 20200408
    void execute_meter<T>(in I index, out T result);
#else
    void execute_meter<T>(in bit<32> index, out T result);
#endif
}

// One meter an entry of the table that names it in its `meters` property. read() belongs into its actions.
// Quirk: every hit takes its tokens once, whether or not the action calls read().
extern direct_meter<T> {
    direct_meter(MeterType type);
    void read(out T result);
}

// State that packets leave for later packets: `size` cells, zero at the start.
// An index outside reads an undefined value and writes nothing.
#if V1MODEL_VERSION >= 20200408
extern register<T, I> {
    register(bit<32> size);
    @noSideEffects
    void read(out T result, in I index);
    void write(in I index, in T value);
}
#else
extern register<T> {
    register(bit<32> size);
    // Quirk: the value comes before the index here, after it in write().
    @noSideEffects
    void read(out T result, in bit<32> index);
    void write(in bit<32> index, in T value);
}
#endif

// Values of a table's `implementation` property: entries refer to members (actions with arguments) that are kept apart, or
// to groups of them, of which the hash over the `selector` keys chooses one. Quirk: all bits of the hash count, whatever
// `outputWidth` is.
extern action_profile {
    action_profile(bit<32> size);
}
extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

// A number from lo to hi, both included; undefined where lo > hi.
extern void random<T>(out T result, in T lo, in T hi);

// Hands `data` to the control plane; `receiver` is free for it to use. The struct's name names the digest.
extern void digest<T>(in bit<32> receiver, in T data);

@deprecated("Please use mark_to_drop(standard_metadata) instead.")
extern void mark_to_drop();

// Sets egress_spec to the drop port and mcast_grp to 0.
// Quirk: no more than that; a later write to egress_spec undoes it, and the control runs on.
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

// base + hash(data) mod max; base where max is 0.
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

@deprecated("Please use verify_checksum/update_checksum instead.")
extern Checksum16 {
    Checksum16();
    bit<16> get<D>(in D data);
}

// Sets standard_metadata.checksum_error where `condition` holds and `checksum` is not that of `data`.
// With the payload: of `data` followed by all bytes that the parser left.
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

// Stores the checksum of `data` where `condition` holds.
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// Copies of the packet, which go to egress. Quirk: they are asked for here and made when the block has ended; the last
// call counts. A clone of ingress is the packet as it was parsed, a clone of egress has the headers as egress left them.
// Its metadata is zero but for the fields annotated @field_list(index), which keep what they have when the block ends, and
// for the port and time at which the packet came in. Where the copies of a session go, the control plane says.
// Quirk: `type` has no say; what is made depends on the block that calls.
extern void clone(in CloneType type, in bit<32> session);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);
@deprecated("Please use 'clone_preserving_field_list' instead")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);

// Once more through ingress with the packet as it came in (resubmit, called by ingress) or as deparsed (recirculate, called
// by egress), and with the fields of a list. After ingress the first of these that was asked for is done: resubmit, send to
// a multicast group, drop, send to a port; after egress: drop, recirculate, send. A packet that does so without end is
// dropped.
extern void resubmit_preserving_field_list(bit<8> index);
@deprecated("Please use 'resubmit_preserving_field_list' instead")
extern void resubmit<T>(in T data);
extern void recirculate_preserving_field_list(bit<8> index);
@deprecated("Please use 'recirculate_preserving_field_list' instead")
extern void recirculate<T>(in T data);

// Cuts the packet to at most `length` bytes when it leaves, headers included.
extern void truncate(in bit<32> length);

// assert: the program's author states that this always holds; a failure is reported and ends the packet.
// assume: for verification tools; packets are handled as by assert.
extern void assert(in bool check);
extern void assume(in bool check);

// A line in the log; every {} in `msg` is the next field of `data`.
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

parser Parser<H, M>(packet_in b,
                    out H parsedHdr,
                    inout M meta,
                    inout standard_metadata_t standard_metadata);

// Holds calls of verify_checksum and verify_checksum_with_payload.
control VerifyChecksum<H, M>(inout H hdr, inout M meta);

@pipeline
control Ingress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

@pipeline
control Egress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

// Holds calls of update_checksum and update_checksum_with_payload.
control ComputeChecksum<H, M>(inout H hdr, inout M meta);

@deparser
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(Parser<H, M> p,
                       VerifyChecksum<H, M> vr,
                       Ingress<H, M> ig,
                       Egress<H, M> eg,
                       ComputeChecksum<H, M> ck,
                       Deparser<H> dep);

#endif
