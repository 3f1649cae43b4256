//! Tables whose entries are in memory that packets read while it changes. Each change of an entry is atomic for
//! packets. Memory that packets may have found is not reused before they have ended.

use crate::buckets::Buckets;
use crate::errors::{refused, system};
use crate::multibit_trie::MultibitTrie;
use crate::records::Differences;
use crate::state::ProgramState;
use control::StoreError;
use layout::LookupAbi;
use std::io;

/// Container of such entries. Keys and values are bytes, concatenated without padding.
pub(super) trait InMemory {
    /// Returns the sizes of a key and of a value, in bytes.
    fn sizes(&self) -> (usize, usize);

    /// Returns true if keys begin with the length of the prefix, in the machine's byte order.
    fn begin_with_length(&self) -> bool;

    /// Initializes empty maps so that the program finds nothing.
    fn start_empty(&self) -> Result<(), StoreError>;

    /// Returns true if there are more than `most` entries.
    fn has_more_than(&self, most: usize) -> io::Result<bool>;

    /// Calls `each` with the key and value of every entry.
    fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()>;

    /// Makes changes, each of which is atomic for packets. Removals come first, to make room for new entries.
    fn change(&self, changes: &Differences) -> Result<(), Refused>;

    /// Undoes changes that this process or a killed one has made in part or in full: restores the old values of `keys`,
    /// and removes the entries `removed`.
    fn restore(&self, keys: &[u8], values: &[u8], removed: &[u8]) -> Result<(), StoreError>;
}

/// Failure of a change.
pub(super) struct Refused {
    /// Index of the entry that failed, among the added entries followed by the changed ones. `None` if no entry is to
    /// blame.
    pub entry: Option<usize>,
    /// Error that occurred.
    pub error: StoreError,
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Refused {
        Refused { entry: None, error }
    }
}

/// Converts the error of reading a table.
pub(super) fn unread(error: io::Error) -> StoreError {
    refused("read the table")(error)
}

/// Converts the error of writing a table.
pub(super) fn unwritten(error: io::Error) -> StoreError {
    system("write the table")(error)
}

/// Opens the entries of a table. `None` if they are not in memory.
pub(super) fn open<'a>(
    store: ProgramState<'a>,
    lookup: &'a LookupAbi,
) -> Result<Option<Box<dyn InMemory + 'a>>, StoreError> {
    Ok(match lookup {
        LookupAbi::MultibitTrie(abi) => Some(Box::new(MultibitTrie::open(store, abi)?)),
        LookupAbi::Buckets(abi) => Some(Box::new(Buckets::open(store, abi)?)),
        _ => None,
    })
}

/// Opens the entries of the table whose main map has this name.
pub(super) fn of_map<'a>(
    store: ProgramState<'a>,
    map: &str,
) -> Result<Box<dyn InMemory + 'a>, StoreError> {
    let mut lookups = store
        .memory
        .contents()
        .tables
        .iter()
        .map(|table| &table.lookup);
    let found = lookups.find(|lookup| lookup.maps().first() == Some(&map));
    let entries = found.map(|lookup| open(store, lookup)).transpose()?;
    entries.flatten().ok_or_else(|| StoreError::System {
        what: format!("the program has no table `{map}`"),
    })
}
