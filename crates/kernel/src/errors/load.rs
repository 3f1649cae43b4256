//! Loading an object, and the rights it takes.

use crate::memory::{MapNeed, readable};
use diag::{Diagnostic, counted, system_message};
use host::errors::left_alone;
use host::safe_dir::Refused;
use nix::libc;
use std::io;
use std::path::Path;

/// The capabilities that loading and attaching a program takes.
const NEEDED: &str = "CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON";

/// The process may not use BPF. In a user namespace it has capabilities that do not count for that.
pub fn not_permitted(what: &str, missing: &[&str], in_user_namespace: bool) -> Box<Diagnostic> {
    let granted = format!("run it as root, or give it {NEEDED}");
    let (lacks, remedy) = if in_user_namespace {
        (
            "it takes capabilities of the machine, and those of this process are of a user namespace"
                .to_string(),
            "run it outside the user namespace, as root of the machine".to_string(),
        )
    } else if missing.is_empty() {
        (
            "a security policy forbids it although the capabilities are there".to_string(),
            granted,
        )
    } else {
        (
            format!("this process lacks {}", missing.join(", ")),
            granted,
        )
    };
    let message = format!("not permitted to {what}: {lacks}");
    Diagnostic::failure(
        "E0760",
        message,
        format!("{remedy}; `onpath test --target interp` needs no rights"),
    )
}

/// The kernel did not take the object, and it was not the verifier.
pub fn not_loaded(error: &io::Error, messages: &str) -> Box<Diagnostic> {
    let first = messages.lines().map(str::trim).find(|l| !l.is_empty());
    let why = system_message(error);
    let because = first.map_or_else(|| why.clone(), |l| format!("{why} ({l})"));
    let help = match error.raw_os_error() {
        Some(libc::ENOMEM | libc::ENOSPC) => {
            "the kernel has no memory left for it, or the limit of this process's control group is reached: free some, or give tables a smaller size"
        }
        Some(libc::EAGAIN | libc::EINTR) => {
            "a signal came while the kernel verified the program: run the command again"
        }
        Some(libc::EMFILE | libc::ENFILE) => {
            "`ulimit -n` raises the number of files, programs and maps that a process may have open"
        }
        _ => {
            "`onpath doctor` reports what this kernel supports; `onpath run --verbose` shows all messages"
        }
    };
    Diagnostic::failure(
        "E0761",
        format!("the kernel did not load the program: {because}"),
        help,
    )
}

/// The kernel is older than any that programs run on, and lacks these helpers.
pub fn too_old((major, minor): (u32, u32), lacks: &[&str]) -> Box<Diagnostic> {
    let (floor_major, floor_minor) = bpf::features::FLOOR;
    let problem = match lacks.split_last() {
        None => format!("Onpath is not tested on Linux {major}.{minor}"),
        Some((only, [])) => format!("Linux {major}.{minor} lacks {only}"),
        Some((last, rest)) => format!("Linux {major}.{minor} lacks {} and {last}", rest.join(", ")),
    };
    Diagnostic::failure(
        "E0768",
        format!("{problem}; Onpath needs Linux {floor_major}.{floor_minor}"),
        "the interpreter runs programs anywhere: `onpath test --target interp`; `onpath build --kernel 6.1` makes objects for another machine",
    )
}

/// A program's maps need more memory than is free, or than was allowed.
pub fn too_much_memory(
    largest: &MapNeed,
    needed: u64,
    limit: u64,
    is_allowed: bool,
) -> Box<Diagnostic> {
    let what = match largest.role {
        "" => format!("map `{}`", largest.name),
        role => format!("{} `{}`", role.replace('_', " "), largest.name),
    };
    let full = largest.need.full;
    let alone = format!(
        "{what} with {} takes {}",
        counted(largest.entries, "entry"),
        readable(full)
    );
    let all = match readable(needed) == readable(full) {
        true => alone,
        false => format!(
            "the program's maps take {}, of which {alone}",
            readable(needed)
        ),
    };
    let free = match is_allowed {
        true => format!("but `--allow-memory` allows {}", readable(limit)),
        false => format!("but {} is free", readable(limit)),
    };
    Diagnostic::failure(
        "E0767",
        format!("{all}, {free}"),
        format!(
            "give it a smaller size; `onpath build --report` shows what each map takes, and `onpath run \
             --allow-memory {}` loads it all the same",
            needed.div_ceil(1 << 30).to_string() + "G"
        ),
    )
}

/// A map that the description names is not in the object, or has another size.
pub fn map_differs(name: &str, how: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0762",
        format!("the object and its description disagree about map `{name}`: {how}"),
        "build both again with the same Onpath; files of different builds were mixed",
    )
}

/// The object has no program of the name the description gives.
pub fn no_program(name: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0763",
        format!("the object holds no program `{name}`"),
        "build it again with `onpath build`",
    )
}

/// The program's own entries of a table could not be written to its maps.
pub fn own_entries(table: &str, error: &str) -> Box<Diagnostic> {
    let what = format!("entries of table `{table}`");
    let help = "a larger `size` for the table may be needed";
    initial_state(&what, error, help)
}

/// A port could not be written to the program's maps.
pub fn own_port(port: u32, interface: u32, error: &io::Error) -> Box<Diagnostic> {
    let what = format!("port {port} (interface {interface})");
    let help = "`ip link` lists the interfaces of this network namespace with their numbers";
    initial_state(&what, &system_message(error), help)
}

/// Lack of random numbers for the secret key of hashes.
pub fn no_random_numbers(error: &io::Error) -> Box<Diagnostic> {
    let help = "a sandbox may forbid the system call `getrandom`; without it outsiders could choose flows that evict others";
    initial_state("hash key", &system_message(error), help)
}

fn initial_state(what: &str, error: &str, help: &str) -> Box<Diagnostic> {
    let message = format!("the program's own {what} could not be set: {error}");
    Diagnostic::failure("E0764", message, help)
}

/// Missing BPF file system that could not be mounted either.
pub fn no_bpffs(path: &Path, error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0765",
        format!(
            "no BPF file system at `{}`, and mounting one failed: {}",
            path.display(),
            system_message(error)
        ),
        format!(
            "as root: `mount -t bpf bpf {}`; the kernel needs CONFIG_BPF_SYSCALL, and a container the host's mount or CAP_SYS_ADMIN",
            path.display()
        ),
    )
}

/// A file of Onpath's in the BPF file system could not be made, read or removed.
pub fn pins(path: &Path, what: &str, error: &io::Error) -> Box<Diagnostic> {
    if let Some(refused) = Refused::of(error) {
        return left_alone(refused);
    }
    Diagnostic::failure(
        "E0766",
        format!(
            "could not {what} `{}`: {}",
            path.display(),
            system_message(error)
        ),
        match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem => {
                "the BPF file system is mounted read-only: `mount -o remount,rw /sys/fs/bpf` as root, or give the container a writable one"
            }
            io::ErrorKind::OutOfMemory | io::ErrorKind::StorageFull => {
                "the kernel has no memory left for it: free some, and run the command again"
            }
            _ => "run it as the user who loaded the program, usually root",
        },
    )
}
