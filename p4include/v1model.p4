// SPDX-License-Identifier: Apache-2.0
//
//! v1model: the switch that most P4 programs are written for.
//!
//! ```p4
//! V1Switch(parser, verify checksums, ingress, egress, compute checksums, deparser) main;
//! ```
//!
//! A parser that rejects does not drop: ingress runs with the headers extracted so far and
//! `standard_metadata.parser_error` set.
//!
//! The kernel runs it by XDP, which cannot copy a packet, and at tc for packets that come in. Ports are interfaces, numbered from 0 to 510.
//!
//! Programs choose between two editions of this interface by defining V1MODEL_VERSION before the include.
//! From 20200408 on, ports have a type name and counters, meters and registers take any index type.

#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include <core.p4>

// The guard is there because another model may declare them too, and a match kind is declared once.
#ifndef _MORE_MATCH_KINDS_P4_
#define _MORE_MATCH_KINDS_P4_
/// Match kinds beyond those of core.p4.
/// @errors E0212 E0568 E0572
match_kind {
    range,     // lo..hi, both ends included
    optional,  // one exact value or anything
    selector   // no part of the key: hashed by an action selector to choose a member
}
#endif

#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

#if V1MODEL_VERSION != 20180101 && V1MODEL_VERSION != 20200408
#error "V1MODEL_VERSION is neither 20180101 nor 20200408: there are no other editions"
#endif

/// The edition of this interface.
const bit<32> __v1model_version = V1MODEL_VERSION;

#if V1MODEL_VERSION >= 20200408
/// A port's number.
typedef bit<9> PortId_t;
#endif

/// What the architecture tells the program about a packet, and what the program tells it.
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

/// What a counter counts.
enum CounterType { packets, bytes, packets_and_bytes }
/// What a meter measures.
enum MeterType { packets, bytes }
/// How a hash or a checksum is computed. `crc32_custom` and `crc16_custom` have no parameters that could be set: they are `crc32` and `crc16` (W0554). `random` gives `hash` a random number, drawn whatever `max` is; elsewhere the kernel refuses it.
/// @errors E0721 E0749 W0554
enum HashAlgorithm { crc32, crc32_custom, crc16, crc16_custom, random, identity, csum16, xor16 }
/// When a clone is asked for: by ingress or by egress.
enum CloneType { I2E, E2E }

// Colours as execute_meter and read give them.
#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

/// `size` counters, incremented by the program. An index outside counts nothing.
/// @on interpreter: As described.
/// @on xdp, tc: Each processor has counters of its own, so that none is lost; readers add them up.
/// @errors E0730
extern counter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    /// With indices from 0 to `size` - 1.
    counter(bit<32> size, CounterType type);
    /// Counts the packet at an index.
#if V1MODEL_VERSION >= 20200408
    void count(in I index);
#else
    void count(in bit<32> index);
#endif
}

/// One counter an entry of the table that names it in its `counters` property.
/// Quirk: every hit counts, whether or not the action calls `count()`.
/// @on interpreter: As described.
/// @on xdp, tc: Each processor has counters of its own, so that none is lost; readers add them up.
extern direct_counter {
    /// The entries' counters.
    direct_counter(CounterType type);
    /// Has no effect: applying the table has counted.
    void count();
}

/// `size` two-rate three-colour meters, colour-blind (RFC 2698). Tokens come by the microsecond, and only whole ones count.
/// Quirk: a meter without rates returns green.
/// @on interpreter: Its time is the test's.
/// @on xdp, tc: One meter for all processors, under a lock of its own: no token is taken twice.
/// @errors E0730
extern meter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    /// With indices from 0 to `size` - 1.
    meter(bit<32> size, MeterType type);
    /// The colour of the packet. T is `bit<W>`, W at least 2. With an index outside, `result` is undefined; all targets give green.
#if V1MODEL_VERSION >= 20200408
    void execute_meter<T>(in I index, out T result);
#else
    void execute_meter<T>(in bit<32> index, out T result);
#endif
}

