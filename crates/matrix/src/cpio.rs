//! Archives that the kernel takes as its initial RAM disk: cpio in the "new ASCII" format, described in the kernel's
//! `Documentation/driver-api/early-userspace/buffer-format.rst`.

/// An archive being made. Paths have no leading slash; a folder comes before what it holds.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_644;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_777;
const LAST: &str = "TRAILER!!!";

impl Archive {
    /// Adds an empty folder.
    pub(crate) fn folder(&mut self, path: &str) {
        self.entry(path, FOLDER, b"");
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, path: &str, content: &[u8]) {
        self.entry(path, FILE, content);
    }

    /// Adds a file that can be run.
    pub(crate) fn program(&mut self, path: &str, content: &[u8]) {
        self.entry(path, PROGRAM, content);
    }

    /// Adds a symbolic link.
    pub(crate) fn link(&mut self, path: &str, target: &str) {
        self.entry(path, LINK, target.as_bytes());
    }

    /// The complete archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry(LAST, 0, b"");
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let links = 1;
        let (inode, size, name) = (self.entries, content.len() as u32, path.len() as u32 + 1);
        // Owner, group, times, devices and checksum are zero.
        let header = [inode, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name, 0];
        self.bytes.extend(b"070701");
        for number in header {
            self.bytes.extend(format!("{number:08x}").bytes());
        }
        self.bytes.extend(path.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    /// Headers and contents begin at multiples of four.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `cpio -o -H newc` writes for the same, but for numbers of inodes and times.
    #[test]
    fn an_archive_has_the_bytes_of_the_format() {
        let mut archive = Archive::default();
        archive.folder("bin");
        archive.program("bin/tool", b"#!");
        archive.file("list", b"a\nb\n");
        archive.link("bin/sh", "tool");
        let zero = "00000000";
        let entry = |inode: u32, mode: &str, size: u32, name: u32| {
            let links = "00000001";
            format!(
                "070701{inode:08x}{mode}{zero}{zero}{links}{zero}{size:08x}{zero}{zero}{zero}{zero}{name:08x}{zero}"
            )
        };
        let expected = [
            entry(1, "000041ed", 0, 4) + "bin\0\0\0",
            entry(2, "000081ed", 2, 9) + "bin/tool\0\0#!\0\0",
            entry(3, "000081a4", 4, 5) + "list\0\0a\nb\n",
            entry(4, "0000a1ff", 4, 7) + "bin/sh\0\0\0\0tool",
            entry(5, zero, 0, 11) + "TRAILER!!!\0\0\0\0",
        ];
        assert_eq!(
            String::from_utf8(archive.finish()).expect("text"),
            expected.concat()
        );
    }
}
