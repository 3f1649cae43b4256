//! Times per packet by test runs: each packet is a request of a connection of its own, whose SYN came before.

use super::messages::{Kind, unlisted};
use super::network::{CLIENT, SERVER};
use super::peers::{PASS_C, TUPLE_C, load_firewall};
use super::quic::{self, Verified};
use crate::error::Error;
use crate::programs::{Ready, from_p4, load_c};
use kernel::bench::{Effort, attached, median};
use kernel::sys::{Prog, Update};
use serde::Serialize;
use std::path::Path;

const P4: &str = "programs/url_firewall/url_firewall.p4";
/// Verdicts of programs at XDP.
pub(super) const DROP: u32 = 1;
pub(super) const PASS: u32 = 2;
/// Size of a packet with a request.
const SIZE: usize = 330;
const TCP: u8 = 6;
const UDP: u8 = 17;
const SYN: u8 = 2;
const DATA: u8 = 0x18;

/// Extent of the measurements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Number of packets of each kind.
    pub(super) packets: usize,
    /// Rounds and runs of packets of decided connections.
    pub(super) decided: Effort,
}

/// Time of a request, in nanoseconds net of the program that does nothing.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Time {
    pub(super) names: usize,
    pub(super) message: &'static str,
    pub(super) is_listed: bool,
    /// Number of names that packets have in turn: 1 if warm.
    pub(super) rotated: usize,
    pub(super) ours: f64,
    pub(super) hand_written: f64,
    pub(super) no_op: f64,
}

/// Times of data of a decided connection.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Decided {
    pub(super) ours: f64,
    /// An exact look-up of the connection.
    pub(super) look_up: f64,
}

/// Times of all lists.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Times {
    pub(super) requests: Vec<Time>,
    pub(super) decided: Decided,
    /// Cost of QUIC.
    pub(super) quic: Verified,
}

/// Measures with lists of these sizes.
pub(super) fn measure(
    root: &Path,
    names: &[String],
    counts: &[usize],
    extent: Extent,
) -> Result<Times, Error> {
    let no_op = load_c(root, PASS_C)?.0;
    let mut requests = Vec::new();
    // Each request has a connection that no program knows.
    let mut first = 0;
    for &count in counts {
        eprintln!("  test runs with {count} names ...");
        let names = &names[..count.min(names.len())];
        let ours = ours(root, names, "")?;
        let hand_written = load_firewall(root, names)?;
        let programs = [&no_op, &hand_written, &ours];
        for kind in Kind::ALL {
            for is_listed in [true, false] {
                for is_cold in [false, true] {
                    let case = (kind, is_listed, is_cold);
                    requests.push(time(&programs, names, (case, first), extent)?);
                    first += extent.packets as u32;
                }
            }
        }
    }
    let decided = decided(root, &no_op, names, extent)?;
    let names = &names[..names.len().min(10_000)];
    let (of_quic, quic) = quic::measure(root, &no_op, names, extent)?;
    requests.extend(of_quic);
    Ok(Times {
        requests,
        decided,
        quic,
    })
}

/// Loads the firewall with a list. `settings` are lines in front of the program.
pub(super) fn ours(root: &Path, names: &[String], settings: &str) -> Result<Ready, Error> {
    let folder = tempfile::tempdir().map_err(Error::system("a folder"))?;
    let file = folder.path().join("names.p4");
    let text = format!(
        "{settings}#define MOST_RULES {}\n#include \"{}\"\n",
        names.len() + 10_000,
        root.join(P4).display()
    );
    std::fs::write(&file, text).map_err(|e| Error::file("write", &file, &e))?;
    let rules: Vec<String> = names
        .iter()
        .map(|name| format!("name_add names {name}"))
        .collect();
    from_p4(root, &file.to_string_lossy(), &rules)
}

fn time(
    programs: &[&Ready; 3],
    names: &[String],
    ((kind, is_listed, is_cold), first): ((Kind, bool, bool), u32),
    extent: Extent,
) -> Result<Time, Error> {
    let _attached =
        attached(&programs.map(|ready| &ready.prog)).map_err(Error::system("devices"))?;
    let mut samples = [const { Vec::new() }; 3];
    let rotated = match is_cold {
        true => extent.packets.min(names.len()),
        false => 1,
    };
    for number in 0..extent.packets {
        // Names in an order that no cache foresees: the list is in a random one.
        let turn = if is_cold { number } else { 0 };
        let name = match is_listed {
            true => names[turn * 7919 % names.len()].clone(),
            false => unlisted(turn as u64),
        };
        let connection = first + number as u32;
        let request = kind.request(&name, number as u64, SIZE);
        let packet = packet(kind, connection, 1, DATA, &request);
        let syn = self::packet(kind, connection, 0, SYN, &[]);
        for (which, (program, samples)) in programs.iter().zip(&mut samples).enumerate() {
            if kind != Kind::Dns {
                run(&program.prog, &syn)?;
            }
            let (verdict, nanoseconds) = run(&program.prog, &packet)?;
            let expected = if is_listed && which > 0 { DROP } else { PASS };
            if verdict != expected {
                return Err(Error::new(format!(
                    "program {which}, {} names, {} for {name}: verdict {verdict}",
                    names.len(),
                    kind.name()
                )));
            }
            samples.push(nanoseconds);
        }
    }
    let [no_op, hand_written, ours] = samples.map(|samples| median(&samples));
    Ok(Time {
        names: names.len(),
        message: kind.name(),
        is_listed,
        rotated: if is_listed || !is_cold {
            rotated
        } else {
            extent.packets
        },
        ours: ours - no_op,
        hand_written: hand_written - no_op,
        no_op,
    })
}

