//! Batched access to the elements of a map.

use super::{Map, Update, check};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use writers::memory::Partial;

/// Elements that one system call writes: few enough that a killed process dies soon.
const WRITTEN: usize = 1 << 15;
/// Elements that one system call reads at first; a hash map with a fuller bucket needs more.
const READ: usize = 4096;
/// The error of kernels whose map type has no batches (`ENOTSUPP`, which has no name in user space).
const NO_BATCHES: i32 = 524;

fn lacks_batches(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(NO_BATCHES | libc::EINVAL | libc::EOPNOTSUPP)
    )
}

fn wrong_length() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "keys and values are not whole elements of the map",
    )
}

impl Map {
    /// Stores elements in order, whether their keys are there or not. Keys and values are contiguous, without padding.
    /// Not for per-CPU maps.
    pub fn set_many(&self, keys: &[u8], values: &[u8]) -> Result<(), Partial> {
        let (key_size, value_size) = (self.info().key_size, self.info().value_size);
        let whole = self.count_of(keys)? * value_size == values.len() && !self.is_per_cpu();
        if !whole {
            return Err(Partial {
                done: 0,
                error: wrong_length(),
            });
        }
        let parts = keys
            .chunks(WRITTEN * key_size)
            .zip(values.chunks(WRITTEN * value_size));
        for (part, (keys, values)) in parts.enumerate() {
            let failed = |Partial { done, error }| Partial {
                done: part * WRITTEN + done,
                error,
            };
            self.set_part(keys, values).map_err(failed)?;
        }
        Ok(())
    }

    fn set_part(&self, keys: &[u8], values: &[u8]) -> Result<(), Partial> {
        let (key_size, value_size) = (self.info().key_size, self.info().value_size);
        let mut count = (keys.len() / key_size) as u32;
        let mut opts = libbpf_sys::bpf_map_batch_opts::default();
        opts.sz = size_of_val(&opts) as _;
        // SAFETY: there are `count` keys and values, which the kernel only reads.
        let code = unsafe {
            libbpf_sys::bpf_map_update_batch(
                self.as_fd().as_raw_fd(),
                keys.as_ptr().cast(),
                values.as_ptr().cast(),
                &mut count,
                &opts,
            )
        };
        let Err(error) = check(code) else {
            return Ok(());
        };
        if !lacks_batches(&error) {
            let done = count as usize;
            return Err(Partial { done, error });
        }
        let elements = keys
            .chunks_exact(key_size)
            .zip(values.chunks_exact(value_size));
        for (done, (key, value)) in elements.enumerate() {
            self.set(key, value, Update::Any)
                .map_err(|error| Partial { done, error })?;
        }
        Ok(())
    }

    /// Removes keys, which may be gone already.
    pub fn delete_many(&self, keys: &[u8]) -> Result<(), Partial> {
        let size = self.info().key_size;
        let total = self.count_of(keys)?;
        let mut done = 0;
        while done < total {
            let mut count = (total - done).min(WRITTEN) as u32;
            let wanted = count as usize;
            let part = &keys[done * size..(done + wanted) * size];
            let mut opts = libbpf_sys::bpf_map_batch_opts::default();
            opts.sz = size_of_val(&opts) as _;
            // SAFETY: there are `count` keys, which the kernel only reads.
            let code = unsafe {
                libbpf_sys::bpf_map_delete_batch(
                    self.as_fd().as_raw_fd(),
                    part.as_ptr().cast(),
                    &mut count,
                    &opts,
                )
            };
            match check(code) {
                Ok(_) => done += wanted,
                // The one that it stopped at is gone.
                Err(e) if e.raw_os_error() == Some(libc::ENOENT) => {
                    done += (count as usize).min(wanted - 1) + 1;
                }
                Err(e) if lacks_batches(&e) => {
                    for key in part.chunks_exact(size) {
                        self.delete(key).map_err(|error| Partial { done, error })?;
                        done += 1;
                    }
                }
                Err(error) => {
                    let done = done + (count as usize).min(wanted);
                    return Err(Partial { done, error });
                }
            }
        }
        Ok(())
    }

    fn count_of(&self, keys: &[u8]) -> Result<usize, Partial> {
        let size = self.info().key_size;
        if size == 0 || !keys.len().is_multiple_of(size) {
            return Err(Partial {
                done: 0,
                error: wrong_length(),
            });
        }
        Ok(keys.len() / size)
    }

