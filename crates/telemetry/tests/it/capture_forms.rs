//! Captures in unusual forms: times, check sequences, link layers, compression, and several captures merged.

use crate::captures::{Packets, read, read_all};
use crate::evaluation::run_on;
use crate::frames;
use diag::SourceMap;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::ops::ControlFlow;
use std::time::Duration;
use telemetry::capture::{self, Capture};
use telemetry::{Catalogue, Cell, Evaluator, Link, Report, Schemas};

/// Builds a block of a pcapng file.
fn block(kind: u32, body: &[u8], number: Bytes) -> Vec<u8> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = number(12 + (body.len() + padding) as u32);
    let padding = &[0; 3][..padding];
    [&number(kind)[..], &length, body, padding, &length].concat()
}

/// Encoding of a number in the byte order of a file.
type Bytes = fn(u32) -> [u8; 4];
const LITTLE: Bytes = u32::to_le_bytes;
const BIG: Bytes = u32::to_be_bytes;

fn half(number: Bytes, value: u16) -> [u8; 2] {
    match number(1) == BIG(1) {
        true => value.to_be_bytes(),
        false => value.to_le_bytes(),
    }
}

fn option(code: u16, value: &[u8], number: Bytes) -> Vec<u8> {
    let padding = &[0; 3][..value.len().next_multiple_of(4) - value.len()];
    let (code, length) = (half(number, code), half(number, value.len() as u16));
    [&code, &length, value, padding].concat()
}

fn section(number: Bytes) -> Vec<u8> {
    let body = [
        &number(0x1a2b_3c4d)[..],
        &half(number, 1),
        &half(number, 0),
        &[0xff; 8],
    ];
    block(0x0a0d_0d0a, &body.concat(), number)
}

fn interface(link: u16, options: &[Vec<u8>], number: Bytes) -> Vec<u8> {
    let body = [&half(number, link)[..], &[0; 2], &number(0)].concat();
    block(1, &[body, listed(options)].concat(), number)
}

fn enhanced(
    interface: u32,
    stamp: u64,
    data: &[u8],
    options: &[Vec<u8>],
    number: Bytes,
) -> Vec<u8> {
    let padding = &[0; 3][..data.len().next_multiple_of(4) - data.len()];
    let body = [
        &number(interface)[..],
        &number((stamp >> 32) as u32),
        &number(stamp as u32),
        &number(data.len() as u32),
        &number(data.len() as u32),
        data,
        padding,
        &listed(options),
    ];
    block(6, &body.concat(), number)
}

/// Builds a packet block, the obsolete form.
fn obsolete(
    interface: u16,
    stamp: u64,
    data: &[u8],
    options: &[Vec<u8>],
    number: Bytes,
) -> Vec<u8> {
    let padding = &[0; 3][..data.len().next_multiple_of(4) - data.len()];
    let body = [
        &half(number, interface)[..],
        &half(number, 0xffff),
        &number((stamp >> 32) as u32),
        &number(stamp as u32),
        &number(data.len() as u32),
        &number(data.len() as u32),
        data,
        padding,
        &listed(options),
    ];
    block(2, &body.concat(), number)
}

/// Builds a packet without a time.
fn simple(data: &[u8], number: Bytes) -> Vec<u8> {
    block(3, &[&number(data.len() as u32)[..], data].concat(), number)
}

/// Encodes the options of a block.
fn listed(options: &[Vec<u8>]) -> Vec<u8> {
    let end = match options {
        [] => 0,
        _ => 4,
    };
    [options.concat(), vec![0; end]].concat()
}

/// Builds a pcap file with packets, one a second from `from` on.
fn pcap(link: u32, from: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = [LITTLE(0xa1b2_c3d4), LITTLE(0x0004_0002)].concat();
    file.extend([LITTLE(0), LITTLE(0), LITTLE(65_536), LITTLE(link)].concat());
    for (number, packet) in packets.iter().enumerate() {
        let length = LITTLE(packet.len() as u32);
        file.extend([LITTLE(from + number as u32), LITTLE(0), length, length].concat());
        file.extend(packet);
    }
    file
}

