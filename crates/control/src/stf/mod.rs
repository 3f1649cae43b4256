//! The Simple Test Framework: packets in, packets expected, and what the control plane does between.
//!
//! One statement a line, `#` begins a comment. Statements run in order; packets that come out of a
//! port are compared with that port's `expect`s in order, and an unexpected one fails the test.
//!
//! | statement | meaning |
//! |---|---|
//! | `packet PORT HEX` | sends a packet into a port |
//! | `expect PORT HEX` | the next packet out of the port begins with these bytes; `*` is any nibble, a final `$` allows no more bytes |
//! | `expect PORT` | any packet comes out of the port |
//! | `no_packet [PORT]` | nothing has come out but what was expected |
//! | `expect_digest NAME [FIELD:MATCH ...]` | the next digest of the name has come, and has these values |
//! | `no_digest [NAME]` | no digest has come but those that were expected |
//! | `add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)` | adds an entry; the largest priority wins |
//! | `remove TABLE [PRIORITY] KEY:MATCH ...` | removes an entry |
//! | `remove all [TABLE]` | removes every entry that the control plane added |
//! | `setdefault TABLE ACTION(ARGS)` | changes the default action |
//! | `check_counter NAME[INDEX] [packets\|bytes] == N` | compares a counter; also `check_counter TABLE KEY:MATCH ...` |
//! | `register_read NAME[INDEX] == VALUE` | compares a register |
//! | `register_write NAME[INDEX] VALUE` | changes a register |
//! | `register_reset NAME` | sets all of a register to zero |
//! | `meter_set NAME[INDEX] RATE BURST RATE BURST` | committed and peak rate (tokens a second), each with a burst; `meter_set TABLE KEY:MATCH ... RATES` for the meter of an entry |
//! | `meter_reset NAME[INDEX]` | takes a meter's rates away, so that it is always green; also `meter_reset TABLE KEY:MATCH ...` |
//! | `action_member PROFILE MEMBER [ACTION(ARGS)]` | makes a member of an action profile or selector, or changes it; without an action removes it |
//! | `action_group SELECTOR GROUP [MEMBER ...]` | makes a group of an action selector of these members, or changes it; no members are no group |
//! | `value_set_add NAME MATCH ...` | puts a member in a parser value set, one match a field |
//! | `value_set_remove NAME MATCH ...` | takes a member out of a parser value set |
//! | `wait` | waits until the packets sent have gone through |
//! | `wait TIME` | and lets time go by: `50ms`, `20us`, `3s`; targets with a clock of their own set it forward, the others sleep |
//! | `multicast_group GROUP [PORT[:RID] ...]` | makes a multicast group of these ports, each with a replication id; no ports are no group |
//! | `clone_session SESSION [PORT[:RID] ...] [group GROUP] [truncate BYTES]` | says where packets cloned in a session go; nothing removes it |
//!
//! Names are as much of the end of control-plane names as is unique. What is none may be a name as tests for other targets
//! have it: `pipe_acl` for the table `pipe.acl`, `_NoAction`, `key.field0` for the first key, `extra$0.h` for
//! `extra[0].h`, `hdr.$valid$` for `hdr.isValid()`.
//!
//! BMv2's own statements for the same, with the meaning they have there:
//!
//! | statement | meaning |
//! |---|---|
//! | `mc_mgrp_create GROUP`, `mc_mgrp_destroy GROUP` | makes a group without ports, removes it |
//! | `mc_node_create RID PORT ...` | makes a node of these ports, the first being node 0 |
//! | `mc_node_associate GROUP NODE`, `mc_node_dissociate GROUP NODE` | adds a node to a group, takes it out |
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
