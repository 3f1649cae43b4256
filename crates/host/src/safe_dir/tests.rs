//! Tests of safe folders, in temporary folders of their own.

use super::*;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};

fn scratch() -> (tempfile::TempDir, Dir) {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = Dir::at(folder.path()).expect("it is ours");
    (folder, dir)
}

fn why<T: std::fmt::Debug>(result: io::Result<T>) -> Option<Why> {
    let error = result.expect_err("it is refused");
    Refused::of(&error).map(|refused| refused.why)
}

#[test]
fn links_are_not_followed() {
    let (folder, dir) = scratch();
    fs::create_dir(folder.path().join("real")).expect("room");
    fs::write(folder.path().join("file"), "text").expect("room");
    symlink("real", folder.path().join("link")).expect("room");
    symlink("file", folder.path().join("to-file")).expect("room");
    assert_eq!(why(dir.open_dir("link")), Some(Why::Link));
    let above = Given::open(folder.path()).expect("it is there");
    assert_eq!(why(above.open_dir("link")), Some(Why::Link));
    assert_eq!(why(dir.open_file("to-file")), Some(Why::Link));
    assert_eq!(why(dir.open_or_make_file("to-file")), Some(Why::Link));
    assert!(dir.open_pin("to-file").is_err());
    assert!(dir.make_file("to-file").is_err());
    dir.remove_file("link").expect("the link goes");
    assert!(folder.path().join("real").is_dir());
    // A user's path may hold links.
    Dir::at(folder.path()).expect("it is ours");
    let kinds: Vec<_> = dir.entries().expect("reads").into_iter().collect();
    let kinds: Vec<_> = kinds.iter().map(|e| (e.name.to_str(), e.kind)).collect();
    assert_eq!(
        kinds,
        [
            (Some("file"), FileKind::File),
            (Some("real"), FileKind::Folder),
            (Some("to-file"), FileKind::Link)
        ]
    );
}

#[test]
fn a_name_is_no_path() {
    let (folder, dir) = scratch();
    let inside = dir.make_dir("inside").expect("room");
    fs::write(folder.path().join("file"), "text").expect("room");
    for name in ["../file", "..", ".", "", "/etc", "a/b"] {
        assert!(inside.remove_file(name).is_err(), "{name}");
        assert!(inside.remove_dir(name).is_err(), "{name}");
        assert!(inside.make_dir(name).is_err(), "{name}");
        assert!(inside.open_dir(name).is_err(), "{name}");
        assert!(inside.open_file(name).is_err(), "{name}");
        assert!(inside.rename("x", name).is_err(), "{name}");
        assert!(inside.path_of_new(name).is_err(), "{name}");
        assert!(!inside.has(name), "{name}");
    }
    assert!(folder.path().join("file").exists());
}

#[test]
fn what_others_may_write_to_is_refused() {
    let (folder, dir) = scratch();
    let open = folder.path().join("open");
    fs::create_dir(&open).expect("room");
    for mode in [0o770, 0o702, 0o1777] {
        fs::set_permissions(&open, fs::Permissions::from_mode(mode)).expect("ours");
        assert_eq!(why(dir.open_dir("open")), Some(Why::Writable(mode)));
        assert_eq!(why(Dir::at(&open)), Some(Why::Writable(mode)));
        let above = Given::open(&open).expect("whoever may write to it");
        above.make_dir("ours").expect("room");
        let ours = above.open_dir("ours").expect("it is ours");
        above.remove_dir("ours", &ours).expect("it is empty");
    }
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).expect("ours");
    let dir = dir.open_dir("open").expect("others only read it");
    dir.close_to_others().expect("ours");
    let mode = fs::metadata(&open).expect("there").permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
}

#[test]
fn files_that_are_made_are_for_their_user_alone() {
    let (folder, dir) = scratch();
    dir.make_file("file").expect("room");
    dir.open_or_make_file("other").expect("room");
    for name in ["file", "other"] {
        let about = fs::metadata(folder.path().join(name)).expect("it is there");
        assert_eq!(about.permissions().mode() & 0o077, 0);
        dir.open_file(name).expect("it is ours");
    }
    assert!(dir.make_file("file").is_err(), "it is there already");
    let wide = fs::Permissions::from_mode(0o666);
    fs::set_permissions(folder.path().join("file"), wide).expect("ours");
    assert_eq!(why(dir.open_file("file")), Some(Why::Writable(0o666)));
    nix::unistd::mkfifo(&folder.path().join("fifo"), nix::sys::stat::Mode::S_IRWXU).expect("room");
    assert_eq!(why(dir.open_file("fifo")), Some(Why::Unknown));
    assert_eq!(why(dir.open_pin("fifo").map(|_| ())), Some(Why::Unknown));
}