fn query(text: &str, files: &[&[u8]]) -> Report {
    let schemas = Schemas::builtin();
    let query = telemetry::compile(text, &Catalogue::new(&schemas), &mut SourceMap::new());
    let mut evaluator = Evaluator::new(query.expect("a query"), &schemas, None, [0, 1]);
    let captures = files.iter().map(|file| Capture::open("a.pcap", *file));
    let captures = captures.collect::<Result<_, _>>().expect("captures");
    let read = capture::read(captures, |frame| {
        evaluator.packet(frame);
        ControlFlow::Continue(())
    });
    read.expect("whole ones");
    let seconds = evaluator.seconds();
    evaluator.report(seconds)
}

fn times(file: &[u8]) -> Vec<Option<Duration>> {
    let (packets, wrong) = read(file);
    assert_eq!(wrong, None);
    packets.iter().map(|(_, _, time, _)| *time).collect()
}

#[test]
fn an_offset_of_times_is_added() {
    let packet = frames::udp(1, 2, (3, 4), b"x");
    for number in [LITTLE, BIG] {
        let offset = |seconds: i64| {
            let halves = [
                number((seconds as u64 >> 32) as u32),
                number(seconds as u32),
            ];
            let [high, low] = halves;
            let value = match number(1) == BIG(1) {
                true => [high, low].concat(),
                false => [low, high].concat(),
            };
            option(14, &value, number)
        };
        let nanoseconds = option(9, &[9], number);
        let file = [
            section(number),
            interface(1, &[], number),
            interface(1, &[offset(1_700_000_000)], number),
            interface(1, &[offset(-5), nanoseconds], number),
            enhanced(0, 3_000_000, &packet, &[], number),
            enhanced(1, 250_000, &packet, &[], number),
            enhanced(2, 7_000_000_001, &packet, &[], number),
            // Before 1970.
            enhanced(2, 4_999_999_999, &packet, &[], number),
        ];
        let expected = [
            Some(Duration::from_secs(3)),
            Some(Duration::new(1_700_000_000, 250_000_000)),
            Some(Duration::new(2, 1)),
            None,
        ];
        assert_eq!(times(&file.concat()), expected);
    }
    // Two interfaces, one of which counts from its own beginning.
    let file = [
        section(LITTLE),
        interface(1, &[option(14, &100u64.to_le_bytes(), LITTLE)], LITTLE),
        interface(1, &[], LITTLE),
        enhanced(0, 0, &packet, &[], LITTLE),
        enhanced(1, 110_000_000, &packet, &[], LITTLE),
    ];
    let report = query("rate", &[&file.concat()]);
    assert_eq!(report.rows[0].cells, [Cell::Real(0.2)]);
}

#[test]
fn obsolete_packets_are_read_in_both_byte_orders() {
    let packet = frames::udp(1, 2, (3, 4), b"12345");
    for number in [LITTLE, BIG] {
        let stamp = 0x0005_0000_0000_0001;
        let file = [
            section(number),
            interface(1, &[], number),
            enhanced(0, stamp, &packet, &[], number),
            obsolete(0, stamp, &packet, &[option(2, &[0; 4], number)], number),
        ];
        let (packets, wrong) = read(&file.concat());
        assert_eq!(wrong, None);
        assert_eq!(packets.len(), 2);
        assert_eq!(packets[0], packets[1]);
    }
}

#[test]
fn packets_without_a_time_are_in_nothing_that_needs_one() {
    let packet = frames::udp(1, 2, (3, 4), b"12345");
    let whole = [
        section(LITTLE),
        interface(1, &[], LITTLE),
        enhanced(0, 1_000_000, &packet, &[], LITTLE),
        simple(&packet, LITTLE),
        enhanced(0, 3_000_000, &packet, &[], LITTLE),
    ];
    let report = query("count, rate, rate(packet.length)", &[&whole.concat()]);
    let length = packet.len() as f64;
    assert_eq!(
        report.rows[0].cells,
        [Cell::Number(3), Cell::Real(1.0), Cell::Real(length)]
    );
    assert_eq!((report.counts.untimed, report.seconds), (1, 2.0));
    let text = telemetry::view::table::text(&report, 10);
    let note = "1 packet without a time: in no rate, and in no response time\n";
    assert!(text.ends_with(note), "{text}");

    // A question and its answer without a time: the exchange is a record nevertheless.
    let ask = |id: u8, answer: u8| {
        let name = b"\x01a\x00\x00\x01\x00\x01";
        [&[0, id, answer, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], name].concat()
    };
    let question = |id| frames::udp(1, 2, (5000, 53), &ask(id, 0));
    let answer = |id| {
        let mut packet = frames::udp(1, 2, (53, 5000), &ask(id, 0x80));
        let (from, to) = ([10, 0, 1, 2], [10, 0, 0, 1]);
        packet[26..30].copy_from_slice(&from);
        packet[30..34].copy_from_slice(&to);
        packet
    };
    let whole = [
        section(LITTLE),
        interface(1, &[], LITTLE),
        enhanced(0, 1_000_000, &question(1), &[], LITTLE),
        simple(&answer(1), LITTLE),
        simple(&question(2), LITTLE),
        enhanced(0, 2_000_000, &answer(2), &[], LITTLE),
        enhanced(0, 3_000_000, &question(3), &[], LITTLE),
        enhanced(0, 3_000_009, &answer(3), &[], LITTLE),
    ];
    let report = query(
        "count, max(dns.response_time), min(dns.response_time)",
        &[&whole.concat()],
    );
    let cells = [Cell::Number(3), Cell::Number(9000), Cell::Number(9000)];
    assert_eq!(report.rows[0].cells, cells);
    assert_eq!((report.counts.untimed, report.counts.unanswered), (2, 0));

    // No packet has a time.
    let whole = [
        section(LITTLE),
        interface(1, &[], LITTLE),
        simple(&packet, LITTLE),
    ];
    let report = query("rate, count", &[&whole.concat()]);
    assert_eq!(report.rows[0].cells, [Cell::Nothing, Cell::Number(1)]);
}

