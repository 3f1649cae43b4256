//! Pins that no other process sees: they are in a file system that only this process's mount namespace has.
//!
//! `ip netns exec` makes a mount namespace for each command, with a `/sys` of its own. What is pinned there cannot be
//! seen by other commands, and ends with the last process in it, though it was to stay.

use super::{Pins, is_bpffs};
use crate::errors::device;
use diag::Diagnostic;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

impl Pins {
    /// Whether an instance with so many attachments would end with this process whatever is pinned, and nobody
    /// else would see it.
    pub fn ends_with_us(&self, attachments: usize) -> bool {
        // Several attachments are a mount of their own, which belongs to the namespace always.
        (attachments > 1 || !is_bpffs(&self.bpffs)) && is_alone()
    }

    /// Fails where an instance cannot outlive this process.
    pub fn check_stays(&self, attachments: usize) -> Result<(), Box<Diagnostic>> {
        match self.ends_with_us(attachments) {
            true => Err(device::does_not_stay()),
            false => Ok(()),
        }
    }

    /// Whether instances may be hidden from this process: there is no BPF file system, and a process that this one
    /// descends from is in another mount namespace.
    pub fn are_hidden(&self) -> bool {
        !is_bpffs(&self.bpffs) && is_apart()
    }
}

/// Whether no other process is in this one's mount namespace, as far as can be seen.
fn is_alone() -> bool {
    let Some(ours) = mount_namespace(Path::new("/proc/self")) else {
        return false;
    };
    let Ok(list) = fs::read_dir("/proc") else {
        return false;
    };
    let own = std::process::id().to_string();
    let is_other = |name: &str| name.bytes().all(|b| b.is_ascii_digit()) && name != own;
    !list.filter_map(Result::ok).any(|entry| {
        is_other(&entry.file_name().to_string_lossy())
            && mount_namespace(&entry.path()) == Some(ours)
    })
}

/// Whether a process that this one descends from is in another mount namespace, as far as can be seen.
fn is_apart() -> bool {
    let ours = mount_namespace(Path::new("/proc/self"));
    let parent = |process: &PathBuf| {
        let status = fs::read_to_string(process.join("status")).ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("PPid:"))?;
        Some(Path::new("/proc").join(line.trim()))
    };
    let line = std::iter::successors(Some(PathBuf::from("/proc/self")), parent);
    // A parent that ends meanwhile is replaced by another one.
    let mut line = line.take(1000);
    line.any(|process| mount_namespace(&process).is_some_and(|theirs| Some(theirs) != ours))
}

/// The number of a process's mount namespace.
fn mount_namespace(process: &Path) -> Option<u64> {
    Some(fs::metadata(process.join("ns/mnt")).ok()?.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_started_this_process_is_in_its_mount_namespace() {
        assert!(!is_alone());
        assert_eq!(mount_namespace(Path::new("/proc/none")), None);
    }
}