/// One meter an entry of the table that names it in its `meters` property. `read()` belongs into its actions.
/// Quirk: every hit takes its tokens once, whether or not the action calls `read()`.
/// @on interpreter: Its time is the test's.
/// @on xdp, tc: One meter for all processors, under a lock of its own: no token is taken twice.
extern direct_meter<T> {
    /// The entries' meters.
    direct_meter(MeterType type);
    /// The colour that the packet got when it hit the entry; green outside of the table's actions.
    void read(out T result);
}

/// State that packets leave for later packets: `size` cells, zero at the start.
/// An index outside reads an undefined value, on all targets 0, and writes nothing.
/// @on interpreter: Packets run one at a time.
/// @on xdp, tc: All processors share a cell: between `read` and `write` another packet may write it, unless both are in one `@atomic` block. Then each cell has a lock. Where a block uses several cells, those of several registers at one index have a lock for each index, and others one lock together, which the control plane does not take. A `hash` of what nothing in the block changes may stand in it.
/// @errors E0730 E0740 E0746
extern register<T
#if V1MODEL_VERSION >= 20200408
, I
#endif
>
{
    /// With indices from 0 to `size` - 1.
    register(bit<32> size);
    /// Reads a cell.
    /// Quirk: the value comes before the index here, after it in `write()`.
    @noSideEffects
#if V1MODEL_VERSION >= 20200408
    void read(out T result, in I index);
#else
    void read(out T result, in bit<32> index);
#endif
    /// Writes a cell.
#if V1MODEL_VERSION >= 20200408
    void write(in I index, in T value);
#else
    void write(in bit<32> index, in T value);
#endif
}

/// A value of a table's `implementation` property: entries refer to members (actions with arguments) that are kept apart, so that
/// a change of one member changes all entries that refer to it.
/// @on interpreter: As described.
/// @on xdp, tc: As described. A batch of changes to members and entries is one change to packets.
/// @errors E0567 E0725
extern action_profile {
    /// With room for so many members.
    action_profile(bit<32> size);
}
/// A value of a table's `implementation` property: as `action_profile`, with groups of members, of which the hash over the `selector` keys chooses one. Quirk: all bits of the hash count, whatever
/// `outputWidth` is.
/// @on interpreter: As described.
/// @on xdp, tc: A group has up to 256 members; `HashAlgorithm.random` is refused (E0749).
/// @errors E0567 E0568 E0725 E0749
extern action_selector {
    /// With room for so many members.
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

/// A number from `lo` to `hi`, both included; undefined where `lo` > `hi`, on all targets `lo`.
/// @on interpreter: Numbers follow from the seed (`onpath test --seed`), so that a test always gets the same.
/// @on xdp, tc: Of up to 64 bits (E0747). Not for secrets.
/// @errors E0747
@isolated
extern void random<T>(out T result, in T lo, in T hi);

// The guard is there because another include file may declare it too.
#ifndef _DIGEST_P4_
#define _DIGEST_P4_
/// Hands `data` to the control plane; `receiver` is free for it to use. The struct's name names the digest.
/// @on interpreter: A test reads them by `expect_digest`.
/// @on xdp, tc: `onpath digests` prints them. They wait in a ring buffer of 256 KiB; those that find no room are counted. Varbits are refused (E0746).
/// @errors E0746
@isolated
extern void digest<T>(in bit<32> receiver, in T data);
#endif

/// Drops the packet as `mark_to_drop(standard_metadata)` does, in older programs.
/// @on interpreter, xdp, tc: As `mark_to_drop(standard_metadata)`.
/// @errors W0202
@deprecated("Please use mark_to_drop(standard_metadata) instead.")
extern void mark_to_drop();

/// Sets `egress_spec` to the drop port, 511, and `mcast_grp` to 0.
/// Quirk: no more than that; a later write to `egress_spec` undoes it, and the control runs on.
/// @on interpreter, xdp, tc: As described.
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

/// `base` + hash(`data`) mod `max`; `base` where `max` is 0.
/// @on interpreter: As described.
/// @on xdp, tc: With numbers of up to 64 bits (E0747), and of up to 4,088 bytes if varbits are among them (E0723).
/// @errors E0723 E0747
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

/// The Internet checksum as an object, in programs older than `verify_checksum`.
/// @on interpreter: As described.
/// @on xdp, tc: As described; of up to 4,088 bytes if varbits are among them (E0723).
/// @errors E0723 W0202
@deprecated("Please use verify_checksum/update_checksum instead.")
extern Checksum16 {
    /// It has no state.
    Checksum16();
    /// The checksum of data.
    bit<16> get<D>(in D data);
}

/// Sets `standard_metadata.checksum_error` where `condition` holds and `checksum` is not that of `data`.
/// @on interpreter: As described.
/// @on xdp, tc: With a checksum of up to 64 bits (E0747), of up to 4,088 bytes if varbits are among them (E0723), and not by `HashAlgorithm.random` (E0721).
/// @errors E0721 E0723 E0747
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
/// As `verify_checksum`, of `data` followed by all bytes that the parser left.
/// @on interpreter: As described.
/// @on xdp, tc: By `HashAlgorithm.csum16` (E0749). A checksum that the sender's device has yet to compute is not in the packet, and is found wrong.
/// @errors E0723 E0747 E0749
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

/// Stores the checksum of `data` where `condition` holds.
/// @on interpreter: As described.
/// @on xdp, tc: With a checksum of up to 64 bits (E0747), of up to 4,088 bytes if varbits are among them (E0723), and not by `HashAlgorithm.random` (E0721).
/// @errors E0721 E0723 E0747
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);
/// As `update_checksum`, of `data` followed by all bytes that the parser left.
/// @on interpreter: As described.
/// @on xdp, tc: By `HashAlgorithm.csum16` (E0749).
/// @errors E0723 E0747 E0749
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

