//! `bench/xdp/workload.json`: for each program a packet, its entries in P4 names, and the same as raw
//! map contents for the hand-written program.

use crate::error::Error;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One program's work.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Workload {
    /// Its name.
    pub name: String,
    /// The P4 file.
    pub p4: String,
    /// The C file.
    pub c: String,
    /// Which program of two instructions is its baseline: `drop` or `tx`.
    pub baseline: String,
    /// The packet in hexadecimal.
    packet: String,
    /// What the kernel's verdict on it must be.
    pub verdict: u32,
    /// Entries as lines of an entries file.
    pub entries: Vec<String>,
    /// The same for the maps of the hand-written program.
    pub maps: BTreeMap<String, Vec<Raw>>,
    /// How often a test run can give a program the packet that it left, if that changes the packet each time.
    pub repeats: Option<u32>,
    /// What p4c makes of a program that does the same, if that was measured.
    pub p4c: Option<Published>,
}

/// A map's key and value in hexadecimal.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Raw {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// Figures of p4c 1.2.5.16, measured on the same kind of machine, and what its authors published.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Published {
    /// Instructions in the object.
    pub instructions: u32,
    /// Nanoseconds of a test run with a baseline of 7.
    pub ns: f64,
}

#[derive(Deserialize)]
struct File {
    programs: Vec<Workload>,
}

impl Workload {
    /// The packet.
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

/// Bytes from hexadecimal.
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
