//! The BPF file system and Onpath's folder in it, made by whichever command is the first.

use super::{FOLDER, Pins};
use crate::errors::load as load_errors;
use diag::Diagnostic;
use host::safe_dir::{Dir, Given};
use nix::mount::{MsFlags, mount};
use std::fs::File;
use std::io;
use std::path::Path;

/// Folder in which only root can make files, and the file there that is locked before mounting the BPF file system.
/// The mount point itself will not do, since every user may lock it.
const MOUNT_LOCK: (&str, &str) = ("/run", "onpath-mount.lock");

impl Pins {
    /// Makes sure that there is a BPF file system and Onpath's folder in it, for its user only. Several commands may
    /// do so at the same moment.
    pub(super) fn prepare(&self) -> Result<Dir, Box<Diagnostic>> {
        let none = |e: io::Error| load_errors::no_bpffs(&self.bpffs, &e);
        let mut above = Given::open(&self.bpffs).map_err(none)?;
        if !above.is_bpffs().map_err(none)? {
            // A second mount would hide what others have pinned in the first.
            let lock = mount_lock().ok();
            let lock = lock.map(|file| self.lock_file(file, Path::new(MOUNT_LOCK.0)));
            let _held = lock.transpose()?;
            above = Given::open(&self.bpffs).map_err(none)?;
            if !above.is_bpffs().map_err(none)? {
                mount(
                    Some("bpf"),
                    &self.bpffs,
                    Some("bpf"),
                    MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
                    Some("mode=0700"),
                )
                .map_err(|e| none(e.into()))?;
                above = Given::open(&self.bpffs).map_err(none)?;
            }
        }
        let failed = |what| move |e: io::Error| load_errors::pins(&self.root(), what, &e);
        let root = match above.make_dir(FOLDER) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => above.open_dir(FOLDER),
            made => made,
        };
        let root = root.map_err(failed("make"))?;
        root.close_to_others().map_err(failed("protect"))?;
        Ok(root)
    }
}

/// Opens the file that is locked before mounting. A user who may mount but is not root cannot make it: two commands of
/// such a user at one moment may mount twice.
fn mount_lock() -> io::Result<File> {
    let (folder, file) = MOUNT_LOCK;
    Dir::at(Path::new(folder))?.open_or_make_file(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::fcntl::{Flock, FlockArg};
    use nix::mount::{MntFlags, umount, umount2};
    use std::fs;
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn without_a_folder_to_mount_on_there_is_no_bpf_file_system() {
        let scratch = tempfile::tempdir().expect("a folder");
        let missing = Pins::at(&scratch.path().join("bpf"));
        let refused = missing.prepare().expect_err("nothing to mount on");
        assert_eq!(refused.code.0, "E0765");
    }

    #[test]
    fn who_locks_the_folder_to_mount_on_keeps_nobody_away() {
        let scratch = tempfile::tempdir().expect("a folder");
        // As every user may.
        let folder = File::open(scratch.path()).expect("it is there");
        let _held = Flock::lock(folder, FlockArg::LockExclusiveNonblock).expect("it is free");
        let pins = Pins::at(scratch.path()).patient_for(Duration::from_secs(10));
        let made = pins.prepare();
        let begun = made.map(|root| (root, umount2(scratch.path(), MntFlags::MNT_DETACH)));
        let (_, unmounted) = begun.expect("this test needs root");
        unmounted.expect("it is mounted");
    }

    #[test]
    fn of_many_commands_that_are_the_first_none_fails_and_one_mounts() {
        const MANY: usize = 8;
        for _ in 0..25 {
            let scratch = tempfile::tempdir().expect("a folder");
            let at = scratch.path().canonicalize().expect("it is there");
            let pins = Pins::at(&at);
            let all_at_once = Barrier::new(MANY);
            let results: Vec<_> = thread::scope(|scope| {
                let command = || {
                    all_at_once.wait();
                    pins.prepare().map(drop)
                };
                let commands: Vec<_> = (0..MANY).map(|_| scope.spawn(command)).collect();
                commands.into_iter().map(|c| c.join()).collect()
            });
            let mounts = fs::read_to_string("/proc/self/mountinfo").expect("readable");
            let is_ours = |line: &&str| line.split(' ').nth(4) == at.to_str();
            let mounts = mounts.lines().filter(is_ours).count();
            for _ in 0..mounts {
                umount(&at).expect("nothing is in use");
            }
            for result in results {
                result.expect("no panic").expect("this test needs root");
            }
            assert_eq!(mounts, 1);
        }
    }
}