#[test]
fn a_folder_that_was_replaced_is_not_removed() {
    let (folder, dir) = scratch();
    let above = Given::open(folder.path()).expect("it is there");
    let ours = above.make_dir("ours").expect("room");
    dir.rename("ours", "elsewhere").expect("ours");
    fs::create_dir(folder.path().join("ours")).expect("room");
    assert_eq!(why(above.remove_dir("ours", &ours)), Some(Why::Replaced));
    assert!(folder.path().join("ours").is_dir());
}

#[test]
fn a_message_shows_no_control_characters() {
    let refused = Refused::new("/a\u{1b}[31m\nb".into(), Why::Link);
    assert_eq!(
        refused.to_string(),
        "`/a\u{fffd}[31m\u{fffd}b` is a symbolic link"
    );
}

#[test]
fn a_file_that_is_replaced_is_never_a_links_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    fs::write(&target, "precious").expect("room");
    symlink(&target, &link).expect("room");
    replace_file(&link, b"new").expect("room");
    assert_eq!(fs::read(&target).expect("there"), b"precious");
    assert_eq!(fs::read(&link).expect("there"), b"new");
    assert!(!link.is_symlink());
    replace_file(&link, b"newer").expect("room");
    assert_eq!(fs::read(&link).expect("there"), b"newer");
    fs::create_dir(folder.path().join("inside")).expect("room");
    replace_file(&folder.path().join("inside"), b"").expect_err("it is a folder");
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("room");
    replace_file(&socket, b"").expect_err("it is a socket");
    let to_socket = folder.path().join("to_socket");
    std::os::unix::fs::symlink(&socket, &to_socket).expect("room");
    replace_file(&to_socket, b"").expect_err("it leads to a socket");
    let names = fs::read_dir(folder.path()).expect("there").count();
    assert_eq!(names, 5, "nothing else is left");
}

#[test]
fn a_new_file_has_its_name_only_once_it_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let names = || fs::read_dir(folder.path()).expect("there").count();
    fs::write(&path, "precious").expect("room");
    let mut given_up = NewFile::begin(&path).expect("room");
    given_up.write_all(b"ne").expect("room");
    drop(given_up);
    assert_eq!(fs::read(&path).expect("there"), b"precious");
    assert_eq!(names(), 1);
    let mut whole = NewFile::begin(&path).expect("room");
    whole.write_all(b"new").expect("room");
    assert_eq!(fs::read(&path).expect("there"), b"precious");
    whole.put().expect("room");
    assert_eq!(fs::read(&path).expect("there"), b"new");
    assert_eq!(names(), 1);
    // Bytes for a pipe are written at once.
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let to = format!("/proc/self/fd/{}", writer.as_raw_fd());
    let mut piped = NewFile::begin(Path::new(&to)).expect("opens");
    piped.write_all(b"new").expect("room");
    piped.put().expect("nothing to do");
    drop(writer);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("reads");
    assert_eq!(bytes, b"new");
    // A link to a process's open file must not be replaced.
    let link = folder.path().join("stdout");
    let open = fs::File::open(&path).expect("there");
    symlink(format!("/proc/self/fd/{}", open.as_raw_fd()), &link).expect("room");
    replace_file(&link, b"").expect_err("it is a link of a process");
    assert!(link.is_symlink());
}

#[test]
fn a_folder_is_cleared_without_what_its_links_lead_to() {
    let (folder, dir) = scratch();
    let full = dir.make_dir("full").expect("room");
    let inner = full.make_dir("inner").expect("room");
    inner.make_file("file").expect("room");
    fs::write(folder.path().join("outside"), "precious").expect("room");
    symlink("../../outside", folder.path().join("full/inner/link")).expect("room");
    symlink("..", folder.path().join("full/up")).expect("room");
    full.clear().expect("ours");
    assert_eq!(full.entries().expect("reads"), []);
    assert!(dir.has("outside"));
}

#[test]
fn a_folder_for_temporary_files_is_sticky_or_ours() {
    let (folder, _) = scratch();
    let open = folder.path().join("open");
    fs::create_dir(&open).expect("room");
    let keeps = |mode| {
        fs::set_permissions(&open, fs::Permissions::from_mode(mode)).expect("ours");
        Given::open(&open).expect("there").check_keeps()
    };
    keeps(0o1777).expect("sticky");
    keeps(0o755).expect("ours");
    assert_eq!(why(keeps(0o777)), Some(Why::Writable(0o777)));
}
