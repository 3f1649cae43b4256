// SPDX-License-Identifier: Apache-2.0
//
//! The P4-16 core library: what every program may use, whatever its target.
//! Names, members and parameter orders are fixed by the language specification (1.2.5, section 22).

#ifndef _CORE_P4_
#define _CORE_P4_

// The order matters: a target may show an error as its number, and NoError is 0.
/// Why a parser rejects a packet. A program may declare more members, in an `error` declaration of its own.
error {
    NoError,               // nothing went wrong
    PacketTooShort,        // extract, lookahead or advance past the last byte
    NoMatch,               // a select without a case for the value
    StackOutOfBounds,      // .next of a full header stack, .last of an empty one, an index outside
    HeaderTooShort,        // a varbit field asked to be longer than its declared maximum
    ParserTimeout,         // the parser took more steps than the target allows
    ParserInvalidArgument  // for instance a varbit length that is not a multiple of 8
}

/// The packet as a parser sees it: bits and a cursor.
/// @on interpreter: A parser may go as far as the packet does.
/// @on xdp, tc: A parser goes about 32 KB into a packet, at least 32,767 bytes, and rejects one in which it would go further.
extern packet_in {
    /// Fills `hdr` from the cursor on, makes it valid, moves the cursor after it.
    /// T is a header (or a header union's member) without varbit fields.
    /// @errors E0336 E0337 E0550 E0591
    void extract<T>(out T hdr);

    /// The same for a header with exactly one varbit field, whose length in *bits* is the second argument.
    /// Quirk: the length counts the varbit field only, not the fixed part of the header.
    /// @errors E0336 E0337 E0550 E0591
    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);

    /// Reads a value of T from the cursor on and leaves the cursor where it is.
    /// @errors E0338
    T lookahead<T>();

    /// Moves the cursor. The argument counts *bits*.
    void advance(in bit<32> sizeInBits);

    /// The whole packet's length in *bytes*. Quirk: the cursor's position does not change it.
    bit<32> length();
}

/// The packet as a deparser builds it.
/// @on interpreter: The packet may grow and shrink as the headers do.
/// @on xdp: The packet may grow by the driver's headroom (about 200 bytes) and shrink to an Ethernet header; beyond that it is aborted.
/// @on tc: A packet that would leave shorter than an Ethernet header is dropped.
extern packet_out {
    /// Appends a header if it is valid and nothing if it is not; structs, stacks and unions member by member.
    /// @errors E0339 E0550
    void emit<T>(in T hdr);
}

/// In a parser only: goes to `reject` with the error `toSignal` when `check` is false.
/// @on interpreter, xdp, tc: As described.
/// @errors E0413
extern void verify(in bool check, in error toSignal);

/// What a table does that names no other default action.
/// @errors E0257 E0566
@noWarn("unused")
action NoAction() {}

/// How a table's key is compared with its entries.
/// Quirk: `range`, `optional` and `selector` are no part of the core library; architectures declare them.
/// @errors E0212 E0572
match_kind {
    exact,    // equal
    ternary,  // equal under a mask; several entries may match, the one of highest priority wins
    lpm       // equal in a prefix; the longest prefix wins
}

/// Checked at compile time; false stops the compilation with `message`. The result is always `true`, so
/// that a constant may hold it: `const bool checked = static_assert(SIZE > 3, "SIZE is too small");`
/// @on interpreter, xdp, tc: As described: `onpath check` evaluates it, and nothing of it is left in the program.
/// @errors E0505 E0506
extern bool static_assert(bool check, string message);

/// Checked at compile time; false stops the compilation with a message of the compiler's. The result is always `true`.
/// @on interpreter, xdp, tc: As described.
/// @errors E0505 E0506
extern bool static_assert(bool check);

#endif