/// Returns the captured bytes of each packet, and its length on the wire.
fn lengths(file: &[u8]) -> Vec<(usize, u32)> {
    let (packets, wrong) = read(file);
    assert_eq!(wrong, None);
    let lengths = packets
        .iter()
        .map(|(bytes, length, ..)| (bytes.len(), *length));
    lengths.collect()
}

#[test]
fn the_check_sequence_is_no_part_of_a_packet() {
    let packet = frames::udp(1, 2, (3, 4), b"12345");
    let most = packet.len();
    let checked = [packet.clone(), vec![0xcc; 4]].concat();
    // The number of 16-bit words counts only if a bit marks it as known.
    for (upper, cut) in [
        (0, 0),
        (0x2400_0000u32, 4),
        (0x1400_0000, 2),
        (0x0400_0000, 0),
        (0x2000_0000, 0),
        (0x5000_0000, 0),
    ] {
        let file = pcap(upper | 1, 0, std::slice::from_ref(&checked));
        let left = checked.len() - cut;
        assert_eq!(lengths(&file), [(left, left as u32)], "{upper:x}");
    }
    let about = |length: u8| interface(1, &[option(13, &[length], LITTLE)], LITTLE);
    let flags = |bytes: u32| option(2, &LITTLE(bytes << 5), LITTLE);
    let file = [
        section(LITTLE),
        about(32),
        about(4),
        interface(1, &[], LITTLE),
        enhanced(0, 0, &checked, &[], LITTLE),
        enhanced(1, 0, &checked, &[flags(0)], LITTLE),
        enhanced(1, 0, &checked, &[flags(2)], LITTLE),
        enhanced(2, 0, &checked, &[], LITTLE),
        obsolete(2, 0, &checked, &[flags(4)], LITTLE),
        simple(&checked, LITTLE),
    ];
    let left = |cut: usize| (most + 4 - cut, (most + 4 - cut) as u32);
    let expected = [left(4), left(4), left(2), left(0), left(4), left(4)];
    assert_eq!(lengths(&file.concat()), expected);
    // A truncated packet ends before its check sequence.
    let mut file = pcap(0x2400_0001, 0, &[checked[..20].to_vec()]);
    file[36..40].copy_from_slice(&LITTLE(checked.len() as u32));
    assert_eq!(lengths(&file), [(20, most as u32)]);
    // A padded frame: its payload ends where the headers say.
    let report = query("bytes by udp.length", &[&pcap(0x2400_0001, 0, &[checked])]);
    assert_eq!(report.rows[0].cells, [Cell::Number(most as u64)]);
}

/// Builds the header of a cooked capture, in either version.
fn cooked(second: bool, hardware: u16, address: &[u8], protocol: u16) -> Vec<u8> {
    let mut padded = [0; 8];
    padded[..address.len()].copy_from_slice(address);
    let (hardware, protocol) = (hardware.to_be_bytes(), protocol.to_be_bytes());
    let length = address.len() as u8;
    match second {
        false => [&[0, 0][..], &hardware, &[0, length], &padded, &protocol].concat(),
        true => {
            let index = &[0, 0, 0, 0, 0, 2];
            [&protocol[..], index, &hardware, &[4, length], &padded].concat()
        }
    }
}

