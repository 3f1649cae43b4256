//! Files that commands write to the folder of `--output`.

use crate::output::{Stop, failed};
use diag::{shown, system_message};
use driver::bpf_target::Compiled;
use driver::built;
use host::safe_dir::replace_file;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a program's C source, object and description. Returns their paths.
pub(crate) fn program(dir: &Path, stem: &str, compiled: &Compiled) -> Result<Vec<PathBuf>, Stop> {
    let description = built::description(compiled);
    let files: [(&str, Vec<u8>); 3] = [
        ("c", compiled.c_source.clone().into_bytes()),
        ("o", compiled.object.clone()),
        ("json", format!("{description:#}\n").into_bytes()),
    ];
    let mut written = Vec::new();
    for (extension, bytes) in files {
        written.push(file(dir, &format!("{stem}.{extension}"), &bytes)?);
    }
    Ok(written)
}

/// Writes a file to a folder, which is created if needed. Returns the file's path.
pub(crate) fn file(dir: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, Stop> {
    if let Err(error) = fs::create_dir_all(dir) {
        let why = system_message(&error);
        return failed(format!("cannot create `{}`: {why}", dir.display()));
    }
    let path = dir.join(name);
    if let Err(error) = replace_file(&path, bytes) {
        let why = system_message(&error);
        return failed(format!("`{}` was not written: {why}", path.display()));
    }
    Ok(path)
}

/// Returns a line of text about the files that were written.
pub(crate) fn line(dir: &Path, written: &[PathBuf]) -> String {
    let names = written.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names
        .map(|name| shown(&name.to_string_lossy()).into_owned())
        .collect();
    let names = match names.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.join(", "),
    };
    format!("{}: {names} written", shown(&dir.to_string_lossy()))
}
