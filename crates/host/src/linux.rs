//! The running kernel: its version, its clock, the memory that it gave this process, and a wait for the softirqs that
//! run now.

/// Returns the running kernel's version; (0, 0) if it is unreadable.
pub fn kernel_version() -> (u32, u32) {
    parse_version(&release()).unwrap_or((0, 0))
}

/// Returns the running kernel's release as `uname -r` prints it.
pub fn release() -> String {
    nix::sys::utsname::uname()
        .map(|u| u.release().to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn parse_version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Waits until every processor has left the softirq that it was in.
pub fn wait_for_softirqs() {
    const MEMBARRIER_CMD_GLOBAL: libc::c_int = 1;
    /// Much longer than a softirq takes.
    const LONGEST_SOFTIRQ: std::time::Duration = std::time::Duration::from_millis(50);
    // SAFETY: takes no memory.
    let refused = unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) } != 0;
    if refused {
        // A kernel with `nohz_full` has no such barrier.
        std::thread::sleep(LONGEST_SOFTIRQ);
    }
}

/// Returns the greatest amount of memory that this process had so far, in bytes.
pub fn peak_memory() -> u64 {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF);
    // The kernel counts in KiB.
    usage.map_or(0, |usage| usage.max_rss() as u64 * 1024)
}

/// Returns the kernel's id of this thread.
pub fn thread_id() -> u32 {
    nix::unistd::gettid().as_raw() as u32
}

/// Returns the time of the clock that BPF programs read: nanoseconds since the machine started.
pub fn monotonic_now() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the memory is a timespec. It cannot fail: every machine has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_as_distributions_write_them() {
        assert_eq!(parse_version("6.18.44-fc-v445"), Some((6, 18)));
        assert_eq!(parse_version("5.15.0-91-generic"), Some((5, 15)));
        assert_eq!(parse_version("6.1"), Some((6, 1)));
        assert_eq!(parse_version("unknown"), None);
    }
}