#[test]
fn packets_of_any_interface_are_read() {
    let four = frames::udp(7, 9, (4000, 53), b"abc");
    let six = frames::tcp(
        "2001:db8::1".parse().expect("an address"),
        "2001:db8::2".parse().expect("an address"),
        (443, 1234),
        b"x",
    );
    let tagged = frames::tagged(100);
    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];
    for (second, link) in [(false, 113), (true, 276)] {
        let of = |hardware, address: &[u8], protocol, rest: &[u8]| {
            [cooked(second, hardware, address, protocol), rest.to_vec()].concat()
        };
        let packets = [
            of(1, &MAC, 0x800, &four[14..]),
            of(772, &[0; 6], 0x86dd, &six[14..]),
            of(1, &MAC, 0x8100, &tagged[14..]),
            // A tunnel, whose endpoints have no link-layer addresses.
            of(65534, &[], 0x800, &four[14..]),
            // Netlink families and lengths are not EtherTypes.
            of(824, &[], 0x800, &four[14..]),
            of(1, &MAC, 4, &four[14..]),
        ];
        let file = pcap(link, 0, &packets);
        let count = |condition: &str| match query(&format!("count where {condition}"), &[&file])
            .rows[0]
            .cells[0]
        {
            Cell::Number(count) => count,
            ref other => panic!("{other:?}"),
        };
        for (condition, expected) in [
            ("ip.src == 10.0.0.7 and udp.dst_port == 53", 2),
            ("ipv6.dst == 2001:db8::2 and tcp.src_port == 443", 1),
            ("vlan.id == 100 and eth.type == 0x800 and ip.ttl == 1", 1),
            ("eth.src == 02:00:00:00:00:09", 3),
            ("eth.src == 00:00:00:00:00:00", 1),
            ("not eth.src != ff:ff:ff:ff:ff:ff", 2),
            ("eth.dst != ff:ff:ff:ff:ff:ff", 0),
            ("eth.type == 0x86dd", 1),
            ("packet.length > 0", 6),
        ] {
            assert_eq!(count(condition), expected, "{condition}");
        }
        // Messages are read as they are after an Ethernet header.
        let by = "count by udp.dst_port, ip.dst";
        let (ours, plain) = (
            query(by, &[&file]),
            run_on(&Schemas::builtin(), by, std::slice::from_ref(&four), None),
        );
        assert_eq!(ours.rows[0].keys, plain.rows[0].keys);
        // However a packet is truncated, no bytes are misread.
        for length in 0..packets[0].len() {
            let header = packets[0].len() - (four.len() - 14);
            let file = pcap(link, 0, &[packets[0][..length].to_vec()]);
            let report = query("count by ip.src, eth.src", &[&file]);
            assert_eq!(
                report.rows.len(),
                usize::from(length >= header + 20),
                "{length}"
            );
        }
    }
}

