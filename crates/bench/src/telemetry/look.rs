//! Parsers of messages outside the kernel: a search for the query attribute, or Onpath's evaluator of queries.

use super::message::{HEADERS, Message, PORT, QUERY};
use crate::error::Error;
use memchr::memmem::Finder;
use net::packet_ring::Captured;
use payload::Schema;
use std::time::Duration;
use telemetry::{Catalogue, Evaluator, Frame, Link, Payload, Query, Schemas, Transport};

/// Method of parsing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// A search for the bytes of the query attribute.
    Search,
    /// A query, evaluated by a schema of the messages.
    Query,
}

/// Description of the query attribute, for a [`Look`].
pub(super) struct Wanted {
    bytes: Vec<u8>,
    schemas: Schemas,
    query: Query,
}

impl Wanted {
    /// Describes the query attribute of a message whose attributes have 25 bytes.
    pub(super) fn of(message: &Message) -> Result<Wanted, Error> {
        let bytes = message.query();
        let (tag, value) = bytes.split_at(2);
        let tag = u16::from_be_bytes([tag[0], tag[1]]);
        let schema = schema(tag)?;
        let schemas = Schemas::new(vec![schema]);
        let text = format!(
            "count where message.query == \"{}\"",
            String::from_utf8_lossy(value)
        );
        let mut map = diag::SourceMap::new();
        let query = telemetry::compile(&text, &Catalogue::new(&schemas), &mut map)
            .map_err(|d| Error::diagnostics(&d, &map))?;
        Ok(Wanted {
            bytes,
            schemas,
            query,
        })
    }
}

/// Returns the schema of messages whose query attribute has this tag.
fn schema(tag: u16) -> Result<Schema, Error> {
    let value = QUERY - 2;
    let text = format!(
        "name = \"message\"
title = \"Attributes of 25 bytes\"
reference = \"none\"
transport = \"udp\"
ports = [{PORT}]
root = \"message\"

[[layout]]
name = \"message\"
field = [{{ name = \"attribute\", layout = \"attribute\", repeat = true }}]

[[layout]]
name = \"attribute\"
key = \"tag\"
field = [{{ name = \"tag\", size = 2 }}, {{ name = \"value\", size = {value} }}]

[[attribute]]
name = \"query\"
field = \"attribute.value\"
key = {tag}
"
    );
    let mut map = diag::SourceMap::new();
    let file = map.add("message.toml", text);
    let file = file.ok_or_else(|| Error::new("the schema is too long"))?;
    payload::load(&map, file).map_err(|d| Error::diagnostics(&d, &map))
}

/// Parser that counts messages with the query attribute.
pub(super) enum Look<'w> {
    /// No parser.
    Nothing,
    /// Search, with its count.
    Search(Box<Finder<'w>>, u64),
    /// Evaluator of a query.
    Query(Box<Evaluator<'w>>),
}

impl<'w> Look<'w> {
    pub(super) fn new(by: By, wanted: &'w Wanted) -> Look<'w> {
        match by {
            By::Search => Look::Search(Box::new(Finder::new(&wanted.bytes)), 0),
            By::Query => {
                let query = wanted.query.clone();
                Look::Query(Box::new(Evaluator::new(
                    query,
                    &wanted.schemas,
                    None,
                    [0, 1],
                )))
            }
        }
    }

    /// Parses a payload that an application received.
    pub(super) fn received(&mut self, bytes: &[u8]) {
        match self {
            Look::Nothing => {}
            Look::Search(finder, found) => *found += u64::from(finder.find(bytes).is_some()),
            Look::Query(evaluator) => {
                let payload = Payload {
                    transport: Transport::Udp,
                    source_port: 0,
                    destination_port: PORT,
                    bytes,
                };
                evaluator.received(payload, Duration::ZERO);
            }
        }
    }

    /// Parses a copy of a packet.
    pub(super) fn copied(&mut self, packet: &Captured) {
        match self {
            Look::Nothing => {}
            Look::Search(..) => self.received(packet.bytes.get(HEADERS..).unwrap_or_default()),
            Look::Query(evaluator) => evaluator.packet(&Frame {
                bytes: packet.bytes,
                length: packet.length,
                time: Some(packet.time),
                link: Link::Ethernet,
            }),
        }
    }

    /// Returns the number of messages with the query attribute.
    pub(super) fn found(&self) -> u64 {
        match self {
            Look::Nothing => 0,
            Look::Search(_, found) => *found,
            Look::Query(evaluator) => evaluator.counts().matched,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_and_query_find_the_same() {
        for bytes in [200, 1400] {
            let message = Message::of_bytes(bytes);
            let wanted = Wanted::of(&message).expect("a query");
            let (right, mut wrong) = (message.payload(), message.payload());
            wrong[bytes - 1] ^= 1;
            for by in [By::Search, By::Query] {
                let mut look = Look::new(by, &wanted);
                look.received(&right);
                look.received(&wrong);
                assert_eq!(look.found(), 1, "{by:?} of {bytes} bytes");
                let packet = message.packet();
                look.copied(&Captured {
                    bytes: &packet,
                    length: packet.len() as u32,
                    time: Duration::ZERO,
                });
                assert_eq!(look.found(), 2, "{by:?} of {bytes} bytes");
            }
        }
    }
}
