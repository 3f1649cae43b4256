//! A client of TCP whose packets are made here, and sent by a raw socket.

use super::net::inner;
use super::schedule::{ACK, RST, SYN, Schedule, Sent, URG};
use super::wrapping::{Hosts, Network, TCP, Wrapping, segment};
use net::raw_socket::RawSocket;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Time in which an answer comes.
const ANSWERED: Duration = Duration::from_millis(25);

/// A client.
pub(super) struct Client<'n> {
    pub raw: &'n RawSocket,
    pub hosts: Hosts,
    pub wrapping: Wrapping,
    pub ports: [u16; 2],
    pub first: u32,
    /// Number that the server's stream begins with, once it has answered, and the last one that it acknowledged.
    pub peer: Option<u32>,
    pub acknowledged: u32,
}

impl<'n> Client<'n> {
    pub(super) fn new(
        raw: &'n RawSocket,
        hosts: Hosts,
        wrapping: Wrapping,
        ports: [u16; 2],
    ) -> Client<'n> {
        Client {
            raw,
            hosts,
            wrapping,
            ports,
            first: 1000,
            peer: None,
            acknowledged: 0,
        }
    }

    /// Returns the address and port.
    pub(super) fn own(&self) -> (IpAddr, u16) {
        let address = match self.wrapping.network {
            Network::V4 { .. } => self.hosts.v4[0].into(),
            Network::V6 { .. } => self.hosts.v6[0].into(),
        };
        (address, self.ports[0])
    }

    pub(super) fn send(&self, sequence: u32, flags: u8, urgent: Option<u32>, data: &[u8]) {
        self.send_by(&self.wrapping, false, sequence, (flags, urgent), data);
    }

    fn send_by(
        &self,
        wrapping: &Wrapping,
        is_wrong: bool,
        sequence: u32,
        (flags, urgent): (u8, Option<u32>),
        data: &[u8],
    ) {
        let flags = urgent.map_or(flags, |_| flags | URG);
        let pointer = urgent.map_or(0, |urgent| urgent as u16 + 1);
        let flags = if flags == SYN || self.peer.is_some() {
            flags
        } else {
            flags & !ACK
        };
        let numbers = [sequence, self.peer.map_or(0, |peer| peer.wrapping_add(1))];
        let segment = segment(self.ports, numbers, (flags, pointer), data);
        let mut frame = wrapping.frame(&self.hosts, TCP, segment);
        if is_wrong {
            // The checksum has two bytes before the pointer to urgent data.
            let at = frame.len() - data.len() - 4;
            frame[at] ^= 0x55;
        }
        self.raw.send(&frame).expect("a packet is sent");
    }

    /// Reads answers until one fits, for some time.
    pub(super) fn wait(&mut self, time: Duration, fits: impl Fn(&Self) -> bool) -> bool {
        let begun = Instant::now();
        loop {
            while let Some(received) = self.raw.receive().expect("it receives") {
                self.take(&received.bytes);
            }
            if fits(self) {
                return true;
            }
            let Some(left) = time.checked_sub(begun.elapsed()) else {
                return false;
            };
            let left = left.as_millis() as u16 + 1;
            self.raw.wait(left).expect("it waits");
        }
    }

    fn take(&mut self, frame: &[u8]) -> Option<()> {
        let packet = inner(frame)?;
        let segment = match packet.first()? >> 4 {
            4 => packet.get(usize::from(packet[0] & 15) * 4..)?,
            _ => packet.get(40..)?,
        };
        let [own, server] = self.ports.map(u16::to_be_bytes);
        if segment.get(..14)?[..4] != [server, own].concat() {
            return None;
        }
        let number = |at: usize| Some(u32::from_be_bytes(segment[at..at + 4].try_into().ok()?));
        let (sequence, acknowledged) = (number(4)?, number(8)?);
        if segment[13] & SYN != 0 && acknowledged == self.first {
            self.peer = Some(sequence);
            self.acknowledged = acknowledged;
        }
        let newer = acknowledged.wrapping_sub(self.acknowledged);
        if self.peer.is_some() && segment[13] & RST == 0 && newer < 0x10000 {
            self.acknowledged = acknowledged;
        }
        Some(())
    }

    /// Sends a packet of a schedule. One that is not to arrive has a small TTL or a wrong checksum.
    fn play(&mut self, schedule: &Schedule, sent: &Sent) {
        let own = if sent.other {
            self.first.wrapping_add(0x0800_0000)
        } else {
            self.first
        };
        let opens = sent.flags == SYN;
        let sequence = own.wrapping_add(sent.at).wrapping_sub(u32::from(opens));
        let ends_early = !sent.arrives && sent.at.is_multiple_of(2);
        let wrapping = Wrapping {
            hops: if ends_early { 1 } else { 64 },
            ..self.wrapping.clone()
        };
        let is_wrong = !sent.arrives && !ends_early;
        let urgent = schedule.urgent_of(sent.at, &sent.data);
        self.send_by(
            &wrapping,
            is_wrong,
            sequence,
            (sent.flags, urgent),
            &sent.data,
        );
        if opens && sent.arrives && !sent.other {
            self.wait(ANSWERED, |client| client.peer.is_some());
        }
    }

    /// Plays a schedule, and sends again what is not acknowledged, until nothing changes for some rounds. Returns the number of bytes that the server has acknowledged.
    pub(super) fn plays(&mut self, schedule: &Schedule, rounds: u32) -> usize {
        for sent in &schedule.packets {
            self.wait(Duration::ZERO, |_| true);
            self.play(schedule, sent);
        }
        let (mut quiet, mut round) = (0, 0);
        let read = |client: &Self| client.acknowledged.wrapping_sub(client.first) as usize;
        while quiet < rounds {
            let at = read(self);
            let is_new = if self.peer.is_none() {
                self.send(self.first.wrapping_sub(1), SYN, None, &[]);
                self.wait(ANSWERED, |client| client.peer.is_some())
            } else if at >= schedule.stream.len() {
                break;
            } else {
                let end = schedule.stream.len().min(at + 40 + 70 * (round % 3));
                let part = &schedule.stream[at..end];
                let urgent = schedule.urgent_of(at as u32, part);
                self.send(self.first.wrapping_add(at as u32), ACK, urgent, part);
                self.wait(ANSWERED, |client| read(client) > at)
            };
            quiet = if is_new { 0 } else { quiet + 1 };
            round += 1;
        }
        self.peer.map_or(0, |_| read(self))
    }

    /// Ends the connection, whether or not the server has acknowledged that no more comes.
    pub(super) fn reset(&self) {
        for more in 0..2 {
            self.send(self.acknowledged.wrapping_add(more), RST | ACK, None, &[]);
        }
    }
}
