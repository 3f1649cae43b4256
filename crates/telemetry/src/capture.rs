//! Packets of capture files: pcap and pcapng.

use crate::errors::capture as errors;
use crate::evaluate::{Frame, Link};
use diag::Diagnostic;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::io::{Cursor, ErrorKind, Read};
use std::time::Duration;

/// Calls `each` with the packets of a capture, in their order. `path` is its name in errors. Packets in front of what is damaged
/// have been read when the error is returned.
pub fn read(
    path: &str,
    mut file: impl Read,
    each: impl FnMut(&Frame),
) -> Result<(), Box<Diagnostic>> {
    let mut first = [0; 4];
    match file.read_exact(&mut first) {
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
            return Err(errors::no_capture(path, &[]));
        }
        done => done.map_err(|e| errors::unreadable(path, &e))?,
    }
    let whole = Cursor::new(first).chain(file);
    let mut reading = Reading {
        path,
        packets: 0,
        each,
    };
    match first {
        [0x0a, 0x0d, 0x0d, 0x0a] => reading.pcapng(whole),
        [0xa1, 0xb2, 0xc3, 0xd4]
        | [0xd4, 0xc3, 0xb2, 0xa1]
        | [0xa1, 0xb2, 0x3c, 0x4d]
        | [0x4d, 0x3c, 0xb2, 0xa1] => reading.pcap(whole),
        _ => Err(errors::no_capture(path, &first)),
    }
}

/// Interfaces that a section of a capture may have: what is known of each is kept.
const MOST_INTERFACES: usize = 65_536;

struct Reading<'p, F> {
    path: &'p str,
    packets: u64,
    each: F,
}

impl<F: FnMut(&Frame)> Reading<'_, F> {
    fn pcap(&mut self, file: impl Read) -> Result<(), Box<Diagnostic>> {
        let mut reader = PcapReader::new(file).map_err(|e| self.failed(e))?;
        let link = self.link(reader.header().datalink)?;
        let fraction = match reader.header().ts_resolution {
            TsResolution::MicroSecond => 1000,
            TsResolution::NanoSecond => 1,
        };
        // The checked form refuses packets that were longer than what was to be captured of them.
        while let Some(packet) = reader.next_raw_packet() {
            let packet = packet.map_err(|e| self.failed(e))?;
            self.packets += 1;
            let nanoseconds = u64::from(packet.ts_frac) * fraction;
            (self.each)(&Frame {
                bytes: &packet.data,
                length: packet.orig_len,
                time: Duration::from_secs(packet.ts_sec.into()) + Duration::from_nanos(nanoseconds),
                link,
            });
        }
        Ok(())
    }

    fn pcapng(&mut self, file: impl Read) -> Result<(), Box<Diagnostic>> {
        let mut reader = PcapNgReader::new(file).map_err(|e| self.failed(e))?;
        // What is needed of each interface of the section.
        let mut interfaces: Vec<(DataLink, u128, u32)> = Vec::new();
        while let Some(block) = reader.next_block() {
            let (interface, stamp, bytes, length) = match block.map_err(|e| self.failed(e))? {
                Block::SectionHeader(_) => {
                    interfaces.clear();
                    continue;
                }
                Block::InterfaceDescription(about) => {
                    if interfaces.len() == MOST_INTERFACES {
                        let what = format!("it has more than {MOST_INTERFACES} interfaces");
                        return Err(errors::damaged(self.path, self.packets, &what));
                    }
                    interfaces.push((about.linktype, units(&about), about.snaplen));
                    continue;
                }
                Block::EnhancedPacket(packet) => (
                    packet.interface_id as usize,
                    // The crate takes the file's units for nanoseconds.
                    packet.timestamp.as_nanos(),
                    packet.data,
                    packet.original_len,
                ),
                // It has no time, and the padding is part of its data.
                Block::SimplePacket(packet) => {
                    let most = interfaces.first().map_or(0, |(.., most)| *most);
                    let whole = packet.original_len;
                    let here = if most == 0 { whole } else { whole.min(most) };
                    let mut bytes = packet.data;
                    let here = bytes.len().min(here as usize);
                    bytes.to_mut().truncate(here);
                    (0, 0, bytes, whole)
                }
                _ => continue,
            };
            let Some(&(link, units, _)) = interfaces.get(interface) else {
                let what = format!("there is no interface {interface}");
                return Err(errors::damaged(self.path, self.packets, &what));
            };
            let link = self.link(link)?;
            self.packets += 1;
            let seconds = (stamp / units) as u64;
            let nanoseconds = (stamp % units) * 1_000_000_000 / units;
            (self.each)(&Frame {
                bytes: &bytes,
                length,
                time: Duration::new(seconds, nanoseconds as u32),
                link,
            });
        }
        Ok(())
    }

    fn link(&self, link: DataLink) -> Result<Link, Box<Diagnostic>> {
        match link {
            DataLink::ETHERNET => Ok(Link::Ethernet),
            DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => Ok(Link::Ip),
            other => Err(errors::link_type(self.path, &format!("{other:?}"))),
        }
    }

    fn failed(&self, error: PcapError) -> Box<Diagnostic> {
        let what = match error {
            PcapError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
                "it ends in the middle of a packet".to_string()
            }
            PcapError::IoError(error) => return errors::unreadable(self.path, &error),
            other => other.to_string(),
        };
        errors::damaged(self.path, self.packets, &what)
    }
}

/// The units of time of an interface in a second: microseconds if nothing else is written, else a power of 10, or of 2 if the
/// highest bit is set.
fn units(about: &InterfaceDescriptionBlock) -> u128 {
    let written = about.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfTsResol(value) => Some(*value),
        _ => None,
    });
    let value = written.unwrap_or(6);
    let (base, power) = match value & 0x80 {
        0 => (10u128, u32::from(value)),
        _ => (2, u32::from(value & 0x7f)),
    };
    // Finer ones than a file can have are a damage that only the times show.
    base.checked_pow(power.min(63))
        .unwrap_or(u128::from(u64::MAX))
}
