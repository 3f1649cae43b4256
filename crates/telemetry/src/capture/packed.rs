//! Captures compressed by gzip or zstd, decompressed while they are read.

use flate2::read::MultiGzDecoder;
use std::io::{self, Cursor, ErrorKind, Read};

/// Bytes of a capture.
pub(super) type Bytes<'f> = Box<dyn Read + 'f>;

/// First bytes of a file, which identify its format.
pub(super) type First = [u8; 4];

/// Greatest window of a zstd frame, as a power of two: 128 MB, which `zstd` itself accepts by default.
const MOST_WINDOW: u32 = 27;

/// Decompresses a file if necessary. Returns the first bytes of the contents, or `None` if there are fewer, with all of
/// them.
pub(super) fn unpacked<'f>(file: impl Read + 'f) -> io::Result<(Option<First>, Bytes<'f>)> {
    let (first, whole) = peeked(file)?;
    match first {
        Some([0x1f, 0x8b, ..]) => peeked(MultiGzDecoder::new(whole)),
        // A frame, or a skippable one, with which parallel compressors begin.
        Some([0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18]) => {
            let mut decoder = zstd::Decoder::new(whole)?;
            decoder.window_log_max(MOST_WINDOW)?;
            peeked(decoder)
        }
        _ => Ok((first, whole)),
    }
}

/// Returns the first bytes, and a reader of all bytes.
fn peeked<'f>(mut file: impl Read + 'f) -> io::Result<(Option<First>, Bytes<'f>)> {
    let mut first = First::default();
    let mut there = 0;
    // A compressed file that ends too early is an error, not a short file.
    while there < first.len() {
        match file.read(&mut first[there..]) {
            Ok(0) => return Ok((None, Box::new(file))),
            Ok(bytes) => there += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((Some(first), Box::new(Cursor::new(first).chain(file))))
}
