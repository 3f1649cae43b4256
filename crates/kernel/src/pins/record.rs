//! Records of pinned programs: JSON as the only value of a pinned map.

use super::Owner;
use super::files::{PORTS, RECORD};
use crate::attachment::{Attached, TcOrder};
use crate::errors::device;
use crate::port::Port;
use crate::sys::{Map, pin_bytes, read_bytes};
use crate::tc::filter::FilterLocation;
use bpf::abi::{Abi, Hook};
use diag::Diagnostic;
use host::safe_dir::Dir;
use net::netns;
use schema::Schema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;

/// Record of programs that are pinned as one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Version of this format.
    pub version: u32,
    /// The instance's name.
    pub instance: String,
    /// Time at which it was loaded, in seconds since 1970.
    pub loaded: u64,
    /// User who loaded it, before `sudo` if that was used; `None` if not known.
    #[serde(default)]
    pub user: Option<String>,
    /// The process that it ends with, if it ends with one.
    #[serde(default)]
    pub owner: Option<Owner>,
    /// True if settings of its interfaces are changed while it runs.
    #[serde(default)]
    pub changes_links: bool,
    /// The [cookie](net::link_events::netns_cookie) of the network namespace of its interfaces; 0 if that is not known.
    #[serde(default)]
    pub netns_cookie: u64,
    /// Position of its programs among others at traffic control.
    #[serde(default)]
    pub order: TcOrder,
    /// The options and inputs that it was loaded with.
    #[serde(default)]
    pub asked: Vec<Asked>,
    /// Programs of the instance, one or more.
    pub members: Vec<MemberRecord>,
}

impl Record {
    /// The version that this code writes and reads.
    pub const VERSION: u32 = 5;

    /// Returns the name by which users know a program of this record.
    pub fn label(&self, member: &MemberRecord) -> String {
        if self.members.len() == 1 && member.name == self.instance {
            self.instance.clone()
        } else {
            format!("{}/{}", self.instance, member.name)
        }
    }

    /// The program of this name.
    pub fn member(&self, name: &str) -> Option<&MemberRecord> {
        self.members.iter().find(|m| m.name == name)
    }

    /// The number of the named program, or of the only one.
    ///
    /// # Errors
    /// There is none of this name, or several and no name.
    pub fn number(&self, name: Option<&str>) -> Result<usize, Box<Diagnostic>> {
        let found = match name {
            Some(name) => self.members.iter().position(|m| m.name == name),
            None if self.members.len() == 1 => Some(0),
            None => None,
        };
        found.ok_or_else(|| {
            let names: Vec<&str> = self.members.iter().map(|m| m.name.as_str()).collect();
            device::which_member(&self.instance, name, &names)
        })
    }
}

/// Option or input that an instance was loaded with, by which a later request is known to be the same. Later commands
/// find some of them again, such as the lists of a firewall.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Asked {
    /// Name of the option or input in messages.
    pub what: String,
    /// Text, or its hash. It is equal only for equal options or inputs.
    pub value: String,
}

/// Program of an instance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MemberRecord {
    /// Program's name in the instance.
    pub name: String,
    /// Hook at which it runs.
    pub hook: Hook,
    /// The interfaces it is attached to.
    pub interfaces: Vec<Interface>,
    /// Further interfaces that it may send packets to.
    #[serde(default)]
    pub targets: Vec<RedirectTarget>,
    /// Bytes that its maps may take, if it was loaded with an allowance.
    #[serde(default)]
    pub memory: Option<u64>,
    /// Layout of its maps.
    pub abi: Abi,
    /// Tables and other state that it offers the control plane.
    pub schema: Schema,
}

/// The ports of a program of an instance, when they have changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct PortsRecord {
    interfaces: Vec<Interface>,
    targets: Vec<RedirectTarget>,
}

impl PortsRecord {
    /// Copies the ports of a program's record.
    pub(super) fn of(member: &MemberRecord) -> PortsRecord {
        PortsRecord {
            interfaces: member.interfaces.clone(),
            targets: member.targets.clone(),
        }
    }
}

/// An interface that a pinned program is attached to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Interface {
    /// Interface's name when the program was attached.
    pub name: String,
    /// Interface's index.
    pub index: u32,
    /// The number of the network namespace that it was in, see [`netns::current`]; 0 if that is not known.
    #[serde(default)]
    pub netns: u64,
    /// Interface's port number in the program.
    pub port: u32,
    /// Mode of the attachment: `native`, `generic`, `tcx` or `clsact`.
    pub mode: String,
    /// The filter, for `clsact`.
    #[serde(default)]
    pub filter: Option<FilterLocation>,
}

