//! Captures that gzip or zstd compressed, unpacked while they are read.

use flate2::read::MultiGzDecoder;
use std::io::{self, Cursor, ErrorKind, Read};

/// The bytes of a capture.
pub(super) type Bytes<'f> = Box<dyn Read + 'f>;

/// The first bytes of a file, which say what it is.
pub(super) type First = [u8; 4];

/// Frames that need more memory, as a power of two, are refused: 128 MB, which `zstd` itself takes without being told to.
const MOST_WINDOW: u32 = 27;

/// Unpacks a file if it is compressed. The first bytes are those of what is in it; there are none of one that has fewer.
pub(super) fn unpacked<'f>(file: impl Read + 'f) -> io::Result<(Option<First>, Bytes<'f>)> {
    let (first, whole) = peeked(file)?;
    match first {
        Some([0x1f, 0x8b, ..]) => peeked(MultiGzDecoder::new(whole)),
        // A frame, or one to be skipped, with which parallel compressors begin.
        Some([0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18]) => {
            let mut decoder = zstd::Decoder::new(whole)?;
            decoder.window_log_max(MOST_WINDOW)?;
            peeked(decoder)
        }
        _ => Ok((first, whole)),
    }
}

/// The first bytes, and all of them.
fn peeked<'f>(mut file: impl Read + 'f) -> io::Result<(Option<First>, Bytes<'f>)> {
    let mut first = First::default();
    let mut there = 0;
    // One that is cut while it is unpacked is no short one.
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
