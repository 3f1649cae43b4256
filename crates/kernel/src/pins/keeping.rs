//! The one process that follows the interfaces of an instance.
//!
//! It has mapped, for writing, the only value of a map that is pinned in the instance's folder. The kernel freezes no
//! map that a process has mapped for writing. So any other process, in whatever PID or mount namespace, finds out by
//! freezing it whether that process has ended. A file lock would do as well, but would keep the BPF file system from
//! being unmounted.

use super::files::{KEEPER, NEXT_KEEPER};
use super::{Loading, Pins};
use crate::sys::Map;
use diag::Diagnostic;
use host::safe_dir::Dir;
use host::words::Words;
use std::io;

/// Right to follow the interfaces of an instance. While this value lives, no other process follows them.
#[derive(Debug)]
pub(crate) struct Keeping {
    _mapped: Words,
}

impl Keeping {
    fn take(folder: &Dir) -> io::Result<Keeping> {
        let (kind, flags) = (libbpf_sys::BPF_MAP_TYPE_ARRAY, libbpf_sys::BPF_F_MMAPABLE);
        let map = Map::create(kind, "onpath_keeper", 4, 4, 1, flags)?;
        // Whoever finds it by its pin finds it mapped.
        let mapped = map.words()?;
        folder.remove_file_if_there(NEXT_KEEPER)?;
        map.pin(folder, NEXT_KEEPER)?;
        folder.rename(NEXT_KEEPER, KEEPER)?;
        Ok(Keeping { _mapped: mapped })
    }
}

/// Tests whether a process that has not ended follows the interfaces, as far as this process may know.
fn is_kept(folder: &Dir) -> io::Result<bool> {
    if !folder.has(KEEPER) {
        return Ok(false);
    }
    let map = Map::open(folder, KEEPER)?;
    match map.freeze() {
        Ok(()) => Ok(false),
        // It was frozen before, when its process had ended. Kernels differ in the error of freezing it again.
        Err(_) if map.is_frozen()? => Ok(false),
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(true),
        Err(error) => Err(error),
    }
}

impl Pins {
    /// Makes this process the one that follows the interfaces of an instance, if the instance is still of this
    /// loading. `None`: another process follows them, or it is another instance.
    pub(crate) fn take_keeping(
        &self,
        instance: &str,
        loading: Loading,
    ) -> Result<Option<Keeping>, Box<Diagnostic>> {
        let failed = |e: io::Error| self.failed(instance, "follow the interfaces of", &e);
        let (root, _) = self.existing(instance)?;
        let _lock = self.lock(&root)?;
        let (_, folder) = self.existing(instance)?;
        if !self.is_still(instance, loading) || is_kept(&folder.dir).map_err(failed)? {
            return Ok(None);
        }
        Keeping::take(&folder.dir).map(Some).map_err(failed)
    }

    /// Tests whether no process follows the interfaces of an instance, and this process may.
    pub(crate) fn wants_keeper(&self, instance: &str) -> bool {
        let existing = self.existing(instance);
        existing.is_ok_and(|(_, folder)| is_kept(&folder.dir).is_ok_and(|is_kept| !is_kept))
    }
}
