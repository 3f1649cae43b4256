//! Reader of files that users, bundles and programs name. All such files are read here.
//!
//! A name may be malicious. A device has no end, and opening one may have an effect. A pipe waits for a writer, and
//! reading a file that the kernel makes may wait forever. So only two kinds are read: regular files on file systems
//! that store what is written to them, and streams that the user hands over. Those are standard input (`-`), and pipes
//! without a name, such as those of `<(...)`. The kind is known before the file is opened, and at most [`LARGEST`]
//! bytes of it are kept.

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::statfs::{FsType, fstatfs};
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Greatest size of a file that is read as a whole, whatever its kind: 64 MiB.
pub const LARGEST: u64 = 64 << 20;

/// Name of standard input.
pub const STANDARD_INPUT: &str = "-";

/// Permission to read a stream by a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Streams {
    /// Allowed, for names that the user gives on the command line.
    Allowed,
    /// Refused, for names that are in files.
    Refused,
}

/// Reads all bytes of a file, or of a stream.
///
/// # Errors
///
/// It cannot be opened or read ([`ErrorKind::NotFound`] if it does not exist), is of a kind that is not read, or has
/// more than [`LARGEST`] bytes.
pub fn read(path: &Path, streams: Streams) -> io::Result<Vec<u8>> {
    let Opened { file, length } = open(path, streams)?;
    if length > LARGEST {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(length as usize);
    // A stream's length is known only once it is read, and a file may grow meanwhile.
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(too_large()),
        false => Ok(bytes),
    }
}

/// Returns the text of a file that the user named, or of standard input. An error is a sentence with the reason.
pub fn read_text(path: &Path) -> Result<String, String> {
    let shown = match path == Path::new(STANDARD_INPUT) {
        true => "standard input".to_owned(),
        false => format!("`{}`", path.display()),
    };
    let unreadable = |reason: String| format!("cannot read {shown}: {reason}");
    let bytes = read(path, Streams::Allowed).map_err(|error| match error.kind() {
        ErrorKind::NotFound => unreadable("there is no such file".into()),
        _ => unreadable(diag::system_message(&error)),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..at];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        unreadable(format!("line {line} is not UTF-8 text"))
    })
}

/// Opens a file or a stream of any length, which is read piece by piece: a capture.
pub fn open_stream(path: &Path) -> io::Result<File> {
    open(path, Streams::Allowed).map(|opened| opened.file)
}

/// Returns true if both names are of one regular file. Either may be the name of standard input.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let about = |path: &Path| {
        let is_input = path == Path::new(STANDARD_INPUT);
        let path = if is_input {
            Path::new("/proc/self/fd/0")
        } else {
            path
        };
        let about = fs::metadata(path).ok().filter(|about| about.is_file())?;
        Some((about.dev(), about.ino()))
    };
    about(one).is_some_and(|one| about(other) == Some(one))
}

/// Fails if a file that another program will read is too large, or of a kind that is not read.
pub fn check(path: &Path) -> io::Result<()> {
    match open(path, Streams::Refused)?.length > LARGEST {
        true => Err(too_large()),
        false => Ok(()),
    }
}

/// Open file of a kind that is read.
struct Opened {
    file: File,
    /// Length in bytes; zero for a stream.
    length: u64,
}

fn open(path: &Path, streams: Streams) -> io::Result<Opened> {
    if streams == Streams::Allowed && path == Path::new(STANDARD_INPUT) {
        let file = File::from(std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?);
        return Ok(Opened { file, length: 0 });
    }
    // This opens no device and waits for nobody: the descriptor only serves to query the file.
    let named = OpenOptions::new()
        .read(true)
        .custom_flags(OFlag::O_PATH.bits())
        .open(path)?;
    let about = named.metadata()?;
    let file_system = fstatfs(&named)?.filesystem_type();
    let is_stream = about.file_type().is_fifo() && file_system == PIPES;
    if let Some(reason) = refusal(about.file_type(), file_system) {
        let reason = match streams {
            Streams::Allowed if is_stream => None,
            Streams::Allowed if about.file_type().is_fifo() => {
                Some(format!("{reason}; `-` reads standard input"))
            }
            _ => Some(reason.to_owned()),
        };
        if let Some(reason) = reason {
            return Err(io::Error::new(ErrorKind::InvalidInput, reason));
        }
    }
    // Opens the same file, whatever has its name by now.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits())
        .open(format!("/proc/self/fd/{}", named.as_raw_fd()))?;
    if is_stream {
        // Its writer may take its time.
        fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
        return Ok(Opened { file, length: 0 });
    }
    Ok(Opened {
        file,
        length: about.len(),
    })
}

/// Returns the reason why a file of this kind is not read, if there is one.
fn refusal(kind: FileType, file_system: FsType) -> Option<&'static str> {
    match kind {
        _ if kind.is_dir() => Some("it is a directory"),
        _ if kind.is_fifo() => Some("it is a pipe, not a regular file"),
        _ if !kind.is_file() => Some("it is a device or a socket, not a regular file"),
        _ if KERNEL.contains(&file_system) => {
            Some("it is a file that the kernel makes while it is read, not a regular file")
        }
        _ => None,
    }
}

/// File system of pipes without a name (`PIPEFS_MAGIC`).
const PIPES: FsType = FsType(0x5049_5045);

