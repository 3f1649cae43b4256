//! The Simple Test Framework: packets in, packets expected, and changes of the control plane in between.
//!
//! One statement a line, `#` begins a comment. Statements run in order. Packets that leave by a port are compared with
//! that port's `expect`s in order; an unexpected one fails the test.
//!
//! | statement | meaning |
//! |---|---|
//! | `packet PORT HEX` | sends a packet into a port |
//! | `expect PORT HEX` | the next packet out of the port begins with these bytes; `*` is any nibble, a final `$` allows no more bytes |
//! | `expect PORT` | any packet leaves by the port |
//! | `no_packet [PORT]` | no unexpected packet has left |
//! | `expect_digest NAME [FIELD:MATCH ...]` | the next digest of the name has come, and has these values |
//! | `no_digest [NAME]` | no unexpected digest has come |
//! | `add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)` | adds an entry; the largest priority wins |
//! | `remove TABLE [PRIORITY] KEY:MATCH ...` | removes an entry |
//! | `remove all [TABLE]` | removes every entry that the control plane added |
//! | `setdefault TABLE ACTION(ARGS)` | changes the default action |
//! | `check_counter NAME[INDEX] [packets\|bytes] == N` | compares a counter; also `check_counter TABLE KEY:MATCH ...` |
//! | `register_read NAME[INDEX] == VALUE` | compares a register |
//! | `register_write NAME[INDEX] VALUE` | changes a register |
//! | `register_reset NAME` | sets all of a register to zero |
//! | `meter_set NAME[INDEX] RATE BURST RATE BURST` | committed and peak rate (tokens a second), each with a burst; `meter_set TABLE KEY:MATCH ... RATES` for the meter of an entry |
//! | `meter_reset NAME[INDEX]` | removes a meter's rates, so that it is always green; also `meter_reset TABLE KEY:MATCH ...` |
//! | `action_member PROFILE MEMBER [ACTION(ARGS)]` | makes a member of an action profile or selector, or changes it; without an action removes it |
//! | `action_group SELECTOR GROUP [MEMBER ...]` | makes a group of an action selector of these members, or changes it; without members removes it |
//! | `name_add SET NAME [NUMBER [LISTS]]`, `name_remove SET NAME`, `name_clear SET` | changes a name set |
//! | `value_set_add NAME MATCH ...` | adds a member to a parser value set, one match a field |
//! | `value_set_remove NAME MATCH ...` | removes a member of a parser value set |
//! | `wait` | waits until the packets sent have been processed |
//! | `wait TIME` | waits likewise, then lets time pass: `50ms`, `20us`, `3s`; targets with a clock of their own set it forward, the others sleep |
//! | `multicast_group GROUP [PORT[:RID] ...]` | makes a multicast group of these ports, each with a replication id; without ports removes it |
//! | `clone_session SESSION [PORT[:RID] ...] [group GROUP] [truncate BYTES]` | sets the destination of packets cloned in a session; with nothing after the session removes it |
//!
//! A name is any suffix of a control-plane name that is unique. Otherwise it may be a name from tests for other
//! targets: `pipe_acl` for the table `pipe.acl`, `_NoAction`, `key.field0` for the first key, `extra$0.h` for
//! `extra[0].h`, `hdr.$valid$` for `hdr.isValid()`.
//!
//! BMv2's own statements for the same, with their meaning in BMv2:
//!
//! | statement | meaning |
//! |---|---|
//! | `mc_mgrp_create GROUP`, `mc_mgrp_destroy GROUP` | makes a group without ports, removes it |
//! | `mc_node_create RID PORT ...` | makes a node of these ports, the first being node 0 |
//! | `mc_node_associate GROUP NODE`, `mc_node_dissociate GROUP NODE` | adds a node to a group, removes it |
//! | `mirroring_add SESSION PORT`, `mirroring_add_mc SESSION GROUP` | a clone session for one port, for a multicast group |
//! | `mirroring_delete SESSION` | removes a clone session |

mod bind;
mod digests;
pub(crate) mod groups;
mod lookup;
mod parse;
mod report;
mod run;
mod script;
mod sessions;

pub use bind::{Bound, bind};
pub(crate) use parse::copies;
pub use parse::parse;
pub use report::{DecodedField, Decoder, mismatch, undecoded};
pub use run::{Failure, Outcome, run};
pub use script::*;

#[cfg(test)]
mod tests;
