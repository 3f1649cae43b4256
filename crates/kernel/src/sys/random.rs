//! Random numbers that outsiders cannot predict.

use std::io;

/// Draws numbers for secrets from the kernel's generator. It waits until the generator is unpredictable, which takes a
/// moment when a machine has just started.
///
/// # Errors
/// The system call is refused, by a sandbox perhaps. Nothing else is as good: no clock takes its place.
pub fn random_numbers<const COUNT: usize>() -> io::Result<[u64; COUNT]> {
    let mut numbers = [0; COUNT];
    for number in &mut numbers {
        *number = random_number()?;
    }
    Ok(numbers)
}

fn random_number() -> io::Result<u64> {
    let mut bytes = [0u8; 8];
    loop {
        // SAFETY: the memory is of the given length. The kernel returns so few bytes as a whole.
        let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        if got == bytes.len() as isize {
            return Ok(u64::from_ne_bytes(bytes));
        }
        let error = io::Error::last_os_error();
        // After a signal the call is repeated.
        if got >= 0 || error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn numbers_differ() {
        let [a, b] = random_numbers().expect("numbers");
        assert_ne!(a, b);
        assert_ne!(random_numbers().expect("numbers"), [a, b]);
    }

    #[test]
    fn without_the_generator_there_are_no_numbers() {
        let refused = thread::spawn(|| {
            refuse_getrandom();
            random_numbers::<2>().map_err(|error| error.raw_os_error())
        });
        let refused = refused.join().expect("it ends");
        assert_eq!(refused, Err(Some(libc::EPERM)));
    }

    /// Makes the kernel refuse `getrandom` to this thread.
    fn refuse_getrandom() {
        const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        let step = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
        let mut steps = [
            // The number of the call is first in `struct seccomp_data`.
            step(LOAD, 0, 0),
            step(JUMP_IF_EQUAL, 1, libc::SYS_getrandom as u32),
            step(RETURN, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
            step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog {
            len: steps.len() as u16,
            filter: steps.as_mut_ptr(),
        };
        // SAFETY: the program and its steps live until the kernel has copied them.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
                | libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                )
        };
        assert_eq!(done, 0, "{}", io::Error::last_os_error());
    }
}
