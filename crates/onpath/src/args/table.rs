//! Flags of the commands for tables, and the help on the syntax of entries.

use super::Instance;
use crate::complete::names;
use clap::Subcommand;
use std::path::PathBuf;

/// End of the help on tables.
const VALUES: &str = "\
Values: 80, 0x1f, 0b101, 10.0.0.1, 2001:db8::1, 02:00:00:00:00:01, true, a member's name.
Matches: a value; VALUE/PREFIX for lpm; VALUE &&& MASK or 0x12** for ternary; LOW..HIGH for range;
* for anything. Keys that are not exact may be left out if the others are named.
Names: any unique suffix. Entries of tables with ternary, range or optional keys need
a priority; the largest wins. Values are printed as `@format(...)` in front of a key, parameter,
field, `type` or `typedef` says: IPV4_ADDRESS, IPV6_ADDRESS, MAC_ADDRESS, HEX_STRING or DECIMAL.";

/// End of the help on entries files.
const LINES: &str = "\
Lines of an entries file; # begins a comment:
  add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)
  modify TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)
  remove TABLE [PRIORITY] KEY:MATCH ...
  clear TABLE                     removes all entries but const ones
  setdefault TABLE ACTION(ARGS)
  value_set_add SET MATCH ...     value_set_remove SET MATCH ...
  name_add SET NAME [NUMBER [LISTS]]
  name_remove SET NAME            name_clear SET
  multicast_group GROUP [PORT[:RID] ...]
  clone_session SESSION [PORT[:RID] ...] [group GROUP] [truncate BYTES]
  action_member PROFILE MEMBER [ACTION(ARGS)]
  action_group SELECTOR GROUP [MEMBER ...]
  meter_set NAME[INDEX] RATE BURST RATE BURST, or TABLE KEY:MATCH ... for the meter of an entry
  meter_reset NAME[INDEX]
Entries of a table with an action profile name an action, or member(ID) or group(ID).
Read too: BMv2's commands table_add, table_set_default and table_clear, where the smallest priority
wins, and those for multicast groups and mirroring; and runtime files of the P4 tutorials (s1-runtime.json).";

/// `onpath table`
#[derive(Subcommand, Debug)]
pub enum TableCommand {
    /// Print a table's entries and default action, or those of all tables
    Dump {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The table, by name or the end of it
        #[arg(add = names::tables())]
        table: Option<String>,
        /// Print as an entries file: `onpath table load` restores this state
        #[arg(long, conflicts_with = "json")]
        entries: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the entry that a packet with these values meets, and why it meets no other: TABLE KEY:VALUE ...
    ///
    /// For example `onpath table lookup routes dst:10.0.0.7`. Reads the entries, and changes no counter.
    Lookup {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// TABLE KEY:VALUE ..., a value for each key
        #[arg(required = true, value_name = "VALUES", add = names::tables())]
        values: Vec<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Add an entry: TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)
    ///
    /// For example `onpath table add routes dst:10.0.0.0/24 'forward(port: 1)'`. Keys and arguments
    /// go by name or by position.
    #[command(after_long_help = VALUES)]
    Add {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// Give an entry that is there already this action
        #[arg(long)]
        or_modify: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
        /// TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)
        #[arg(required = true, value_name = "ENTRY", add = names::tables())]
        entry: Vec<String>,
    },
    /// Give an entry another action: TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)
    ///
    /// Packets meet the old action or the new one, never none.
    #[command(after_long_help = VALUES)]
    Modify {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// Print as JSON
        #[arg(long)]
        json: bool,
        /// TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)
        #[arg(required = true, value_name = "ENTRY", add = names::tables())]
        entry: Vec<String>,
    },
    /// Make all changes of an entries file, or none of them
    ///
    /// Other commands see all changes or none, even if this command is killed. Packets see complete entries, one
    /// change after another; with --replace they see the whole file at once. They also do when entries cannot be
    /// changed one by one: several modified entries, or a modified or removed entry of a table indexed by its key. The
    /// kernel then loads the program again with new maps for the changed tables, which takes the time to verify the
    /// program and twice the memory of those tables. With several interfaces, the program switches at one after
    /// another.
    #[command(after_long_help = LINES)]
    Load {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// The file, or - for standard input
        file: PathBuf,
        /// First remove the entries of each table that the file adds entries to, but for const ones. Name sets likewise.
        /// Packets meet the old entries or the new ones, never a part of them
        #[arg(long)]
        replace: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Change the default action: TABLE ACTION(ARGS)
    SetDefault {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// Print as JSON
        #[arg(long)]
        json: bool,
        /// TABLE ACTION(ARGS)
        #[arg(required = true, value_name = "DEFAULT", add = names::tables())]
        action: Vec<String>,
    },
    /// Remove an entry: TABLE [PRIORITY] KEY:MATCH ...
    Del {
        /// The running program.
        #[command(flatten)]
        instance: Instance,
        /// Print as JSON
        #[arg(long)]
        json: bool,
        /// TABLE [PRIORITY] KEY:MATCH ...
        #[arg(required = true, value_name = "ENTRY", add = names::tables())]
        entry: Vec<String>,
    },
}
