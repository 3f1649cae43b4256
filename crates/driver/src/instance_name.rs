//! Names of running programs and bundles.

use std::path::Path;

/// Longest name, in bytes.
const LONGEST: usize = 64;

/// Returns true for a valid name of an instance or program. The name becomes a folder in the BPF file system.
pub fn is_valid(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Returns a file's name without its extension. Characters that a name may not have become `_`.
pub fn from_file(file: &Path) -> String {
    let stem = file
        .file_stem()
        .map_or_else(String::new, |s| s.to_string_lossy().into());
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    stem.chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_name_becomes_one_that_a_folder_may_have() {
        assert_eq!(from_file(Path::new("a/my prog.v2.p4")), "my_prog_v2");
        assert!(is_valid(&from_file(Path::new("ü.p4"))));
    }

    #[test]
    fn names_have_no_slashes_and_no_dots() {
        assert!(is_valid("flows-2_x"));
        for wrong in ["", "a/b", "a.b", "..", &"x".repeat(65)] {
            assert!(!is_valid(wrong), "{wrong}");
        }
    }
}
