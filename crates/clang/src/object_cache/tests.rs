use super::*;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

const OBJECT: &[u8] = b"\x7fELF and the rest";

fn cache() -> (tempfile::TempDir, ObjectCache) {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = ObjectCache {
        folder: folder.path().join("objects"),
        most: MOST_BYTES,
    };
    (folder, cache)
}

fn named(name: &str) -> Key {
    Key(format!("{name:0>64}"))
}

fn source(text: &str) -> Source<'_> {
    Source {
        text,
        headers: &[],
        include_dirs: &[],
        defines: &[],
        effort: Effort::Full,
        jumps: Jumps::Short,
    }
}

fn key_of(source: Source<'_>, flags: &[&str]) -> Option<Key> {
    let clang = crate::find().expect("these tests need clang");
    key(&clang, flags, source)
}

#[test]
fn what_was_kept_is_found_under_its_key_alone() {
    let (_folder, cache) = cache();
    assert_eq!(cache.get(&named("01")), None);
    cache.put(&named("01"), OBJECT);
    assert_eq!(cache.get(&named("01")).as_deref(), Some(OBJECT));
    assert_eq!(cache.get(&named("02")), None);
}

#[test]
fn everything_that_an_object_depends_on_is_in_its_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let p4 = folder.path().join("a.p4");
    let with_line = format!("#line 1 \"{}\"\nint a;\n", p4.display());
    let keys = || {
        [
            key_of(source("int a;"), &["-g"]),
            key_of(source("int b;"), &["-g"]),
            key_of(source("int a;"), &["-O3"]),
            key_of(
                Source {
                    jumps: Jumps::Long,
                    ..source("int a;")
                },
                &["-g"],
            ),
            key_of(
                Source {
                    effort: Effort::Reduced,
                    ..source("int a;")
                },
                &["-g"],
            ),
            key_of(
                Source {
                    defines: &["X"],
                    ..source("int a;")
                },
                &["-g"],
            ),
            key_of(
                Source {
                    headers: &[("h", "1")],
                    ..source("int a;")
                },
                &["-g"],
            ),
            key_of(
                Source {
                    headers: &[("h", "2")],
                    ..source("int a;")
                },
                &["-g"],
            ),
            key_of(source(&with_line), &["-g"]),
        ]
        .map(|key| key.expect("a key").0)
    };
    let before = keys();
    assert_eq!(before, keys());
    assert_eq!(BTreeSet::from(before.clone()).len(), before.len());
    fs::write(&p4, "// another line\n").expect("written");
    let after = keys();
    assert_eq!(before[..8], after[..8]);
    assert_ne!(before[8], after[8]);
}

#[test]
fn a_source_with_the_users_own_headers_has_no_key() {
    let dirs = [PathBuf::from("/usr/include")];
    let own = Source {
        include_dirs: &dirs,
        ..source("int a;")
    };
    assert_eq!(key_of(own, &[]), None);
}

#[test]
fn an_entry_that_was_cut_changed_or_renamed_is_no_object() {
    let (_folder, cache) = cache();
    let path = |name: &str| cache.folder.join(named(name).0);
    cache.put(&named("01"), OBJECT);
    let entry = fs::read(path("01")).expect("the entry");
    let mut changed = entry.clone();
    changed[5] ^= 1;
    for bytes in [&b""[..], OBJECT, &entry[..entry.len() - 1], &changed] {
        fs::write(path("01"), bytes).expect("written");
        assert_eq!(cache.get(&named("01")), None);
        // It is gone, so that the next one is written.
        cache.put(&named("01"), OBJECT);
        assert_eq!(cache.get(&named("01")).as_deref(), Some(OBJECT));
    }
    fs::rename(path("01"), path("02")).expect("renamed");
    assert_eq!(cache.get(&named("02")), None);
}

#[test]
fn concurrent_writers_leave_complete_objects() {
    let (_folder, cache) = cache();
    let big = [OBJECT, &[7; 1 << 16]].concat();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    cache.put(&named("01"), &big);
                    assert_eq!(cache.get(&named("01")).as_deref(), Some(&big[..]));
                }
            });
        }
    });
    let files = fs::read_dir(&cache.folder).expect("the folder").count();
    assert_eq!(files, 1);
}

#[test]
fn what_was_not_used_for_longest_goes_first_and_so_do_the_files_of_killed_writers() {
    let (_folder, cache) = cache();
    let day = |number: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * number);
    for name in ["aa", "bb", "cc"] {
        cache.put(&named(name), OBJECT);
    }
    for name in ["unfinished-x", "unfinished-y", "notes"] {
        fs::write(cache.folder.join(name), OBJECT).expect("written");
    }
    let aged = [("aa", 3), ("bb", 1), ("cc", 2)].map(|(name, used)| (named(name).0, used));
    let others = [("unfinished-x", 1), ("notes", 1)].map(|(name, used)| (name.to_string(), used));
    for (name, used) in aged.into_iter().chain(others) {
        let file = fs::File::open(cache.folder.join(name)).expect("the file");
        file.set_modified(day(used)).expect("set");
    }
    let size = (OBJECT.len() + CHECKSUM_BYTES) as u64;
    cache
        .sweep(size * 3, size, SystemTime::now())
        .expect("swept");
    let names = || {
        let files = fs::read_dir(&cache.folder).expect("the folder");
        let names = files.map(|f| f.expect("a file").file_name().into_string().expect("text"));
        names.collect::<BTreeSet<_>>()
    };
    // A file of somebody else's stays, however old it is.
    let with_others = |keys: &[&str]| {
        let keys = keys.iter().map(|name| named(name).0);
        keys.chain(["unfinished-y", "notes"].map(String::from))
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(names(), with_others(&["aa", "bb", "cc"]));
    cache
        .sweep(size * 2, size, SystemTime::now())
        .expect("swept");
    assert_eq!(names(), with_others(&["aa"]));
}

#[test]
fn what_others_may_have_written_is_not_used() {
    let (_folder, cache) = cache();
    cache.put(&named("01"), OBJECT);
    let permit = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    };
    let file = cache.folder.join(named("01").0);
    permit(&file, 0o622);
    assert_eq!(cache.get(&named("01")), None);
    permit(&file, 0o644);
    assert!(cache.get(&named("01")).is_some());
    std::os::unix::fs::symlink(&file, cache.folder.join(named("02").0)).expect("room");
    assert_eq!(cache.get(&named("02")), None, "a link");
    permit(&cache.folder, 0o777);
    assert_eq!(cache.get(&named("01")), None);
    cache.put(&named("03"), OBJECT);
    permit(&cache.folder, 0o755);
    assert_eq!(cache.get(&named("03")), None, "nothing was written");
}