/// Asks for copies of the packet, which go to egress. Quirk: they are made when the block has ended; the last
/// call counts. A clone of ingress is the packet as it was parsed, a clone of egress has the headers as egress left them.
/// Its metadata is zero but for the port and time at which the packet came in. Where the copies of a session go, the control plane says.
/// Quirk: `type` has no say; what is made depends on the block that calls.
/// @on interpreter: A packet is resubmitted, recirculated or cloned again 4,096 times at most.
/// @on xdp: Refused (E0748): XDP cannot copy a packet.
/// @on tc: From Linux 6.9 on (E0748). A packet is resubmitted, recirculated or cloned again 32 times at most; `onpath drops` counts what is lost.
/// @errors E0748
extern void clone(in CloneType type, in bit<32> session);
/// As `clone`, and the fields of the metadata that are annotated `@field_list(index)` keep what they have when the block ends.
/// @on interpreter: A packet is resubmitted, recirculated or cloned again 4,096 times at most.
/// @on xdp: Refused (E0748): XDP cannot copy a packet.
/// @on tc: From Linux 6.9 on (E0748). A packet is resubmitted, recirculated or cloned again 32 times at most; `onpath drops` counts what is lost.
/// @errors E0584 E0748 W0553
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);
/// As `clone_preserving_field_list`, with the fields of the metadata that are given as `data`.
/// @on interpreter: A packet is resubmitted, recirculated or cloned again 4,096 times at most.
/// @on xdp: Refused (E0748): XDP cannot copy a packet.
/// @on tc: From Linux 6.9 on (E0748). A packet is resubmitted, recirculated or cloned again 32 times at most; `onpath drops` counts what is lost.
/// @errors E0585 E0748 W0202
@deprecated("Please use 'clone_preserving_field_list' instead")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);

