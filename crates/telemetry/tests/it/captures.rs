//! Capture files: both formats, times and lengths, and errors in them.

use crate::frames;
use diag::Diagnostics;
use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::simple_packet::SimplePacketBlock;
use pcap_file::{DataLink, TsResolution};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::Duration;
use telemetry::Link;
use telemetry::capture::{self, Capture};

pub(crate) type Packets = Vec<(Vec<u8>, u32, Option<Duration>, Link)>;

/// Reads the packets of files. Also returns the error of the first damaged one.
pub(crate) fn read_all(files: &[&[u8]]) -> (Packets, Option<String>) {
    let mut packets = Packets::new();
    let opened = files.iter().map(|file| Capture::open("a.pcap", *file));
    let opened: Result<Vec<Capture>, _> = opened.collect();
    let done = opened.map_err(Diagnostics::from).and_then(|captures| {
        capture::read(captures, |frame| {
            packets.push((frame.bytes.to_vec(), frame.length, frame.time, frame.link));
            ControlFlow::Continue(())
        })
    });
    let wrong = done.err().map(|wrong| {
        let first = wrong.iter().next().expect("one");
        format!("{} {}", first.code.0, first.message)
    });
    (packets, wrong)
}

pub(crate) fn read(file: &[u8]) -> (Packets, Option<String>) {
    read_all(&[file])
}

fn pcap(resolution: TsResolution, link: DataLink) -> Vec<u8> {
    let header = PcapHeader {
        ts_resolution: resolution,
        datalink: link,
        snaplen: 40,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    let packet = frames::udp(1, 2, (3, 4), b"12345678");
    writer
        .write_raw_packet(&RawPcapPacket {
            ts_sec: 5,
            ts_frac: 7,
            incl_len: 40,
            orig_len: packet.len() as u32,
            data: Cow::Borrowed(&packet[..40]),
        })
        .unwrap();
    writer.into_writer()
}

#[test]
fn pcap_has_lengths_and_both_units_of_time() {
    for (resolution, nanoseconds) in [
        (TsResolution::MicroSecond, 7000),
        (TsResolution::NanoSecond, 7),
    ] {
        let (packets, wrong) = read(&pcap(resolution, DataLink::ETHERNET));
        assert_eq!(wrong, None);
        let (bytes, length, time, link) = &packets[0];
        assert_eq!((bytes.len(), *length, *link), (40, 50, Link::Ethernet));
        assert_eq!(*time, Some(Duration::new(5, nanoseconds)));
    }
    assert_eq!(
        read(&pcap(TsResolution::MicroSecond, DataLink::RAW)).0[0].3,
        Link::Ip
    );
}

/// Builds a file with interfaces of three time units, and a packet of each.
fn pcapng() -> Vec<u8> {
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    for resolution in [None, Some(9), Some(0x80 | 10)] {
        let options = resolution.map(InterfaceDescriptionOption::IfTsResol);
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: 60,
            options: options.into_iter().collect(),
        };
        writer.write_pcapng_block(interface).unwrap();
    }
    for interface_id in 0..3 {
        let packet = EnhancedPacketBlock {
            interface_id,
            // A number in the interface's units.
            timestamp: Duration::from_nanos(3_000_000_512),
            original_len: 1000,
            data: frames::tagged(1).into(),
            options: Vec::new(),
        };
        writer.write_pcapng_block(packet).unwrap();
    }
    let simple = SimplePacketBlock {
        original_len: 47,
        data: vec![0; 47].into(),
    };
    writer.write_pcapng_block(simple).unwrap();
    writer.into_inner()
}

#[test]
fn pcapng_has_units_of_time_by_interface() {
    let (packets, wrong) = read(&pcapng());
    assert_eq!(wrong, None);
    let times: Vec<Option<Duration>> = packets.iter().map(|(_, _, time, _)| *time).collect();
    assert_eq!(
        times,
        [
            Some(Duration::new(3000, 512_000)),
            Some(Duration::new(3, 512)),
            Some(Duration::from_secs(2_929_687) + Duration::from_millis(1000)),
            None,
        ]
    );
    assert_eq!(packets[0].0, frames::tagged(1));
    assert_eq!(packets[0].1, 1000);
    assert_eq!(
        (packets[3].0.len(), packets[3].1),
        (47, 47),
        "without padding"
    );
}

#[test]
fn what_is_behind_the_last_packet_that_is_wanted_is_not_read() {
    let mut damaged = pcapng();
    let packets = read(&damaged).0.len();
    damaged.extend([0xff; 40]);
    for captures in [1, 2] {
        let open = || Capture::open("a.pcap", damaged.as_slice()).expect("it begins well");
        let captures = (0..captures).map(|_| open()).collect::<Vec<_>>();
        let mut taken = 0;
        let done = capture::read(captures, |_| {
            taken += 1;
            match taken < packets {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        assert!(done.is_ok(), "{done:?}");
        assert_eq!(taken, packets);
    }
}

#[test]
fn what_is_no_capture_is_named() {
    let whole = pcapng();
    for (file, expected) in [
        (&b""[..], "E1141 `a.pcap` is no capture file"),
        (b"P4 is no capture", "E1141 `a.pcap` is no capture file"),
        (b"BZh91AY&SY", "E1141 `a.pcap` is compressed"),
        (
            &pcap(TsResolution::MicroSecond, DataLink::USB_LINUX),
            "E1142 the packets of `a.pcap` are of link type USB_LINUX",
        ),
        (
            &whole[..whole.len() - 1],
            "E1143 `a.pcap` is damaged behind 3 packets: it ends in the middle of a packet",
        ),
        (
            &pcap(TsResolution::MicroSecond, DataLink::ETHERNET)[..50],
            "E1143 `a.pcap` is damaged behind 0 packets: it ends in the middle of a packet",
        ),
        (
            &whole[..20],
            "E1143 `a.pcap` is damaged behind 0 packets: it ends in the middle of a packet",
        ),
    ] {
        assert_eq!(read(file).1.as_deref(), Some(expected));
    }
}

#[test]
fn damaged_files_end_with_an_error_or_not_at_all() {
    for whole in [
        pcapng(),
        pcap(TsResolution::MicroSecond, DataLink::ETHERNET),
    ] {
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                let _ = read(&damaged);
            }
        }
    }
}
