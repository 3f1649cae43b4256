//! Packets of capture files: pcap and pcapng, plain or compressed.

mod interface;
mod merged;
mod packed;
mod write;

pub use write::CaptureWriter;

use crate::errors::capture as errors;
use crate::evaluate::Frame;
use crate::link::Link;
use diag::{Diagnostic, Diagnostics};
use interface::Interface;
use packed::Bytes;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::packet::PacketOption;
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::borrow::Cow;
use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;
use std::time::Duration;

/// Greatest number of interfaces in a section of a capture: the description of each is kept.
const MOST_INTERFACES: usize = 65_536;
/// Greatest number of captures that are read at once: each takes 8 MB.
pub const MOST_CAPTURES: usize = 64;

/// Capture file, read packet by packet.
pub struct Capture<'f> {
    path: String,
    packets: u64,
    format: Format<'f>,
}

enum Format<'f> {
    Pcap {
        reader: Box<PcapReader<Bytes<'f>>>,
        link: Link,
        /// Number of bytes of the frame check sequence after each packet.
        check_sequence: u32,
        /// Nanoseconds in a unit of the time's fraction.
        fraction: u64,
    },
    PcapNg {
        reader: Box<PcapNgReader<Bytes<'f>>>,
        section: Section,
    },
}

/// Section of a pcapng file: the description of its packets.
struct Section {
    byte_order: Endianness,
    interfaces: Vec<Interface>,
}

impl Section {
    fn new(header: &SectionHeaderBlock) -> Section {
        Section {
            byte_order: header.endianness,
            interfaces: Vec::new(),
        }
    }
}

/// Packet of a pcapng file.
struct Packet<'b> {
    interface: usize,
    /// Time in the interface's units.
    stamp: Option<u64>,
    bytes: Cow<'b, [u8]>,
    length: u32,
    check_sequence: Option<u32>,
}

/// Calls `each` with the packets of captures until it breaks off. A single capture is read in its order, several in the
/// order of their times. Packets before the damage in a capture, and those of other captures, have been passed on when
/// the errors are returned.
///
/// # Errors
/// Captures are damaged.
pub fn read(
    mut captures: Vec<Capture>,
    mut each: impl FnMut(&Frame) -> ControlFlow<()>,
) -> Result<(), Diagnostics> {
    let mut wrong = Diagnostics::new();
    match captures.as_mut_slice() {
        [one] => loop {
            let mut flow = ControlFlow::Continue(());
            match one.next(|frame| flow = each(frame)) {
                Ok(true) if flow.is_continue() => {}
                Ok(_) => break,
                Err(error) => {
                    wrong.push(*error);
                    break;
                }
            }
        },
        _ => merged::read(captures, &mut each, &mut wrong),
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong),
    }
}