#[test]
fn packets_of_loopback_interfaces_are_read() {
    let four = frames::udp(7, 9, (4000, 53), b"abc");
    let six = frames::tcp(
        "::1".parse().expect("an address"),
        "::1".parse().expect("an address"),
        (443, 1234),
        b"x",
    );
    let of = |family: [u8; 4], packet: &[u8]| [&family[..], &packet[14..]].concat();
    for (link, orders) in [(0, &[LITTLE, BIG][..]), (108, &[BIG])] {
        let mut packets = Vec::new();
        for number in orders {
            packets.push(of(number(2), &four));
            packets.extend([10, 24, 28, 30].map(|family| of(number(family), &six)));
            // OSI, and a missing header.
            packets.extend([of(number(7), &four), vec![2, 0, 0]]);
        }
        let file = pcap(link, 0, &packets);
        let orders = orders.len() as u64;
        for (text, expected) in [
            ("count where ip.src == 10.0.0.7", orders),
            (
                "count where ipv6.src == ::1 and tcp.dst_port == 1234",
                4 * orders,
            ),
            ("count where eth.type >= 0", 0),
            ("count", 7 * orders),
        ] {
            assert_eq!(
                query(text, &[&file]).rows[0].cells,
                [Cell::Number(expected)],
                "{text}"
            );
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory")
}

#[test]
fn packed_captures_are_unpacked() {
    let packets: Vec<Vec<u8>> = (0..50u8)
        .map(|n| frames::udp(n, 2, (3, 4), &[n; 200]))
        .collect();
    let plain = pcap(1, 0, &packets);
    let expected = read(&plain);
    assert_eq!((expected.0.len(), &expected.1), (50, &None));
    let (begin, end) = plain.split_at(777);
    let skipped = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    for packed in [
        gzip(&plain),
        // Two compressed files, concatenated.
        [gzip(begin), gzip(end)].concat(),
        zstd(&plain),
        [zstd(begin), zstd(end)].concat(),
        // A file as parallel compressors write it.
        [skipped, zstd(&plain)].concat(),
    ] {
        assert!(read(&packed) == expected);
    }
    let file = [
        section(BIG),
        interface(1, &[], BIG),
        enhanced(0, 1, &packets[0], &[], BIG),
    ];
    assert!(read(&gzip(&file.concat())) == read(&file.concat()));

    for (packed, expected) in [
        (
            gzip(b"no capture at all"),
            "E1141 `a.pcap` is no capture file",
        ),
        (zstd(b""), "E1141 `a.pcap` is no capture file"),
        // A file that is compressed twice.
        (gzip(&zstd(&plain)), "E1141 `a.pcap` is compressed"),
        (gzip(&plain)[..200].to_vec(), "middle of a packet"),
        (
            zstd(&plain)[..200].to_vec(),
            "E1143 `a.pcap` is damaged behind",
        ),
        // A frame that requires 256 MB.
        (
            b"\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00".to_vec(),
            "cannot be unpacked",
        ),
        (
            b"\x1f\x8b\x08\0packed".to_vec(),
            "E1143 `a.pcap` is damaged behind 0 packets",
        ),
    ] {
        let wrong = read(&packed).1.expect("an error");
        assert!(wrong.contains(expected), "{wrong}");
    }
    let mut damaged = gzip(&plain);
    let last = damaged.len() - 3;
    damaged[last] ^= 1;
    let (packets, wrong) = read(&damaged);
    assert_eq!(packets.len(), 50, "{wrong:?}");
}

#[test]
fn several_captures_are_read_in_the_order_of_their_times() {
    let packets = |from: u8, many: u8| -> Vec<Vec<u8>> {
        let numbers = from..from + many;
        numbers.map(|n| frames::udp(n, 2, (3, 4), b"x")).collect()
    };
    let senders = |packets: &Packets| {
        packets
            .iter()
            .map(|(bytes, ..)| bytes[29])
            .collect::<Vec<u8>>()
    };
    let early = pcap(1, 10, &packets(1, 3));
    let late = pcap(1, 13, &packets(4, 2));
    // Files of one capture, named in any order.
    for files in [[&early[..], &late], [&late, &early]] {
        assert_eq!(senders(&read_all(&files).0), [1, 2, 3, 4, 5]);
    }
    // Two captures at the same time. Of equal times, the first named capture's comes first.
    let beside = pcap(1, 11, &packets(50, 3));
    let all = read_all(&[&early, &beside, &late]);
    assert_eq!(senders(&all.0), [1, 2, 50, 3, 51, 52, 4, 5]);
    // A packet without a time follows the one before it, and each file keeps its order.
    let own = |n: u8| frames::udp(n, 2, (3, 4), b"x");
    let mixed = [
        section(LITTLE),
        interface(1, &[], LITTLE),
        enhanced(0, 11_500_000, &own(100), &[], LITTLE),
        simple(&own(101), LITTLE),
        enhanced(0, 9_000_000, &own(102), &[], LITTLE),
        enhanced(0, 14_500_000, &own(103), &[], LITTLE),
    ];
    let all = read_all(&[&early, &mixed.concat(), &late]);
    assert_eq!(senders(&all.0), [1, 2, 100, 101, 102, 3, 4, 5, 103]);
    // A damaged capture ends at the damage.
    let (all, wrong) = read_all(&[&early[..early.len() - 3], &gzip(&late)]);
    assert_eq!(senders(&all), [1, 2, 4, 5]);
    let expected = "E1143 `a.pcap` is damaged behind 2 packets: it ends in the middle of a packet";
    assert_eq!(wrong.as_deref(), Some(expected));
    assert_eq!(
        query("rate", &[&late, &early]).rows[0].cells,
        [Cell::Real(1.25)]
    );
    assert_eq!(read_all(&[]).0.len(), 0);
    assert!(all.iter().all(|(.., link)| *link == Link::Ethernet));
}
