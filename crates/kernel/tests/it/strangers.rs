//! Links, files and folders of other users at paths that Onpath uses: none is followed or removed.
//!
//! Each test runs in a mount namespace in which everything but a file system of its own is read-only. So a mistake in
//! the code under test removes nothing but the test's own files.

use kernel::pins::Pins;
use net::netns::NetNs;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

/// A user who is not root.
const NOBODY: u32 = 65534;

/// File system of a test's own, the only one that can be written to.
struct Scratch {
    root: PathBuf,
}

impl Scratch {
    /// Makes one, and a BPF file system in it, for this thread alone.
    fn new(at: &Path) -> Scratch {
        unshare(CloneFlags::CLONE_NEWNS).expect("this test needs root");
        all_read_only();
        mount_new("tmpfs", at);
        let scratch = Scratch {
            root: at.to_owned(),
        };
        fs::create_dir(scratch.bpffs()).expect("room");
        fs::create_dir(scratch.victim()).expect("room");
        fs::create_dir(scratch.victim().join("folder")).expect("room");
        fs::write(scratch.victim().join("folder/file"), "precious").expect("room");
        fs::write(scratch.victim().join("record"), "precious").expect("room");
        mount_new("bpf", &scratch.bpffs());
        fs::set_permissions(at, fs::Permissions::from_mode(0o755)).expect("ours");
        fs::set_permissions(scratch.bpffs(), fs::Permissions::from_mode(0o1777)).expect("ours");
        for elsewhere in ["/", "/tmp", "/run", "/sys", "/etc"] {
            let file = Path::new(elsewhere).join("onpath-strangers");
            let error = fs::write(file, "").expect_err("it is read-only");
            assert!(
                [Some(libc::EROFS), Some(libc::EACCES), Some(libc::EPERM)]
                    .contains(&error.raw_os_error()),
                "{elsewhere}: {error}"
            );
        }
        scratch
    }

    fn bpffs(&self) -> PathBuf {
        self.root.join("bpf")
    }

    /// Returns a folder of somebody's, with something in it.
    fn victim(&self) -> PathBuf {
        self.root.join("victim")
    }

    fn pins(&self) -> Pins {
        Pins::at(&self.bpffs())
    }

    /// Makes Onpath's folder, of a user and with permissions.
    fn make_folder(&self, user: u32, mode: u32) -> PathBuf {
        let folder = self.bpffs().join("onpath");
        fs::create_dir(&folder).expect("room");
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("ours");
        chown(&folder, Some(user), Some(user)).expect("this test needs root");
        folder
    }

    #[track_caller]
    fn is_untouched(&self) {
        for file in ["folder/file", "record"] {
            let text = fs::read_to_string(self.victim().join(file)).expect("it is there");
            assert_eq!(text, "precious");
        }
    }

    /// Checks that every command that looks at pins or changes them fails with this code, and changes nothing.
    #[track_caller]
    fn all_refused(&self, code: &str) {
        let pins = self.pins();
        let results = [
            pins.names().map(|_| ()),
            pins.begin("new").map(|_| ()),
            pins.remove("trap"),
            pins.record("trap").map(|_| ()),
            pins.open("trap", None).map(|_| ()),
            pins.clear_all().map(|_| ()),
        ];
        for (number, result) in results.into_iter().enumerate() {
            let refused = result.expect_err("it is refused");
            assert_eq!(refused.code.0, code, "{number}: {}", refused.message);
        }
        pins.mend().expect("it is the command's to report");
        self.is_untouched();
    }
}