impl<'f> Capture<'f> {
    /// Opens a capture. `path` is its name in errors.
    ///
    /// # Errors
    /// The file cannot be read, is not a capture, or has packets of an unsupported link type.
    pub fn open(path: &str, file: impl Read + 'f) -> Result<Capture<'f>, Box<Diagnostic>> {
        let (first, whole) = packed::unpacked(file).map_err(|e| unread(path, 0, e))?;
        let failed = |error| failed(path, 0, error);
        let format = match first {
            Some([0x0a, 0x0d, 0x0d, 0x0a]) => {
                let reader = PcapNgReader::new(whole).map_err(failed)?;
                Format::PcapNg {
                    section: Section::new(reader.section()),
                    reader: Box::new(reader),
                }
            }
            Some(
                [0xa1, 0xb2, 0xc3, 0xd4]
                | [0xd4, 0xc3, 0xb2, 0xa1]
                | [0xa1, 0xb2, 0x3c, 0x4d]
                | [0x4d, 0x3c, 0xb2, 0xa1],
            ) => {
                let reader = PcapReader::new(whole).map_err(failed)?;
                let (kind, check_sequence) = interface::of_pcap(reader.header().datalink);
                Format::Pcap {
                    link: link(path, kind)?,
                    check_sequence,
                    fraction: match reader.header().ts_resolution {
                        TsResolution::MicroSecond => 1000,
                        TsResolution::NanoSecond => 1,
                    },
                    reader: Box::new(reader),
                }
            }
            other => return Err(errors::no_capture(path, &other.unwrap_or_default())),
        };
        Ok(Capture {
            path: path.to_owned(),
            packets: 0,
            format,
        })
    }

    /// Calls `each` with the next packet. Returns `false` if there is none.
    fn next(&mut self, each: impl FnOnce(&Frame)) -> Result<bool, Box<Diagnostic>> {
        let Capture {
            path,
            packets,
            format,
        } = self;
        match format {
            Format::Pcap {
                reader,
                link,
                check_sequence,
                fraction,
            } => {
                // The checked version refuses packets that are longer than the capture's limit.
                let Some(packet) = reader.next_raw_packet() else {
                    return Ok(false);
                };
                let packet = packet.map_err(|e| failed(path, *packets, e))?;
                *packets += 1;
                let seconds = Duration::from_secs(packet.ts_sec.into());
                let fraction = Duration::from_nanos(u64::from(packet.ts_frac) * *fraction);
                let (bytes, length) = unchecked(&packet.data, packet.orig_len, *check_sequence);
                each(&Frame {
                    bytes,
                    length,
                    time: Some(seconds + fraction),
                    link: *link,
                });
                Ok(true)
            }
            Format::PcapNg { reader, section } => {
                while let Some(block) = reader.next_block() {
                    let block = block.map_err(|e| failed(path, *packets, e))?;
                    let Some(packet) = packet(block, section) else {
                        if section.interfaces.len() > MOST_INTERFACES {
                            let what = format!("it has more than {MOST_INTERFACES} interfaces");
                            return Err(errors::damaged(path, *packets, &what));
                        }
                        continue;
                    };
                    let Some(interface) = section.interfaces.get(packet.interface) else {
                        let what = format!("there is no interface {}", packet.interface);
                        return Err(errors::damaged(path, *packets, &what));
                    };
                    let link = link(path, interface.kind)?;
                    *packets += 1;
                    let check_sequence = packet.check_sequence.unwrap_or(interface.check_sequence);
                    let (bytes, length) = unchecked(&packet.bytes, packet.length, check_sequence);
                    each(&Frame {
                        bytes,
                        length,
                        time: packet.stamp.and_then(|stamp| interface.time(stamp)),
                        link,
                    });
                    return Ok(true);
                }
                Ok(false)
            }
        }
    }
}

/// Returns the packet in a block. Descriptions of interfaces in other blocks are added to the section.
fn packet<'b>(block: Block<'b>, section: &mut Section) -> Option<Packet<'b>> {
    match block {
        Block::SectionHeader(header) => {
            *section = Section::new(&header);
            None
        }
        Block::InterfaceDescription(about) => {
            section.interfaces.push(Interface::new(&about));
            None
        }
        Block::EnhancedPacket(packet) => Some(Packet {
            interface: packet.interface_id as usize,
            // The crate assumes that the file's units are nanoseconds.
            stamp: u64::try_from(packet.timestamp.as_nanos()).ok(),
            check_sequence: packet.options.iter().find_map(|option| match option {
                EnhancedPacketOption::Flags(flags) => check_sequence(*flags),
                _ => None,
            }),
            bytes: packet.data,
            length: packet.original_len,
        }),
        Block::Packet(packet) => Some(Packet {
            interface: packet.interface_id.into(),
            // Its upper half comes first in both byte orders; the crate reads it as one number.
            stamp: Some(match section.byte_order {
                Endianness::Big => packet.timestamp,
                Endianness::Little => packet.timestamp.rotate_left(32),
            }),
            check_sequence: packet.options.iter().find_map(|option| match option {
                PacketOption::Flags(flags) => check_sequence(*flags),
                _ => None,
            }),
            bytes: packet.data,
            length: packet.original_len,
        }),
        // It has no time, and the padding is part of its data.
        Block::SimplePacket(packet) => {
            let most = section
                .interfaces
                .first()
                .map_or(0, |interface| interface.most);
            let length = packet.original_len;
            let here = if most == 0 { length } else { length.min(most) };
            let mut bytes = packet.data;
            let here = bytes.len().min(here as usize);
            match &mut bytes {
                Cow::Borrowed(bytes) => *bytes = &bytes[..here],
                Cow::Owned(bytes) => bytes.truncate(here),
            }
            Some(Packet {
                interface: 0,
                stamp: None,
                bytes,
                length,
                check_sequence: None,
            })
        }
        _ => None,
    }
}

/// Returns the size of the frame check sequence after a packet with these flags, if they have it.
fn check_sequence(flags: u32) -> Option<u32> {
    let bytes = flags >> 5 & 0xf;
    (bytes > 0).then_some(bytes)
}

/// Removes the frame check sequence. Returns the captured bytes, and the length of the packet on the wire.
fn unchecked(bytes: &[u8], length: u32, check_sequence: u32) -> (&[u8], u32) {
    if check_sequence == 0 {
        return (bytes, length);
    }
    let length = length.saturating_sub(check_sequence);
    (&bytes[..bytes.len().min(length as usize)], length)
}

fn link(path: &str, kind: DataLink) -> Result<Link, Box<Diagnostic>> {
    interface::link(kind).ok_or_else(|| errors::link_type(path, &format!("{kind:?}")))
}

fn failed(path: &str, packets: u64, error: PcapError) -> Box<Diagnostic> {
    match error {
        PcapError::IoError(error) => unread(path, packets, error),
        other => errors::damaged(path, packets, &other.to_string()),
    }
}

/// Reports a read error. Errors without a system code come from the decompressor.
fn unread(path: &str, packets: u64, error: std::io::Error) -> Box<Diagnostic> {
    if error.raw_os_error().is_some() {
        return errors::unreadable(path, &error);
    }
    let what = match error.kind() {
        ErrorKind::UnexpectedEof => "it ends in the middle of a packet".to_owned(),
        _ => format!("it cannot be unpacked ({error})"),
    };
    errors::damaged(path, packets, &what)
}