/// File systems whose files the kernel makes: proc, sysfs, debugfs, tracefs, cgroup and cgroup2, BPF, securityfs,
/// selinuxfs, configfs, efivarfs and pstore (`linux/magic.h`).
const KERNEL: [FsType; 12] = [
    FsType(0x9fa0),
    FsType(0x6265_6572),
    FsType(0x6462_6720),
    FsType(0x7472_6163),
    FsType(0x0027_e0eb),
    FsType(0x6367_7270),
    FsType(0xcafe_4a11),
    FsType(0x7363_6673),
    FsType(0xf97c_ff8c),
    FsType(0x6265_6570),
    FsType(0xde5e_81e4),
    FsType(0x6165_676c),
];

fn too_large() -> io::Error {
    let most = LARGEST >> 20;
    io::Error::new(
        ErrorKind::FileTooLarge,
        format!("it is larger than {most} MiB"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use std::io::Write;
    use std::time::{Duration, Instant};

    /// Returns the reason why a file is not read. Asserts that it was found without waiting.
    fn refused(path: &Path, streams: Streams) -> String {
        let begun = Instant::now();
        let error = read(path, streams).expect_err("refused");
        assert!(begun.elapsed() < Duration::from_secs(1), "{path:?}");
        error.to_string()
    }

    #[test]
    fn devices_sockets_and_files_of_the_kernel_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("socket");
        let _open = std::os::unix::net::UnixListener::bind(&socket).expect("room");
        let device = "it is a device or a socket, not a regular file";
        let made = "it is a file that the kernel makes while it is read, not a regular file";
        let files = [
            (Path::new("/dev/zero"), device),
            (Path::new("/dev/tty"), device),
            (&socket, device),
            (Path::new("/proc/self/pagemap"), made),
            (Path::new("/proc/self/mem"), made),
            (Path::new("/sys/devices/system/cpu/possible"), made),
            (folder.path(), "it is a directory"),
        ];
        for (path, reason) in files {
            for streams in [Streams::Allowed, Streams::Refused] {
                assert_eq!(refused(path, streams), reason, "{path:?}");
            }
        }
        // A link to one is one.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("room");
        assert_eq!(refused(&link, Streams::Allowed), device);
        let absent = folder.path().join("absent");
        let error = read(&absent, Streams::Allowed).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_file_is_the_same_under_all_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let [one, other, link, hard] =
            ["one", "other", "link", "hard"].map(|name| folder.path().join(name));
        std::fs::write(&one, "").expect("room");
        std::fs::write(&other, "").expect("room");
        std::os::unix::fs::symlink(&one, &link).expect("room");
        std::fs::hard_link(&one, &hard).expect("room");
        assert!(is_same(&one, &one) && is_same(&one, &link) && is_same(&hard, &one));
        assert!(!is_same(&one, &other) && !is_same(&one, Path::new("absent")));
        let device = Path::new("/dev/null");
        assert!(
            !is_same(device, device),
            "it is not lost if it is written to"
        );
    }

    #[test]
    fn a_named_pipe_is_refused_and_nobody_waits_for_its_writer() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).expect("room");
        let reason = "it is a pipe, not a regular file";
        assert_eq!(refused(&pipe, Streams::Refused), reason);
        let remedy = format!("{reason}; `-` reads standard input");
        assert_eq!(refused(&pipe, Streams::Allowed), remedy);
        let begun = Instant::now();
        assert!(open_stream(&pipe).is_err() && check(&pipe).is_err());
        assert!(begun.elapsed() < Duration::from_secs(1));
    }

    #[test]
    fn more_than_the_limit_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("huge");
        let file = File::create(&path).expect("room");
        file.set_len(LARGEST + 1).expect("room");
        assert_eq!(refused(&path, Streams::Allowed), "it is larger than 64 MiB");
        assert!(check(&path).is_err());
        // A capture is not kept: it may have any length.
        assert!(open_stream(&path).is_ok());
        file.set_len(LARGEST).expect("room");
        let bytes = read(&path, Streams::Refused).expect("it fits");
        assert_eq!(bytes.len() as u64, LARGEST);
    }

    /// Reads this number of bytes through an anonymous pipe, as a shell makes one for `<(...)`. Returns the number of
    /// bytes that were read.
    fn through_a_pipe(bytes: usize, streams: Streams) -> Result<usize, String> {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let writing = std::thread::spawn(move || {
            // The reader has something to wait for, and leaves when the limit is reached.
            std::thread::sleep(Duration::from_millis(20));
            let _ = writer.write_all(&vec![b'\n'; bytes]);
        });
        let got = read(Path::new(&path), streams);
        drop(reader);
        writing.join().expect("it writes");
        got.map(|bytes| bytes.len()).map_err(|e| e.to_string())
    }

    #[test]
    fn a_pipe_without_a_name_is_read_to_the_limit() {
        assert_eq!(through_a_pipe(70_000, Streams::Allowed), Ok(70_000));
        assert_eq!(
            through_a_pipe(LARGEST as usize + 4096, Streams::Allowed),
            Err("it is larger than 64 MiB".into())
        );
        assert_eq!(
            through_a_pipe(3, Streams::Refused),
            Err("it is a pipe, not a regular file".into())
        );
    }

    #[test]
    fn what_is_no_text_is_reported_with_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        std::fs::write(&path, b"a\nb\xff").expect("room");
        let shown = path.display();
        assert_eq!(
            read_text(&path),
            Err(format!("cannot read `{shown}`: line 2 is not UTF-8 text"))
        );
        assert_eq!(
            read_text(Path::new("/dev/zero")),
            Err("cannot read `/dev/zero`: it is a device or a socket, not a regular file".into())
        );
    }
}
