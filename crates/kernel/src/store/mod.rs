//! The control plane's view of a program in the kernel: a [`Store`](writers::Store) over the maps that the program
//! reads.

mod elements;
mod guard;
mod maps;
mod specialized;
mod successor;

pub use bpf::abi::SEED_SECTION;
pub use guard::Guard;
pub use maps::Maps;
pub use specialized::{Specialized, SpecializedTable, load_beside, put_in_place, specialized};

use crate::pins::files::map_file;
use crate::ports::check_ports;
use crate::sys::Map;
use crate::test_run::observed_now;
use bpf::abi::{Abi, CHANGES_SECTION, MOST_PORTS_OF_A_GROUP};
use control::{Change, StoreError};
use elements::explained;
use host::linux::{monotonic_now, wait_for_softirqs};
use host::words::Words;
use layout::{Contents, HashSeeds};
use schema::Schema;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use successor::Successor;
use writers::{GroupForm, Memory, Store, Traffic};

/// The state of a loaded program.
pub type KernelStore = Store<KernelMemory>;

/// The maps of a loaded program.
#[derive(Debug)]
pub struct KernelMemory {
    /// Layout of the maps.
    pub abi: Arc<Abi>,
    /// Tables and other state that the program offers the control plane.
    pub schema: Arc<Schema>,
    /// The maps by name.
    pub maps: Maps,
    /// Limit of its maps' memory in bytes, if it was loaded with one; else the free memory is the limit.
    pub allowance: Option<u64>,
    /// Guard that keeps writers in other processes away; absent while no other process knows the program.
    pub guard: Option<Guard>,
}

/// Reports a map that cannot be opened. If its pin is gone, so is the program.
pub(crate) fn unopened(error: io::Error) -> StoreError {
    writers::errors::unopened(explained(error))
}

/// Reports a refusal of the system for which no entry is to blame.
fn system(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    let failed = writers::errors::system(what);
    move |error| failed(explained(error))
}

/// Fails if a change of multicast groups and clone sessions asks for something that a program does not support,
/// whatever its ports are. `clones` is true if the program clones packets. Other changes pass.
///
/// # Errors
/// As for [`Store::apply`](control::Store::apply).
pub fn check_copies(abi: &Abi, clones: bool, change: &Change) -> Result<(), StoreError> {
    writers::check_copies(traffic(abi), clones, change)
}

/// Returns the maps that say where copies of a program's packets go.
fn traffic(abi: &Abi) -> Traffic<'_> {
    let differ = abi.traffic.groups.as_deref();
    Traffic {
        groups: differ.or(abi.ports.groups.as_deref()),
        form: match differ {
            Some(_) => GroupForm::Replicas,
            None => GroupForm::Ports(MOST_PORTS_OF_A_GROUP as usize),
        },
        sessions: abi.traffic.sessions.as_deref(),
        drops: abi.traffic.drops.as_deref(),
    }
}

impl KernelMemory {
    /// Returns the map of a name, which the program has.
    pub(crate) fn existing(&self, name: &str) -> Result<&Map, StoreError> {
        let found = self.maps.get(name).map_err(unopened)?;
        found.ok_or_else(|| StoreError::System {
            what: format!("the program's map `{name}` is gone"),
        })
    }
}

impl Memory for KernelMemory {
    fn contents(&self) -> &Contents {
        &self.abi.contents
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn anew(&self) -> KernelMemory {
        KernelMemory {
            abi: Arc::clone(&self.abi),
            schema: Arc::clone(&self.schema),
            maps: self.maps.anew(),
            allowance: self.allowance,
            guard: self.guard.clone(),
        }
    }

    fn map(&self, name: &str) -> io::Result<Option<&dyn writers::Map>> {
        let found = self.maps.get(name).map_err(explained)?;
        Ok(found.map(|map| map as &dyn writers::Map))
    }

    fn words(&self, name: &str) -> io::Result<Option<&Words>> {
        self.maps.shared(name).map_err(explained)
    }

    fn seeds(&self) -> Result<HashSeeds, StoreError> {
        let bytes = self.existing(SEED_SECTION)?.get(&0u32.to_ne_bytes());
        let bytes = bytes.map_err(system("read the hashes' secrets"))?;
        let seeds = bytes.and_then(|bytes| HashSeeds::from_bytes(&bytes));
        seeds.ok_or_else(|| StoreError::System {
            what: "the program was loaded by another version of Onpath, which hashed otherwise"
                .into(),
        })
    }

    fn changes(&self) -> io::Result<Option<Words>> {
        match self.maps.shared(CHANGES_SECTION) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => Ok(found.map_err(explained)?.cloned()),
        }
    }

    fn begin_changes(&self, size: usize) -> io::Result<()> {
        let (array, flags) = (libbpf_sys::BPF_MAP_TYPE_ARRAY, libbpf_sys::BPF_F_MMAPABLE);
        let map = Map::create(array, "onpath_changes", 4, size as u32, 1, flags);
        let map = map.map_err(explained)?;
        match &self.guard {
            Some(guard) => map
                .pin(guard.folder(), &map_file(CHANGES_SECTION))
                .map_err(explained),
            None => {
                self.maps.put(CHANGES_SECTION, map);
                Ok(())
            }
        }
    }

    fn now(&self) -> Result<u64, StoreError> {
        Ok(observed_now(&self.maps)?.unwrap_or_else(monotonic_now))
    }

    fn wait_for_packets(&self) {
        wait_for_softirqs();
    }

    fn traffic(&self) -> Traffic<'_> {
        traffic(&self.abi)
    }

    fn check_ports(&self, ports: &[u32]) -> Result<(), StoreError> {
        check_ports(&self.abi.ports, &self.maps, ports)
    }

    fn guard(&self) -> Option<&dyn writers::Guard> {
        self.guard
            .as_ref()
            .map(|guard| guard as &dyn writers::Guard)
    }

    fn successor(
        &self,
        fresh: &BTreeSet<&str>,
    ) -> Result<Box<dyn writers::memory::Successor>, StoreError> {
        Ok(Box::new(Successor::load(self, fresh)?))
    }
}

#[cfg(test)]
mod tests {
    use control::DropReason;

    #[test]
    fn generated_code_has_the_same_numbers() {
        assert_eq!(DropReason::ALL.len(), bpf::abi::DROP_REASONS as usize);
        let headers = bpf::headers().iter();
        let (_, text) = headers
            .clone()
            .find(|(name, _)| *name == "onpath/drops.h")
            .expect("the header");
        for reason in DropReason::ALL {
            let member = format!(
                "DROPPED_{} = {},",
                reason.name().to_uppercase(),
                reason as u32
            );
            assert!(text.contains(&member), "{member}");
        }
        assert_eq!(text.matches("DROPPED_").count(), DropReason::ALL.len());
    }
}
