//! Writer of pcapng captures, in which the name of an interface is the port of its packets.

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::simple_packet::SimplePacketBlock;
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

/// Capture that is being written.
pub struct CaptureWriter<W: Write> {
    writer: PcapNgWriter<W>,
    interfaces: BTreeMap<u32, u32>,
    /// Time of the last packet that has one.
    last: Duration,
    dated: u64,
}

impl<W: Write> CaptureWriter<W> {
    /// Begins a capture.
    pub fn new(to: W) -> io::Result<CaptureWriter<W>> {
        Ok(CaptureWriter {
            writer: PcapNgWriter::new(to).map_err(failed)?,
            interfaces: BTreeMap::new(),
            last: Duration::ZERO,
            dated: 0,
        })
    }

    /// Adds a packet that begins with an Ethernet header. The format allows packets without a time only at the first
    /// interface. At another one, such a packet gets the time of the last packet that has one.
    pub fn packet(&mut self, port: u32, time: Option<Duration>, bytes: &[u8]) -> io::Result<()> {
        let interface = match self.interfaces.get(&port) {
            Some(known) => *known,
            None => self.interface(port)?,
        };
        let (original_len, data) = (bytes.len() as u32, Cow::Borrowed(bytes));
        let written = if time.is_none() && interface == 0 {
            self.writer
                .write_pcapng_block(SimplePacketBlock { original_len, data })
        } else {
            self.dated += u64::from(time.is_none());
            self.last = time.unwrap_or(self.last);
            self.writer.write_pcapng_block(EnhancedPacketBlock {
                interface_id: interface,
                timestamp: self.last,
                original_len,
                data,
                options: Vec::new(),
            })
        };
        written.map_err(failed)?;
        Ok(())
    }

    /// Returns the number of packets so far that got the time of another one.
    pub fn dated(&self) -> u64 {
        self.dated
    }

    /// Writes the description of a port's interface.
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

    /// Flushes the capture, and returns what it was written to.
    pub fn end(self) -> io::Result<W> {
        let mut to = self.writer.into_inner();
        to.flush()?;
        Ok(to)
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
    use std::ops::ControlFlow;

    #[test]
    fn what_is_written_is_read_again() {
        let mut file = Vec::new();
        let mut writer = CaptureWriter::new(&mut file).expect("begins");
        let at = |seconds, nanoseconds| Some(Duration::new(seconds, nanoseconds));
        let packets = [
            (7, None, vec![0; 59]),
            (7, at(1_700_000_000, 1), vec![1; 60]),
            (0, at(1_700_000_000, 2), vec![2; 61]),
            (0, None, vec![2; 61]),
            (7, None, vec![2; 61]),
            (7, at(1_700_000_001, 0), vec![3; 62]),
        ];
        for (port, time, bytes) in &packets {
            writer.packet(*port, *time, bytes).expect("writes");
        }
        // Only the first interface can have packets without a time.
        assert_eq!(writer.dated(), 1);
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
            ControlFlow::Continue(())
        });
        read.expect("whole");
        let mut expected = packets.map(|(_, time, bytes)| {
            let length = bytes.len() as u32;
            (time, bytes, length)
        });
        expected[3].0 = expected[2].0;
        assert_eq!(found, expected);
    }
}
