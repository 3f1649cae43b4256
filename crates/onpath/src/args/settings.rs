//! Flags of the commands for a program's settings and state beside its tables: multicast groups, clone sessions,
//! action profiles, meters, registers, digests, metrics, flows, drops.

use super::Instance;
use crate::complete::names;
use clap::{Args, Subcommand};
use control::Replica;

/// `onpath group`
#[derive(Subcommand, Debug)]
pub enum GroupCommand {
    /// Print the multicast groups and their ports
    List {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Create a multicast group with these ports, or replace its ports
    ///
    /// Each packet goes to all old ports or all new ones. A replication id tells a copy from others to the same port
    /// (`egress_rid` of v1model).
    Set {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The group's number, 1 to 65535
        #[arg(value_parser = clap::value_parser!(u16).range(1..), add = names::groups())]
        group: u16,
        /// Its ports, in the order in which copies go out, each with a replication id or without
        #[arg(required = true, value_name = "PORT[:RID]", value_delimiter = ',', add = names::ports())]
        ports: Vec<Replica>,
    },
    /// Remove a multicast group
    Remove {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The group's number, 1 to 65535
        #[arg(value_parser = clap::value_parser!(u16).range(1..), add = names::groups())]
        group: u16,
    },
}

/// `onpath mirror`
#[derive(Subcommand, Debug)]
pub enum MirrorCommand {
    /// Print the clone sessions: the ports that clones go to, and how many bytes of them
    List {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Create a clone session, or replace where its clones go
    ///
    /// A clone goes to all old ports or all new ones.
    Set {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The session's number
        #[arg(add = names::sessions())]
        session: u32,
        /// The ports, in the order in which clones go out, each with a replication id or without
        #[arg(
            required_unless_present = "group",
            value_name = "PORT[:RID]",
            value_delimiter = ',',
            add = names::ports()
        )]
        ports: Vec<Replica>,
        /// Clones go to the ports of this multicast group too, before the others
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..), add = names::groups())]
        group: Option<u16>,
        /// At most so many bytes of a clone leave, headers included
        #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
        truncate: Option<u32>,
    },
    /// Remove a clone session
    Remove {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The session's number
        #[arg(add = names::sessions())]
        session: u32,
    },
}

/// End of the help on names.
const NAMES: &str = "\
A rule is NAME for a name and the names below it, =NAME for the name alone, or *.NAME for the names below it. Letters
may be upper case. Of the rules that cover a packet's name, the one with the longest name decides. It gives the packet
its NUMBER, 0 unless it is named, and its LISTS, a bit each, 1 unless they are named.";

