//! Workloads of `bench/xdp/workload.json`. Each has a packet, entries in P4 names, and the same entries as raw map
//! contents for the hand-written program.

use crate::error::Error;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Workload of one program.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Workload {
    /// Its name.
    pub name: String,
    /// Path of the P4 file.
    pub p4: String,
    /// Path of the C file.
    pub c: String,
    /// Name of its baseline, a program of two instructions: `drop` or `tx`.
    pub baseline: String,
    /// The packet in hexadecimal.
    packet: String,
    /// Expected verdict of the kernel.
    pub verdict: u32,
    /// Entries, as lines of an entries file.
    pub entries: Vec<String>,
    /// The same entries for the maps of the hand-written program.
    pub maps: BTreeMap<String, Vec<Raw>>,
    /// Number of times that a test run can repeat the program on its own result. `None` if the program does not change
    /// the packet.
    pub repeats: Option<u32>,
    /// Measurement of p4c's code for an equivalent program, if there is one.
    pub p4c: Option<Published>,
}

/// Map entry in hexadecimal: key and value.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Raw {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// Measurement of p4c 1.2.5.16's code on the same kind of machine.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Published {
    /// Number of instructions in the object.
    pub instructions: u32,
    /// Nanoseconds of a test run whose baseline takes 7.
    pub ns: f64,
}

#[derive(Deserialize)]
struct File {
    programs: Vec<Workload>,
}

impl Workload {
    /// Returns the packet.
    pub(crate) fn packet(&self) -> Result<Vec<u8>, Error> {
        bytes(&self.packet)
    }
}

/// Reads the file.
pub(crate) fn read(path: &Path) -> Result<Vec<Workload>, Error> {
    let text = fs::read_to_string(path).map_err(|e| Error::file("read", path, &e))?;
    let file: File =
        serde_json::from_str(&text).map_err(|e| Error::new(format!("{}: {e}", path.display())))?;
    Ok(file.programs)
}

/// Parses bytes from hexadecimal digits.
pub(crate) fn bytes(hex: &str) -> Result<Vec<u8>, Error> {
    let digit = |c: u8| char::from(c).to_digit(16);
    hex.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
            _ => None,
        })
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(|| Error::new(format!("`{hex}` is not hexadecimal")))
}
