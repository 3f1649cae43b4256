//! Pins that no other process sees: they are in a file system that only this process's mount namespace has.
//!
//! `ip netns exec` makes a mount namespace for each command, with a `/sys` of its own. What is pinned there cannot be
//! seen by other commands, and ends with the last process in it, though it was to stay.

use super::{Pins, is_bpffs};
use crate::errors::device;
use diag::Diagnostic;
use host::caps;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

impl Pins {
    /// Returns true if an instance with this number of attachments would end with this process even if it is pinned,
    /// and no other process would see it.
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

    /// Returns true if instances may be hidden from this process: there is no BPF file system, and an ancestor of this
    /// process is in another mount namespace.
    pub fn are_hidden(&self) -> bool {
        !is_bpffs(&self.bpffs) && is_apart()
    }
}

/// Returns true if no other process is in this one's mount namespace, as far as can be seen.
fn is_alone() -> bool {
    let Ok(Some(ours)) = mount_namespace(Path::new("/proc/self")) else {
        return false;
    };
    let Ok(list) = fs::read_dir("/proc") else {
        return false;
    };
    let own = std::process::id().to_string();
    let is_other = |name: &str| name.bytes().all(|b| b.is_ascii_digit()) && name != own;
    let others = list
        .filter_map(Result::ok)
        .filter(|entry| is_other(&entry.file_name().to_string_lossy()))
        .map(|entry| mount_namespace(&entry.path()));
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let may_mount = caps::effective().contains(&"CAP_SYS_ADMIN");
    let made = may_mount && (nix::unistd::geteuid().is_root() || root_follows_another(&mounts));
    are_elsewhere(others, ours, made)
}

/// Tests whether all other processes are in other mount namespaces than `ours`. Processes that may not be inspected
/// count as being elsewhere if the namespace is `made` for a command. In such a namespace even root may not inspect
/// them; outside, other users may not either.
fn are_elsewhere(
    mut others: impl Iterator<Item = io::Result<Option<u64>>>,
    ours: u64,
    made: bool,
) -> bool {
    others.all(|theirs| match theirs {
        Ok(theirs) => theirs != Some(ours),
        Err(_) => made,
    })
}

/// Returns true if the root of a mount namespace receives mounts from another namespace and propagates none back,
/// according to `mountinfo` (proc(5)). `ip netns exec` sets this up; nothing that a machine boots with does.
fn root_follows_another(mounts: &str) -> bool {
    mounts.lines().any(|line| {
        let mut fields = line.split(' ').skip(4);
        let at_root = fields.next() == Some("/");
        let optional: Vec<&str> = fields.skip(1).take_while(|field| *field != "-").collect();
        let is = |kind: &str| optional.iter().any(|field| field.starts_with(kind));
        at_root && is("master:") && !is("shared:")
    })
}

/// Returns true if an ancestor of this process is in another mount namespace, as far as can be seen.
fn is_apart() -> bool {
    let namespace = |process: &Path| mount_namespace(process).ok().flatten();
    let ours = namespace(Path::new("/proc/self"));
    let parent = |process: &PathBuf| {
        let status = fs::read_to_string(process.join("status")).ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("PPid:"))?;
        Some(Path::new("/proc").join(line.trim()))
    };
    let line = std::iter::successors(Some(PathBuf::from("/proc/self")), parent);
    // A parent that ends meanwhile is replaced by another one.
    let mut line = line.take(1000);
    line.any(|process| namespace(&process).is_some_and(|theirs| Some(theirs) != ours))
}

/// The number of a process's mount namespace; `None` if there is no such process, or not any more.
///
/// # Errors
/// This process may not look into that one.
fn mount_namespace(process: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(process.join("ns/mnt")) {
        Ok(found) => Ok(Some(found.ino())),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_started_this_process_is_in_its_mount_namespace() {
        assert!(!is_alone());
        assert!(matches!(mount_namespace(Path::new("/proc/none")), Ok(None)));
    }

    #[test]
    fn who_may_see_nobody_is_not_alone_for_that() {
        let denied = || Err(io::Error::from(io::ErrorKind::PermissionDenied));
        let alone =
            |others: [io::Result<Option<u64>>; 2], made| are_elsewhere(others.into_iter(), 7, made);
        assert!(alone([Ok(Some(8)), Ok(None)], false));
        assert!(!alone([Ok(Some(8)), Ok(Some(7))], true));
        assert!(!alone([Ok(Some(8)), denied()], false));
        assert!(alone([Ok(Some(8)), denied()], true));
    }

    #[test]
    fn a_namespace_made_for_a_command_follows_another() {
        let root =
            |optional: &str| format!("22 1 8:1 / / rw,relatime {optional}- ext4 /dev/sda1 rw");
        assert!(root_follows_another(&root("master:1 ")));
        assert!(!root_follows_another(&root("shared:1 ")));
        assert!(!root_follows_another(&root("shared:2 master:1 ")));
        assert!(!root_follows_another(&root("")));
        let other = "23 22 0:21 / /sys rw master:7 - sysfs sysfs rw";
        assert!(!root_follows_another(other));
        assert!(root_follows_another(&format!(
            "{other}\n{}",
            root("master:1 ")
        )));
    }
}