/// Once more through ingress with the packet as it came in, and with the fields of a list; called by ingress.
/// After ingress the first of these that was asked for is done: resubmit, send to a multicast group, drop, send to a port. A packet that
/// does so without end is dropped.
/// @on interpreter: A packet is resubmitted, recirculated or cloned again 4,096 times at most.
/// @on xdp: Refused (E0748): XDP cannot resubmit, recirculate or clone a packet.
/// @on tc: From Linux 6.9 on (E0748). A packet is resubmitted, recirculated or cloned again 32 times at most; `onpath drops` counts what is lost.
/// @errors E0584 E0748 W0553
extern void resubmit_preserving_field_list(bit<8> index);
/// As `resubmit_preserving_field_list`, with the fields of the metadata that are given as `data`.
/// @on interpreter: A packet is resubmitted, recirculated or cloned again 4,096 times at most.
/// @on xdp: Refused (E0748): XDP cannot resubmit, recirculate or clone a packet.
/// @on tc: From Linux 6.9 on (E0748). A packet is resubmitted, recirculated or cloned again 32 times at most; `onpath drops` counts what is lost.
/// @errors E0585 E0748 W0202
@deprecated("Please use 'resubmit_preserving_field_list' instead")
extern void resubmit<T>(in T data);
/// Once more through ingress with the packet as it is deparsed, and with the fields of a list; called by egress.
/// After egress the first of these that was asked for is done: drop, recirculate, send. A packet that does so without end is dropped.
/// @on interpreter: A packet is resubmitted, recirculated or cloned again 4,096 times at most.
/// @on xdp: Refused (E0748): XDP cannot resubmit, recirculate or clone a packet.
/// @on tc: From Linux 6.9 on (E0748). A packet is resubmitted, recirculated or cloned again 32 times at most; `onpath drops` counts what is lost.
/// @errors E0584 E0748 W0553
extern void recirculate_preserving_field_list(bit<8> index);
/// As `recirculate_preserving_field_list`, with the fields of the metadata that are given as `data`.
/// @on interpreter: A packet is resubmitted, recirculated or cloned again 4,096 times at most.
/// @on xdp: Refused (E0748): XDP cannot resubmit, recirculate or clone a packet.
/// @on tc: From Linux 6.9 on (E0748). A packet is resubmitted, recirculated or cloned again 32 times at most; `onpath drops` counts what is lost.
/// @errors E0585 E0748 W0202
@deprecated("Please use 'recirculate_preserving_field_list' instead")
extern void recirculate<T>(in T data);

/// Cuts the packet to at most `length` bytes when it leaves, headers included.
/// @on interpreter: As described.
/// @on xdp: Refused (E0748).
/// @on tc: From Linux 6.9 on (E0748).
/// @errors E0748
extern void truncate(in bit<32> length);

/// The program's author states that this always holds; a failure ends the packet.
/// @on interpreter: The failure is reported with the packet.
/// @on xdp, tc: The packet, or the copy that fails, is dropped.
extern void assert(in bool check);
/// As `assert`, for verification tools.
/// @on interpreter: As `assert`.
/// @on xdp, tc: As `assert`.
extern void assume(in bool check);

/// A line in the log.
/// @on interpreter: In the execution trace (`onpath test --trace`).
/// @on xdp, tc: `onpath log` prints it with the time, at most 1,000 messages a second; those that find no room in a ring buffer of 128 KiB are counted.
@isolated
extern void log_msg(string msg);
/// A line in the log; every `{}` in `msg` is the next field of `data`: in decimal, or as a `@format` of its declaration has it shown.
/// @on interpreter: In the execution trace (`onpath test --trace`).
/// @on xdp, tc: `onpath log` prints it with the time, at most 1,000 messages a second; those that find no room in a ring buffer of 128 KiB are counted. Varbits are refused (E0746).
/// @errors E0746
@isolated
extern void log_msg<T>(string msg, in T data);

/// The block that turns bytes into headers.
parser Parser<H, M>(packet_in b,
                    out H parsedHdr,
                    inout M meta,
                    inout standard_metadata_t standard_metadata);

/// The block that checks checksums: it holds calls of `verify_checksum` and `verify_checksum_with_payload`.
control VerifyChecksum<H, M>(inout H hdr, inout M meta);

/// The block in front of the traffic manager, which decides where the packet goes.
@pipeline
control Ingress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

/// The block behind the traffic manager, which runs for each copy of the packet.
@pipeline
control Egress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

/// The block that computes checksums: it holds calls of `update_checksum` and `update_checksum_with_payload`.
control ComputeChecksum<H, M>(inout H hdr, inout M meta);

/// The block that turns headers into bytes.
@deparser
control Deparser<H>(packet_out b, in H hdr);

/// The package of the switch.
/// @errors E0601 E0603 E0720
package V1Switch<H, M>(Parser<H, M> p,
                       VerifyChecksum<H, M> vr,
                       Ingress<H, M> ig,
                       Egress<H, M> eg,
                       ComputeChecksum<H, M> ck,
                       Deparser<H> dep);

#endif