/// `onpath names`
#[derive(Subcommand, Debug)]
pub enum NamesCommand {
    /// Print the rules of a name set or a pattern set, or of all
    #[command(after_long_help = NAMES)]
    List {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The name set, by name or the end of it
        #[arg(add = names::name_sets())]
        set: Option<String>,
        /// Print as an entries file: `onpath table load` restores these rules
        #[arg(long, conflicts_with = "json")]
        entries: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the rule that decides for each name, without a packet
    ///
    /// For example `onpath names lookup blocked www.example.com`.
    #[command(after_long_help = NAMES)]
    Lookup {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The name set, by name or the end of it
        #[arg(add = names::name_sets())]
        set: String,
        /// Names as packets have them
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a rule: SET NAME [NUMBER [LISTS]]
    ///
    /// Many rules are added at once by the lines name_add of an entries file (`onpath table load`).
    #[command(after_long_help = NAMES)]
    Add {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// SET NAME [NUMBER [LISTS]]
        #[arg(required = true, value_name = "RULE", add = names::name_sets())]
        rule: Vec<String>,
    },
    /// Remove a rule: SET NAME
    Remove {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// SET NAME, as the rule was added
        #[arg(required = true, value_name = "RULE", add = names::name_sets())]
        rule: Vec<String>,
    },
}

/// `onpath profile`
#[derive(Subcommand, Debug)]
pub enum ProfileCommand {
    /// Print the members and groups of an action profile or selector, or of all
    List {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The action profile or selector, by name or the end of it
        #[arg(add = names::profiles())]
        profile: Option<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Create a member, or give it another action: PROFILE MEMBER ACTION(ARGS)
    ///
    /// Entries and groups refer to the member by its number. Packets meet the old action or the new one, never none.
    SetMember {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// PROFILE MEMBER ACTION(ARGS)
        #[arg(required = true, value_name = "MEMBER", add = names::profiles())]
        member: Vec<String>,
    },
    /// Remove a member that no entry and no group refers to
    RemoveMember {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The action profile or selector, by name or the end of it
        #[arg(add = names::profiles())]
        profile: String,
        /// The member's number
        member: u32,
    },
    /// Create a group of members, or replace its members: SELECTOR GROUP MEMBER ...
    ///
    /// A hash over the table's selector keys chooses among them. A member that is named twice gets twice the packets.
    SetGroup {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// SELECTOR GROUP MEMBER ...
        #[arg(required = true, value_name = "GROUP", add = names::profiles())]
        group: Vec<String>,
    },
    /// Remove a group that no entry refers to
    RemoveGroup {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The action selector, by name or the end of it
        #[arg(add = names::profiles())]
        selector: String,
        /// The group's number
        group: u32,
    },
}

/// End of the help on meters.
const METERS: &str = "\
A meter is NAME[INDEX], or TABLE [PRIORITY] KEY:MATCH ... for the one of an entry. It has two rates, tokens a second,
each with a burst, the most tokens at once: committed, then peak (RFC 2698). Tokens are packets or bytes, as the
program declares the meter. A packet above the peak rate is red, one above the committed rate yellow, others green.";

/// `onpath meter`
#[derive(Subcommand, Debug)]
pub enum MeterCommand {
    /// Print the rates of a meter, of all its elements that have any, or of all meters
    #[command(after_long_help = METERS)]
    List {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// NAME, NAME[INDEX], or TABLE for the meters of entries
        #[arg(add = names::meters())]
        meter: Option<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a meter rates: NAME[INDEX] RATE BURST RATE BURST
    ///
    /// Its buckets are full then. For example `onpath meter set limits[3] 1000 50 2000 100`.
    #[command(after_long_help = METERS)]
    Set {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// NAME[INDEX] RATE BURST RATE BURST
        #[arg(required = true, value_name = "METER", add = names::meters())]
        meter: Vec<String>,
    },
    /// Take the rates of a meter away, so that every packet is green: NAME[INDEX]
    #[command(after_long_help = METERS)]
    Reset {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// NAME[INDEX]
        #[arg(required = true, value_name = "METER", add = names::meters())]
        meter: Vec<String>,
    },
}

/// `onpath register`
#[derive(Subcommand, Debug)]
pub enum RegisterCommand {
    /// Print a register, one of its elements (NAME[INDEX]), or all registers; zero elements are left out
    Read {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The register, by name or the end of it, with or without an index
        #[arg(add = names::registers())]
        register: Option<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Set an element: NAME[INDEX] VALUE
    ///
    /// An element that is a struct takes a value for each field, in order. What packets write at the same time may be lost.
    Set {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// NAME[INDEX] VALUE ...
        #[arg(required = true, value_name = "ELEMENT", add = names::registers())]
        element: Vec<String>,
    },
    /// Set a register, or one of its elements (NAME[INDEX]), to zero
    ///
    /// What packets write at the same time may be lost.
    Reset {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The register, by name or the end of it, with or without an index
        #[arg(required_unless_present = "all", conflicts_with = "all", add = names::registers())]
        register: Option<String>,
        /// All registers of the program
        #[arg(long)]
        all: bool,
    },
}

/// `onpath digests`
#[derive(Args, Debug)]
pub struct Digests {
    /// The running program, as `onpath ls` shows it (BUNDLE/PROGRAM for one of a bundle); not needed if
    /// there is only one
    #[arg(value_name = "NAME", add = names::programs())]
    pub name: Option<String>,
    /// End after so many digests, instead of when it is interrupted or the program is unloaded
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Print each as a JSON object
    #[arg(long)]
    pub json: bool,
}

/// `onpath log`
#[derive(Args, Debug)]
pub struct Log {
    /// The running program, as `onpath ls` shows it (BUNDLE/PROGRAM for one of a bundle); not needed if
    /// there is only one
    #[arg(value_name = "NAME", add = names::programs())]
    pub name: Option<String>,
    /// End after so many messages, instead of when it is interrupted or the program is unloaded
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Print each as a JSON object
    #[arg(long)]
    pub json: bool,
}

/// `onpath flows`
#[derive(Subcommand, Debug)]
pub enum FlowsCommand {
    /// Print the flows of a flow_state, or of all, with their values
    ///
    /// Each flow is read atomically while packets are processed. Expired flows are omitted. A flow that finds no room takes
    /// the place of the one that was unused the longest: how many were evicted so is shown, and how many there is room for.
    List {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The flow_state, by name or the end of it; not needed before a filter if there is only one
        #[arg(add = names::flow_states())]
        state: Option<String>,
        /// Only flows whose key matches: FIELD:VALUE, a prefix, VALUE &&& MASK or LOW..HIGH
        #[arg(value_name = "FIELD:MATCH")]
        filter: Vec<String>,
        /// The flows with the greatest values of this field first, or `age` for those that were unused the longest; by key if it
        /// is left out
        #[arg(long, value_name = "FIELD")]
        by: Option<String>,
        /// Only the first so many flows
        #[arg(long, value_name = "N")]
        most: Option<usize>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a flow: STATE FIELD:VALUE ...
    ///
    /// The fields are those of the key, by name or in order, as `onpath flows list` prints them.
    Remove {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// STATE FIELD:VALUE ...
        #[arg(required = true, value_name = "FLOW", add = names::flow_states())]
        flow: Vec<String>,
    },
    /// Remove all flows of a flow_state
    Clear {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The flow_state, by name or the end of it
        #[arg(add = names::flow_states())]
        state: String,
    },
}

/// `onpath metrics`
#[derive(Args, Debug)]
pub struct Metrics {
    /// The running program.
    #[command(flatten)]
    pub instance: Instance,
    /// The object that keeps them, by name or the end of it; all if it is left out
    #[arg(add = names::metrics())]
    pub object: Option<String>,
    /// Only so many groups: those with the greatest weights, or the first keys
    #[arg(long, value_name = "N")]
    pub most: Option<usize>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `onpath drops`
#[derive(Args, Debug)]
pub struct Drops {
    /// The running program, as `onpath ls` shows it (BUNDLE/PROGRAM for one of a bundle); not needed if
    /// there is only one
    #[arg(value_name = "NAME", add = names::programs())]
    pub name: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}