    /// Visits all elements: key and value, for a per-CPU map with all its copies (see [`Map::get`]). A caller that
    /// needs a consistent state keeps others from writing meanwhile.
    pub fn each(&self, mut each: impl FnMut(&[u8], &[u8])) -> io::Result<()> {
        match self.each_in_batches(&mut each) {
            Err(Unread::NoBatches) => {}
            Err(Unread::Failed(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
        for key in self.keys()? {
            if let Some(value) = self.get(&key)? {
                each(&key, &value);
            }
        }
        Ok(())
    }

    fn each_in_batches(&self, each: &mut impl FnMut(&[u8], &[u8])) -> Result<(), Unread> {
        let key_size = self.info().key_size;
        let value_size = self.buffer_size().map_err(Unread::Failed)?;
        let mut room = READ.min(self.info().max_entries.max(1) as usize);
        let mut keys = vec![0u8; key_size * room];
        let mut values = vec![0u8; value_size * room];
        // Where to go on from: a bucket's number or a key.
        let mut at = vec![0u8; key_size.max(8)];
        let mut begun = false;
        let mut opts = libbpf_sys::bpf_map_batch_opts::default();
        opts.sz = size_of_val(&opts) as _;
        loop {
            let mut count = room as u32;
            let before = if begun {
                at.as_mut_ptr()
            } else {
                std::ptr::null_mut()
            };
            // SAFETY: there is room for as many keys and values as are asked for, and for a key or a number to go on
            // from.
            let code = unsafe {
                libbpf_sys::bpf_map_lookup_batch(
                    self.as_fd().as_raw_fd(),
                    before.cast(),
                    at.as_mut_ptr().cast(),
                    keys.as_mut_ptr().cast(),
                    values.as_mut_ptr().cast(),
                    &mut count,
                    &opts,
                )
            };
            let ended = match check(code) {
                Ok(_) => false,
                Err(e) if e.raw_os_error() == Some(libc::ENOENT) => true,
                Err(e) if e.raw_os_error() == Some(libc::ENOSPC) => {
                    room *= 2;
                    keys.resize(key_size * room, 0);
                    values.resize(value_size * room, 0);
                    continue;
                }
                Err(e) if !begun && lacks_batches(&e) => return Err(Unread::NoBatches),
                Err(e) => return Err(Unread::Failed(e)),
            };
            begun = true;
            let found = keys
                .chunks_exact(key_size)
                .zip(values.chunks_exact(value_size));
            for (key, value) in found.take(count as usize) {
                each(key, value);
            }
            if ended {
                return Ok(());
            }
        }
    }

    /// Tests whether there are more than `most` elements. All elements of an array count.
    pub fn has_more_than(&self, most: usize) -> io::Result<bool> {
        let size = self.info().key_size;
        let (mut last, mut next) = (None::<Vec<u8>>, vec![0; size]);
        for _ in 0..=most {
            let from = last.as_ref().map_or(std::ptr::null(), |key| key.as_ptr());
            // SAFETY: both keys have the map's key size; null asks for the first.
            let code = unsafe {
                libbpf_sys::bpf_map_get_next_key(
                    self.as_fd().as_raw_fd(),
                    from.cast(),
                    next.as_mut_ptr().cast(),
                )
            };
            match check(code) {
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(false),
                Err(error) => return Err(error),
            }
            last = Some(next.clone());
        }
        Ok(true)
    }
}

/// Reason why elements were not read in batches.
enum Unread {
    /// The map's type has none in this kernel.
    NoBatches,
    Failed(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests access one by one. A map of devices has no batches in any kernel, as other maps have none in older
    /// kernels.
    #[test]
    fn a_map_without_batches_is_written_and_read_one_by_one() {
        let kind = libbpf_sys::BPF_MAP_TYPE_DEVMAP_HASH;
        let map = Map::create(kind, "devices", 4, 4, 8, 0).expect("this test needs root");
        let keys = |numbers: &[u32]| -> Vec<u8> {
            numbers
                .iter()
                .flat_map(|number| number.to_ne_bytes())
                .collect()
        };
        let found = || {
            let mut all = Vec::new();
            let number = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().expect("4 bytes"));
            map.each(|key, value| all.push((number(key), number(value))))
                .expect("reads");
            all.sort_unstable();
            all
        };
        let loopback = 1;
        map.set_many(&keys(&[7, 8, 9]), &keys(&[loopback; 3]))
            .expect("writes");
        assert_eq!(found(), [(7, loopback), (8, loopback), (9, loopback)]);
        // What the kernel does not take ends it, and what came before stays.
        let no_device = u32::MAX - 1;
        let partial = map.set_many(&keys(&[5, 6]), &keys(&[loopback, no_device]));
        assert_eq!(partial.expect_err("there is no such device").done, 1);
        map.delete_many(&keys(&[7, 3, 9]))
            .expect("one is gone already");
        assert_eq!(found(), [(5, loopback), (8, loopback)]);
        let mut count = 1u32;
        let mut opts = libbpf_sys::bpf_map_batch_opts::default();
        opts.sz = size_of_val(&opts) as _;
        let key = keys(&[8]);
        // SAFETY: there is one key, which the kernel only reads.
        let code = unsafe {
            let (fd, key) = (map.as_fd().as_raw_fd(), key.as_ptr().cast());
            libbpf_sys::bpf_map_delete_batch(fd, key, &mut count, &opts)
        };
        let error = check(code).expect_err("it would be no test of what does without");
        assert!(lacks_batches(&error), "{error}");
    }
}
