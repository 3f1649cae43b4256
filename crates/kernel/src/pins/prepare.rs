//! The BPF file system and our folder in it, made by whichever command is the first.

use super::{Pins, folder, is_bpffs};
use crate::errors::load as load_errors;
use diag::Diagnostic;
use nix::mount::{MsFlags, mount};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;

impl Pins {
    /// Makes sure that there is a BPF file system and our folder in it, for root only. Several commands may do so at the
    /// same moment.
    pub(super) fn prepare(&self) -> Result<(), Box<Diagnostic>> {
        if !is_bpffs(&self.bpffs) {
            let none = |e| load_errors::no_bpffs(&self.bpffs, &e);
            fs::metadata(&self.bpffs).map_err(none)?;
            // Of what the mount will hide: a second mount would hide what others have pinned in the first.
            let _lock = self.lock_folder(&self.bpffs)?;
            if !is_bpffs(&self.bpffs) {
                mount(
                    Some("bpf"),
                    &self.bpffs,
                    Some("bpf"),
                    MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
                    Some("mode=0700"),
                )
                .map_err(|e| none(e.into()))?;
            }
        }
        let root = self.root();
        match folder::make(&root) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && root.is_dir() => {}
            made => made.map_err(|e| load_errors::pins(&root, "make", &e))?,
        }
        fs::set_permissions(&root, fs::Permissions::from_mode(0o700))
            .map_err(|e| load_errors::pins(&root, "protect", &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::mount::umount;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn without_a_folder_to_mount_on_there_is_no_bpf_file_system() {
        let scratch = tempfile::tempdir().expect("a folder");
        let missing = Pins::at(&scratch.path().join("bpf"));
        let refused = missing.prepare().expect_err("nothing to mount on");
        assert_eq!(refused.code.0, "E0765");
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
                    pins.prepare()
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