/// Makes all mounts of this thread's namespace read-only.
fn all_read_only() {
    /// `struct mount_attr`
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    const MOUNT_ATTR_RDONLY: u64 = 1;
    let attributes = Attributes {
        set: MOUNT_ATTR_RDONLY,
        clear: 0,
        propagation: libc::MS_PRIVATE,
        user_namespace: 0,
    };
    // SAFETY: the path is a C string, the attributes are of the given size, and both outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

fn mount_new(kind: &str, at: &Path) {
    mount(Some("none"), at, Some(kind), MsFlags::empty(), None::<&str>).expect("mounts");
}

/// Runs a test in namespaces of its own, mount and network.
fn isolated(work: impl FnOnce(&Scratch) + Send) {
    let folder = tempfile::tempdir().expect("a folder");
    let ns = NetNs::new().expect("this test needs root");
    ns.run(|| {
        work(&Scratch::new(folder.path()));
        Ok(())
    })
    .expect("runs");
}

#[test]
fn root_uses_no_folder_of_a_user() {
    isolated(|scratch| {
        let folder = scratch.make_folder(NOBODY, 0o700);
        symlink(scratch.victim(), folder.join("trap")).expect("room");
        scratch.all_refused("E0717");
        assert!(folder.join("trap").is_symlink(), "it is left alone");
    });
}

#[test]
fn a_folder_that_others_may_write_to_is_not_used() {
    isolated(|scratch| {
        let folder = scratch.make_folder(0, 0o770);
        symlink(scratch.victim(), folder.join("trap")).expect("room");
        scratch.all_refused("E0717");
    });
}

#[test]
fn a_link_in_place_of_the_folder_is_not_followed() {
    isolated(|scratch| {
        symlink(scratch.victim(), scratch.bpffs().join("onpath")).expect("room");
        scratch.all_refused("E0718");
    });
}

#[test]
fn a_file_system_that_is_mounted_on_the_folder_is_not_entered() {
    isolated(|scratch| {
        let folder = scratch.make_folder(0, 0o700);
        let bind = MsFlags::MS_BIND;
        mount(
            Some(&scratch.victim()),
            &folder,
            None::<&str>,
            bind,
            None::<&str>,
        )
        .expect("binds");
        scratch.all_refused("E0718");
    });
}

#[test]
fn what_is_not_onpaths_is_reported_and_left_alone() {
    isolated(|scratch| {
        let folder = scratch.make_folder(0, 0o700);
        let victim = scratch.victim();
        let make = |path: &str| {
            let path = folder.join(path);
            fs::create_dir_all(&path).expect("room");
            path
        };
        // In the folder itself, in one of an instance, and in one of a member.
        let links = [
            folder.join("trap"),
            make("left").join("member-0"),
            make("left").join("link-0-1"),
            make("left/member-1").join("next"),
            make("left/member-1").join("map-x"),
        ];
        for link in &links {
            symlink(&victim, link).expect("room");
        }
        // Names that Onpath never makes.
        let others = [
            make("left/notes"),
            make("left/member-1/notes"),
            make("with space"),
        ];
        // Another file system: a user's files, and one that looks like an instance's.
        let mounts = [make("bound"), make("inner/member-0")];
        for at in &mounts {
            let bind = MsFlags::MS_BIND;
            mount(Some(&victim), at, None::<&str>, bind, None::<&str>).expect("binds");
        }
        mount_new("bpf", &make("foreign"));
        let inside = make("foreign/member-0");
        make("garbage/member-0/taken");
        make("garbage/ending");

        let pins = scratch.pins();
        for _ in 0..2 {
            let refused = pins.mend().expect_err("it is reported");
            assert_eq!(refused.code.0, "E0718", "{}", refused.message);
            let refused = pins.clear_all().expect_err("it is reported");
            assert_eq!(refused.code.0, "E0718", "{}", refused.message);
            scratch.is_untouched();
            for link in &links {
                assert!(link.is_symlink(), "{}", link.display());
            }
            for other in others.iter().chain(&mounts).chain([&inside]) {
                assert!(other.is_dir(), "{}", other.display());
            }
            assert!(!folder.join("garbage").exists(), "what is Onpath's goes");
        }
        assert_eq!(pins.names().expect("reads"), [""; 0]);
        // It is in nobody's way.
        drop(pins.begin("new").expect("free"));
        assert!(!folder.join("new").exists());
        let refused = pins.begin("bound").expect_err("something is there");
        assert_eq!(refused.code.0, "E0718");
    });
}

#[test]
fn a_user_uses_a_folder_of_ones_own_and_none_of_another_user() {
    isolated(|scratch| {
        scratch.make_folder(NOBODY, 0o700);
        // Of this thread alone, which ends with the test.
        let become_user = |user: u32| {
            // SAFETY: takes no memory.
            let done = unsafe { libc::syscall(libc::SYS_setresuid, user, user, user) };
            assert_eq!(done, 0);
        };
        become_user(NOBODY);
        let pins = scratch.pins();
        assert_eq!(pins.names().expect("it is this user's"), [""; 0]);
        drop(pins.begin("mine").expect("it is this user's"));
        pins.clear_all().expect("it is this user's");
    });
}
