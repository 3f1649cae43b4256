//! Objects that clang made before, in a folder of the user's, or in the one that `ONPATH_OBJECT_CACHE` names. Where that is set
//! to nothing, nothing is kept.
//!
//! The key is everything that the object depends on, so an entry is never out of date and never changes. A new one is
//! written beside its path and renamed, so that the change is atomic for readers and other writers, and a
//! writer that is killed leaves a file that the next one removes. The folder is bounded: the objects that were not used
//! for longest go first.
//!
//! What is in an entry runs in the kernel. So the folder and its files are used only if nobody but root and this process's
//! user can have written them, and an entry only if it has its checksum.

use crate::compiler::Clang;
use crate::source::{Effort, Jumps, Source, named_files};
use host::files::{self, Streams};
use host::safe_dir::{Dir, Kind, random_name};
use sha2::{Digest, Sha256};
use std::fs;
use std::fs::DirBuilder;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Names the folder.
pub const VARIABLE: &str = "ONPATH_OBJECT_CACHE";
/// The most bytes that a folder keeps that somebody named, such as the one of the tests.
const MOST_BYTES_NAMED: u64 = 512 << 20;
/// The most bytes that the user's own folder keeps: some hundreds of objects.
const MOST_BYTES: u64 = 128 << 20;
/// One writer in so many looks at how much there is.
const SWEEP_EVERY: u8 = 64;
/// A file that is not complete after so long has lost its writer.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The folder in which objects are kept, if they are. Measurements of clang's time must find none.
pub fn folder() -> Option<PathBuf> {
    ObjectCache::from_environment().map(|cache| cache.folder)
}

/// The reason for which the folder is not used, if it is there and others may have written to it.
pub fn unused() -> Option<String> {
    let folder = folder()?;
    let error = Dir::at(&folder).err()?;
    (error.kind() != io::ErrorKind::NotFound).then(|| diag::system_message(&error))
}

/// The user's own folder: below the folder of caches that the XDG base directory specification names, or that of the system
/// for root. The environment may be that of the user who became root: in a folder of theirs, root makes nothing.
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

/// The user whose a folder is, or would be: the owner of the one in which it is to be made.
fn owner(folder: &Path) -> Option<u32> {
    let there = folder.ancestors().find_map(|path| fs::metadata(path).ok());
    there.map(|about| about.uid())
}

/// A folder of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ObjectCache {
    folder: PathBuf,
    /// The most bytes that it keeps.
    most: u64,
}

/// All that an object depends on, as a file's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Key(String);

impl ObjectCache {
    /// The one that the environment names, or the user's own; none if the environment turns it off. It need not be there
    /// yet. One to which others may write, or that is another user's, keeps nothing and has nothing.
    pub(crate) fn from_environment() -> Option<ObjectCache> {
        let (folder, most) = match std::env::var_os(VARIABLE) {
            Some(named) if named.is_empty() => return None,
            Some(named) => (named.into(), MOST_BYTES_NAMED),
            None => (own_folder()?, MOST_BYTES),
        };
        Some(ObjectCache { folder, most })
    }

    /// The object of this key, if it is there.
    pub(crate) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let folder = Dir::at(&self.folder).ok()?;
        let mut file = folder.open_file(&key.0).ok()?;
        let mut object = Vec::new();
        file.read_to_end(&mut object).ok()?;
        // A machine that lost power may have kept a file's name without its bytes, or a disk other ones.
        let end = object.len().saturating_sub(CHECKSUM_BYTES);
        if object.split_off(end) != checksum(key, &object) {
            let _ = folder.remove_file(&key.0);
            return None;
        }
        let _ = file.set_modified(SystemTime::now());
        Some(object)
    }

    /// Keeps an object. What cannot be written is compiled again next time.
    pub(crate) fn put(&self, key: &Key, object: &[u8]) {
        let _ = self.try_put(key, object);
    }

    fn try_put(&self, key: &Key, object: &[u8]) -> io::Result<()> {
        let mut maker = DirBuilder::new();
        maker.recursive(true).mode(0o700).create(&self.folder)?;
        let folder = Dir::at(&self.folder)?;
        let unfinished = random_name(UNFINISHED);
        let mut file = folder.make_file(&unfinished)?;
        // An object that a power failure cut short would be found under its key for ever.
        let written = file.write_all(object);
        let written = written.and_then(|()| file.write_all(&checksum(key, object)));
        let written = written.and_then(|()| file.sync_all());
        let kept = written.and_then(|()| folder.rename(&unfinished, &key.0));
        if kept.is_err() {
            let _ = folder.remove_file(&unfinished);
        }
        kept?;
        if u8::from_str_radix(&key.0[..2], 16).is_ok_and(|byte| byte % SWEEP_EVERY == 0) {
            // Not to its last byte, so that the next sweep is not due at once.
            self.sweep(self.most, self.most / 4 * 3, SystemTime::now())?;
        }
        Ok(())
    }

    /// If there are more than `most` bytes, removes what was not used for longest until `left` are left; and what
    /// killed writers left.
    fn sweep(&self, most: u64, left: u64, now: SystemTime) -> io::Result<()> {
        let mut objects = Vec::new();
        let folder = Dir::at(&self.folder)?;
        for entry in folder.entries()? {
            let Some(name) = entry.name.to_str().filter(|_| entry.kind == Kind::File) else {
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

/// The end of an entry: an object under the name of another has none that fits.
fn checksum(key: &Key, object: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hash = Sha256::new();
    hash.update(&key.0);
    hash.update(object);
    hash.finalize().into()
}

/// How the name of a file begins that is still being written.
const UNFINISHED: &str = "unfinished-";

/// The key of what this compiler makes of a source with these flags. There is none for a source that includes files
/// of the user's: what they include in turn is known to clang alone.
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

/// Whether a file is an object of the cache, by its name: the folder may hold files of others.
fn is_key(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
