//! Writes captures in the form pcapng, which has the port of each packet as the name of its interface.

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

/// A capture that is being written.
pub struct CaptureWriter<W: Write> {
    writer: PcapNgWriter<W>,
    interfaces: BTreeMap<u32, u32>,
}

impl<W: Write> CaptureWriter<W> {
    /// Begins one.
    pub fn new(to: W) -> io::Result<CaptureWriter<W>> {
        Ok(CaptureWriter {
            writer: PcapNgWriter::new(to).map_err(failed)?,
            interfaces: BTreeMap::new(),
        })
    }

    /// Adds a packet that begins with an Ethernet header.
    pub fn packet(&mut self, port: u32, time: Duration, bytes: &[u8]) -> io::Result<()> {
        let interface = match self.interfaces.get(&port) {
            Some(known) => *known,
            None => self.interface(port)?,
        };
        let packet = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: time,
            original_len: bytes.len() as u32,
            data: Cow::Borrowed(bytes),
            options: Vec::new(),
        };
        self.writer.write_pcapng_block(packet).map_err(failed)?;
        Ok(())
    }

    /// Describes the interface of a port.
    fn interface(&mut self, port: u32) -> io::Result<u32> {
        const NANOSECONDS: u8 = 9;
        let described = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Owned(format!("port {port}"))),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        self.writer.write_pcapng_block(described).map_err(failed)?;
        let number = self.interfaces.len() as u32;
        self.interfaces.insert(port, number);
        Ok(number)
    }

    /// Writes what is still in memory.
    pub fn end(self) -> io::Result<()> {
        self.writer.into_inner().flush()
    }
}

fn failed(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Capture, read};
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut file = Vec::new();
        let mut writer = CaptureWriter::new(&mut file).expect("begins");
        let packets = [
            (7, Duration::new(1_700_000_000, 1), vec![1; 60]),
            (0, Duration::new(1_700_000_000, 2), vec![2; 61]),
            (7, Duration::new(1_700_000_001, 0), vec![3; 62]),
        ];
        for (port, time, bytes) in &packets {
            writer.packet(*port, *time, bytes).expect("writes");
        }
        writer.end().expect("ends");
        let names = ["port 7", "port 0"].map(|name| {
            let name = name.as_bytes();
            file.windows(name.len())
                .filter(|part| part == &name)
                .count()
        });
        assert_eq!(names, [1, 1]);
        let capture = Capture::open("it", file.as_slice()).expect("a capture");
        let mut found = Vec::new();
        let read = read(vec![capture], |frame| {
            found.push((frame.time, frame.bytes.to_vec(), frame.length));
        });
        read.expect("whole");
        let expected = packets.map(|(_, time, bytes)| {
            let length = bytes.len() as u32;
            (Some(time), bytes, length)
        });
        assert_eq!(found, expected);
    }
}