pub(super) fn run(prog: &Prog, packet: &[u8]) -> Result<(u32, f64), Error> {
    let mut out = [0; 4096];
    let ran = prog.run_xdp(packet, &mut out, 0, 1);
    let ran = ran.map_err(Error::system("a test run"))?;
    Ok((ran.verdict, f64::from(ran.nanoseconds)))
}

/// Measures a segment of application data, again and again, of a connection whose ClientHello was passed.
fn decided(root: &Path, no_op: &Ready, names: &[String], extent: Extent) -> Result<Decided, Error> {
    let ours = ours(root, &names[..names.len().min(10_000)], "")?;
    let (look_up, maps) = load_c(root, TUPLE_C)?;
    let connection = 7;
    let hello = Kind::Tls.request(&unlisted(1), 1, SIZE);
    let mut data = vec![23, 3, 3, 4, 0];
    data.resize(1029, 0x5a);
    let next = 1 + hello.len() as u32;
    let data = packet(Kind::Tls, connection, next, DATA, &data);
    run(&ours.prog, &packet(Kind::Tls, connection, 0, SYN, &[]))?;
    run(&ours.prog, &packet(Kind::Tls, connection, 1, DATA, &hello))?;
    let (_, map) = maps
        .iter()
        .find(|(name, _)| name == "connections")
        .ok_or_else(|| Error::new("there is no map"))?;
    let mut key = [data[26..38].to_vec(), vec![TCP, 0, 0, 0]].concat();
    for other in 0..10_000u32 {
        // The connection itself comes first.
        map.set(&key, &0u64.to_ne_bytes(), Update::Any)
            .map_err(Error::system("a map"))?;
        key[..4].copy_from_slice(&other.to_be_bytes());
    }
    let subjects = [no_op, &look_up, &ours].map(|ready| kernel::bench::Subject {
        prog: &ready.prog,
        packet: &data,
        repeats: None,
    });
    let samples = kernel::bench::interleaved(&subjects, extent.decided)
        .map_err(Error::system("a test run"))?;
    let [no_op, look_up, ours] = [0, 1, 2].map(|n: usize| kernel::bench::undisturbed(&samples[n]));
    Ok(Decided {
        ours: ours - no_op,
        look_up: look_up - no_op,
    })
}

/// Returns a frame of a connection. Its source address and port follow from the connection's number.
pub(super) fn packet(
    kind: Kind,
    connection: u32,
    sequence: u32,
    flags: u8,
    payload: &[u8],
) -> Vec<u8> {
    let port = 1024 + (connection % 60_000) as u16;
    let (protocol, mut transport) = match kind {
        Kind::Dns => {
            let mut udp = port.to_be_bytes().to_vec();
            udp.extend(kind.port().to_be_bytes());
            udp.extend((payload.len() as u16 + 8).to_be_bytes());
            udp.extend([0, 0]);
            (UDP, udp)
        }
        _ => {
            let mut tcp = port.to_be_bytes().to_vec();
            tcp.extend(kind.port().to_be_bytes());
            tcp.extend((1000 + sequence).to_be_bytes());
            tcp.extend([0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
            (TCP, tcp)
        }
    };
    transport.extend(payload);
    let mut ip = vec![0x45, 0];
    ip.extend((transport.len() as u16 + 20).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    let [net, _, _, host] = CLIENT.octets();
    let [high, low] = ((connection / 60_000) as u16).to_be_bytes();
    ip.extend([net, high, low, host]);
    ip.extend(SERVER.octets());
    if protocol == TCP {
        let sum = checksum(
            &[
                &ip[12..20],
                &[0, TCP],
                &(transport.len() as u16).to_be_bytes(),
                &transport,
            ]
            .concat(),
        );
        transport[16..18].copy_from_slice(&sum.to_be_bytes());
    }
    let sum = checksum(&ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let ethernet = [2, 0, 0, 0, 77, 1, 2, 0, 0, 0, 77, 2, 8, 0];
    [&ethernet[..], &ip, &transport].concat()
}

fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|w| u32::from(w[0]) << 8 | u32::from(w.get(1).copied().unwrap_or(0)));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}
