//! Cache of objects that clang made before, in a folder of the user's, or in the one that `ONPATH_OBJECT_CACHE` names.
//! If that is set to nothing, there is no cache.
//!
//! The key is everything that the object depends on, so an entry is never out of date and never changes. A new one is
//! written beside its path and renamed, so that the change is atomic for readers and other writers. A writer that is
//! killed leaves a file that the next one removes. The size of the folder is bounded: the least recently used objects
//! are removed first.
//!
//! The code in an entry runs in the kernel. So the folder and its files are used only if nobody but root and this
//! process's user can have written them, and an entry only if its checksum is right.

use crate::compiler::Clang;
use crate::source::{Effort, Jumps, Source, named_files};
use host::files::{self, Streams};
use host::safe_dir::{Dir, FileKind, random_name};
use sha2::{Digest, Sha256};
use std::fs;
use std::fs::DirBuilder;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Variable that names the folder.
pub const VARIABLE: &str = "ONPATH_OBJECT_CACHE";
/// Largest size in bytes of a folder that somebody named, such as that of the tests.
const MOST_BYTES_NAMED: u64 = 512 << 20;
/// Largest size in bytes of the user's own folder: some hundreds of objects.
const MOST_BYTES: u64 = 128 << 20;
/// Inverse share of writers that check the size: one in this many does.
const SWEEP_EVERY: u8 = 64;
/// Age after which an incomplete file has lost its writer.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Returns the folder of the cache, if there is a cache. Measurements of clang's time must find none.
pub fn folder() -> Option<PathBuf> {
    ObjectCache::from_environment().map(|cache| cache.folder)
}

/// Returns the reason why the folder is not used, if it is there and others may have written to it.
pub fn unused() -> Option<String> {
    let folder = folder()?;
    let error = Dir::at(&folder).err()?;
    (error.kind() != io::ErrorKind::NotFound).then(|| diag::system_message(&error))
}

/// Returns the user's own folder. It is below the folder of caches that the XDG base directory specification names, or
/// below the system's for root. The environment may be that of the user who became root, and root makes nothing in a
/// folder of theirs.
fn own_folder() -> Option<PathBuf> {
    let named = |variable| std::env::var_os(variable).map(PathBuf::from);
    let caches = named("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let caches = match nix::unistd::geteuid().is_root() {
        true => caches
            .filter(|caches| owner(caches) == Some(0))
            .or_else(|| Some(PathBuf::from("/var/cache"))),
        false => caches.or_else(|| named("HOME").map(|home| home.join(".cache"))),
    }?;
    caches.is_absolute().then(|| caches.join("onpath/objects"))
}

/// Returns the owner of a folder; if it is not there, the owner of the folder in which it is to be made.
fn owner(folder: &Path) -> Option<u32> {
    let there = folder.ancestors().find_map(|path| fs::metadata(path).ok());
    there.map(|about| about.uid())
}

/// Folder of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ObjectCache {
    folder: PathBuf,
    /// Largest size in bytes.
    most: u64,
}

/// Hash of everything that an object depends on, as a file's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Key(String);

impl ObjectCache {
    /// Returns the cache that the environment names, or the user's own; `None` if the environment turns it off. Its
    /// folder need not be there yet. A folder that others may write to, or that is another user's, is not used.
    pub(crate) fn from_environment() -> Option<ObjectCache> {
        let (folder, most) = match std::env::var_os(VARIABLE) {
            Some(named) if named.is_empty() => return None,
            Some(named) => (named.into(), MOST_BYTES_NAMED),
            None => (own_folder()?, MOST_BYTES),
        };
        Some(ObjectCache { folder, most })
    }