/// An interface that a pinned program may send packets to, without running there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RedirectTarget {
    /// Interface's name when the program was loaded.
    pub name: String,
    /// Interface's index.
    pub index: u32,
    /// The number of the network namespace that it was in, see [`netns::current`]; 0 if that is not known.
    pub netns: u64,
    /// Interface's port number in the program.
    pub port: u32,
}

impl RedirectTarget {
    /// Makes the record of an interface as it is now.
    pub(super) fn new(port: &Port) -> RedirectTarget {
        RedirectTarget {
            name: port.name.clone(),
            index: port.index,
            netns: netns::current().unwrap_or(0),
            port: port.number,
        }
    }

    /// Tests the same as [`Interface::is_here`].
    pub fn is_here(&self) -> bool {
        is_here(self.netns)
    }
}

impl Interface {
    /// Makes the record of an interface as it is attached now.
    pub(super) fn new(name: &str, index: u32, port: u32, attached: &Attached) -> Interface {
        Interface {
            name: name.to_owned(),
            index,
            netns: netns::current().unwrap_or(0),
            port,
            mode: attached.how.mode.name().to_owned(),
            filter: attached.filter(),
        }
    }
}

impl Interface {
    /// Tests whether it was in this process's network namespace. In another namespace, its index means another
    /// interface.
    pub fn is_here(&self) -> bool {
        is_here(self.netns)
    }
}

/// Tests whether this process is in the network namespace of this number. The number 0 means unknown, and counts as
/// this namespace.
pub(super) fn is_here(netns: u64) -> bool {
    netns == 0 || netns::current().is_ok_and(|here| here == netns)
}

/// Identity of a loading of an instance: the kernel's number for the map of its record. No later loading has the same,
/// whatever its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loading(u32);

/// Returns the identity of the loading whose record is in a folder.
pub(super) fn loading(folder: &Dir) -> io::Result<Loading> {
    Ok(Loading(Map::open(folder, RECORD)?.info().id))
}

/// Part of the record that all versions have in common.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Tests whether the record in a folder is of an instance with a file system of its own, which had several attachments
/// when it was loaded. A record of another version is trusted, since its format is not known.
pub(super) fn has_own_mount(folder: &Dir) -> bool {
    match read_json(folder, RECORD) {
        Ok(Version { version }) if version != Record::VERSION => true,
        Ok(_) => read_json(folder, RECORD).is_ok_and(|record: Record| {
            let attached = record.members.iter().map(|m| m.interfaces.len());
            attached.sum::<usize>() > 1
        }),
        Err(_) => false,
    }
}

/// Reads the record in a folder.
pub(super) fn read(folder: &Dir) -> io::Result<Record> {
    let Version { version } = read_json(folder, RECORD)?;
    if version != Record::VERSION {
        return Err(io::Error::other(format!(
            "another version of Onpath wrote it (form {version}, not {}); `unload` it and load it anew",
            Record::VERSION
        )));
    }
    let mut record: Record = read_json(folder, RECORD)?;
    // The record itself is never replaced: its map identifies the loading.
    if folder.has(PORTS) {
        let now: Vec<PortsRecord> = read_json(folder, PORTS)?;
        for (member, ports) in record.members.iter_mut().zip(now) {
            member.interfaces = ports.interfaces;
            member.targets = ports.targets;
        }
    }
    Ok(record)
}

/// Tests whether an instance ends with a process that has ended.
pub(super) fn is_orphan(folder: &Dir) -> bool {
    let record = read(folder);
    record.is_ok_and(|record| record.owner.is_some_and(|owner| owner.has_ended()))
}

/// Reads a value that [`write_json`] wrote.
pub(super) fn read_json<T: DeserializeOwned>(folder: &Dir, name: &str) -> io::Result<T> {
    Ok(serde_json::from_slice(&read_bytes(folder, name)?)?)
}

/// Pins a record.
pub(super) fn write(folder: &Dir, record: &Record) -> io::Result<Loading> {
    write_json(folder, RECORD, record)?;
    loading(folder)
}

/// Pins a value as JSON.
pub(super) fn write_json(folder: &Dir, name: &str, value: &impl Serialize) -> io::Result<()> {
    pin_bytes(folder, name, "onpath_record", &serde_json::to_vec(value)?)
}

/// Pins a value as JSON in place of the one pinned by this name, in one step. It is written under the name `next`
/// first, which a killed command may have left.
pub(super) fn replace_json(
    folder: &Dir,
    name: &str,
    next: &str,
    value: &impl Serialize,
) -> io::Result<()> {
    folder.remove_file_if_there(next)?;
    write_json(folder, next, value)?;
    folder.rename(next, name)
}