    /// Returns the object of this key, if it is there.
    pub(crate) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let folder = Dir::at(&self.folder).ok()?;
        let mut file = folder.open_file(&key.0).ok()?;
        let mut object = Vec::new();
        file.read_to_end(&mut object).ok()?;
        // After a loss of power a file may have its name but not its bytes, or a disk may have changed them.
        let end = object.len().saturating_sub(CHECKSUM_BYTES);
        if object.split_off(end) != checksum(key, &object) {
            let _ = folder.remove_file(&key.0);
            return None;
        }
        let _ = file.set_modified(SystemTime::now());
        Some(object)
    }

    /// Keeps an object. If it cannot be written, it is compiled again next time.
    pub(crate) fn put(&self, key: &Key, object: &[u8]) {
        let _ = self.try_put(key, object);
    }

    fn try_put(&self, key: &Key, object: &[u8]) -> io::Result<()> {
        let mut maker = DirBuilder::new();
        maker.recursive(true).mode(0o700).create(&self.folder)?;
        let folder = Dir::at(&self.folder)?;
        let unfinished = random_name(UNFINISHED);
        let mut file = folder.make_file(&unfinished)?;
        // Without the sync, an object that a power failure cut short would be found under its key for ever.
        let written = file.write_all(object);
        let written = written.and_then(|()| file.write_all(&checksum(key, object)));
        let written = written.and_then(|()| file.sync_all());
        let kept = written.and_then(|()| folder.rename(&unfinished, &key.0));
        if kept.is_err() {
            let _ = folder.remove_file(&unfinished);
        }
        kept?;
        if u8::from_str_radix(&key.0[..2], 16).is_ok_and(|byte| byte % SWEEP_EVERY == 0) {
            // More is removed than needed, so that the next sweep is not due at once.
            self.sweep(self.most, self.most / 4 * 3, SystemTime::now())?;
        }
        Ok(())
    }

    /// Removes the least recently used objects until `left` bytes are left, if there are more than `most`. Also
    /// removes the incomplete files of killed writers.
    fn sweep(&self, most: u64, left: u64, now: SystemTime) -> io::Result<()> {
        let mut objects = Vec::new();
        let folder = Dir::at(&self.folder)?;
        for entry in folder.entries()? {
            let Some(name) = entry.name.to_str().filter(|_| entry.kind == FileKind::File) else {
                continue;
            };
            // Another process may sweep too.
            let Ok(about) = folder.open_file(name).and_then(|file| file.metadata()) else {
                continue;
            };
            let used = about.modified()?;
            let unfinished = name.starts_with(UNFINISHED);
            if is_key(name) {
                objects.push((used, about.len(), name.to_owned()));
            } else if unfinished && now.duration_since(used).is_ok_and(|age| age > ABANDONED) {
                let _ = folder.remove_file(name);
            }
        }
        let mut bytes: u64 = objects.iter().map(|(_, len, _)| len).sum();
        if bytes <= most {
            return Ok(());
        }
        objects.sort();
        for (_, len, name) in objects {
            if bytes <= left {
                break;
            }
            let _ = folder.remove_file(name);
            bytes -= len;
        }
        Ok(())
    }
}

/// Bytes of [`checksum`].
const CHECKSUM_BYTES: usize = 32;

/// Returns the checksum that ends an entry. It includes the key, so that an object under another one's name does not
/// fit.
fn checksum(key: &Key, object: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hash = Sha256::new();
    hash.update(&key.0);
    hash.update(object);
    hash.finalize().into()
}

/// Prefix of the name of a file that is still being written.
const UNFINISHED: &str = "unfinished-";

/// Returns the key of this compiler's output for a source with these flags. `None` for a source that includes files of
/// the user's: only clang knows which files those include.
pub(crate) fn key(clang: &Clang, flags: &[&str], source: Source<'_>) -> Option<Key> {
    if !source.include_dirs.is_empty() {
        return None;
    }
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    // A compiler that was replaced under the same name is another file.
    let compiler = fs::canonicalize(&clang.path).ok()?;
    let about = fs::metadata(&compiler).ok()?;
    part(compiler.as_os_str().as_encoded_bytes());
    for number in [
        about.ino(),
        about.len(),
        about.mtime() as u64,
        about.mtime_nsec() as u64,
    ] {
        part(&number.to_le_bytes());
    }
    part(&[match source.effort {
        Effort::Full => 2,
        Effort::Reduced => 1,
    }]);
    if source.jumps == Jumps::Long {
        part(b"long jumps");
    }
    for list in [flags, source.defines] {
        part(&(list.len() as u64).to_le_bytes());
        list.iter().for_each(|flag| part(flag.as_bytes()));
    }
    for (name, text) in source.headers {
        part(name.as_bytes());
        part(text.as_bytes());
    }
    part(source.text.as_bytes());
    // clang copies the lines that `#line` names into the object, from files relative to the current folder.
    for name in named_files(source.text) {
        part(name.as_bytes());
        part(&files::read(Path::new(name), Streams::Refused).unwrap_or_default());
    }
    let digest = hash.finalize();
    Some(Key(digest
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()))
}

/// Returns true if a file is an object of the cache, by its name: the folder may hold files of others.
fn is_key(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
