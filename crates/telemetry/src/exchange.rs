//! Requests that wait for their responses.

use crate::catalogue::HeaderField;
use crate::messages::{Found, Payload};
use crate::packet::Packet;
use crate::report::Counts;
use crate::value::Value;
use lru::LruCache;
use payload::{Exchange, Schema, Sides};
use std::hash::RandomState;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Greatest number of connections whose requests and responses are counted. The least recently used one is forgotten
/// first.
pub(crate) const FLOWS: usize = 4096;
/// Greatest number of waiting requests. The one that has waited longest is forgotten first.
pub(crate) const WAITING: usize = 4096;
/// Greatest number of bytes of texts in waiting requests.
pub(crate) const MEMORY: usize = 16 << 20;

/// Waiting requests of a query. A program on the path keeps the same state (`program/exchange.rs`).
pub(crate) struct Exchanges {
    rules: Exchange,
    ports: Vec<u16>,
    /// True if messages continue in later segments, so that the start of each is known.
    follows: bool,
    /// Order of the messages on each connection. Unlike the default hash of the cache, the standard library's cannot be
    /// attacked with collisions. The same holds for `waiting`.
    flows: LruCache<Ends, Order, RandomState>,
    waiting: LruCache<(Ends, u64), Request, RandomState>,
    /// Number of bytes of texts in `waiting`.
    bytes: usize,
    /// True if the packet may contain a message of an unknown side.
    missed: bool,
    /// Number of requests without a number, since an earlier one was missed.
    unfollowed: u64,
}

/// Endpoints of a connection, by their roles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Ends {
    client: (IpAddr, u16),
    server: (IpAddr, u16),
}

/// Numbers of requests and responses of a connection so far, which pair them.
#[derive(Clone, Copy, Default, Debug)]
struct Order {
    requests: u32,
    responses: u32,
    /// TCP sequence number of the last request. One before it is a retransmission. The next field is the same for
    /// responses.
    last_request: u32,
    last_response: u32,
    /// True if a request may have been missed: later ones have no number. The next field is the same for responses.
    missed_request: bool,
    missed_response: bool,
}

/// Request that waits.
struct Request {
    time: Option<Duration>,
    values: Values<'static>,
    bytes: usize,
}

/// Values of a query's attributes: the first of each, and the others with the attribute's index.
pub(crate) struct Values<'a> {
    pub first: Vec<Option<Value<'a>>>,
    pub more: Vec<(usize, Value<'a>)>,
}

impl Values<'_> {
    fn into_owned(self) -> Values<'static> {
        let first = self.first.into_iter().map(|v| v.map(Value::into_owned));
        let more = self.more.into_iter().map(|(of, v)| (of, v.into_owned()));
        Values {
            first: first.collect(),
            more: more.collect(),
        }
    }
}

impl<'a> Values<'a> {
    /// Returns these values, with those of another message where they are missing.
    fn or(mut self, other: Values<'a>) -> Values<'a> {
        let is_missing: Vec<bool> = self.first.iter().map(Option::is_none).collect();
        let missing = other.more.into_iter().filter(|(of, _)| is_missing[*of]);
        self.more.extend(missing);
        for (own, other) in self.first.iter_mut().zip(other.first) {
            *own = own.take().or(other);
        }
        self
    }
}

/// Side of an exchange that a message belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Request,
    Response,
}

impl Exchanges {
    /// Returns the state for a schema's messages, if the schema pairs them.
    pub(crate) fn new(schema: &Schema) -> Option<Exchanges> {
        Some(Exchanges {
            rules: schema.exchange.clone()?,
            ports: schema.ports.clone(),
            follows: schema.follow,
            flows: LruCache::with_hasher(NonZeroUsize::new(FLOWS)?, RandomState::new()),
            waiting: LruCache::with_hasher(NonZeroUsize::new(WAITING)?, RandomState::new()),
            bytes: 0,
            missed: false,
            unfollowed: 0,
        })
    }

    /// Returns the number of requests without a number, since an earlier one was missed.
    pub(crate) fn unfollowed(&self) -> u64 {
        self.unfollowed
    }

    /// Returns the attributes of messages that are read besides those of the query.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &str> {
        self.rules.attributes()
    }

    /// Examines a packet that may open a connection: the state of an earlier connection with the same endpoints is
    /// forgotten.
    pub(crate) fn opening(&mut self, packet: &Packet) {
        const SYN: u64 = 2;
        const ACK: u64 = 16;
        let Some(Value::Number(flags)) = packet.field(HeaderField::TcpFlags) else {
            return;
        };
        if flags & (SYN | ACK) == SYN
            && let Some(Value::Flow(flow)) = packet.field(HeaderField::Flow)
        {
            self.flows.pop(&Ends {
                client: (flow.source, flow.source_port),
                server: (flow.destination, flow.destination_port),
            });
        }
    }

    /// Adds a message. If it is the response to a known request, returns its values and the nanoseconds since the
    /// request. The request's values stand in for missing ones. The time is `None` unless both times are known. A
    /// message's values are those of the query, followed by those of [`Exchanges::attributes`].
    pub(crate) fn take<'a>(
        &mut self,
        (packet, payload): (&Packet, &Payload),
        time: Option<Duration>,
        message: Found<'_, 'a>,
        counts: &mut Counts,
    ) -> Option<(Values<'a>, Option<u64>)> {
        if message.missed {
            self.missed = self.follows;
            return None;
        }
        let own = message.values.len() - self.attributes().count();
        let (values, pairing) = message.values.split_at(own);
        let values = || Values {
            first: values.to_vec(),
            more: message.more.to_vec(),
        };
        let Some(side) = self.side(pairing, payload) else {
            // A message that belongs to a side by its attributes need not count as one; an interim response does not.
            self.missed |= self.follows && !message.whole && pairing.iter().all(Option::is_none);
            return None;
        };
        let ends = ends(packet, payload, side);
        let number = match &self.rules.id {
            Some(_) => match pairing.last() {
                Some(Some(Value::Number(id))) => Some(*id),
                _ => return None,
            },
            None => {
                let position = match packet.field(HeaderField::TcpSequence) {
                    Some(Value::Number(first)) => {
                        Some((first as u32).wrapping_add(message.start as u32))
                    }
                    _ => None,
                };
                self.number(ends, side, position)?
            }
        };
        match side {
            Side::Request => {
                let Some(number) = number else {
                    self.unfollowed += 1;
                    return None;
                };
                if message.whole {
                    counts.unanswered += 1;
                    self.wait(ends, number, time, values());
                    return None;
                }
                // Otherwise a request of an earlier connection with the same number would get the response.
                let earlier = self.waiting.pop(&(ends, number));
                self.bytes -= earlier.map_or(0, |earlier| earlier.bytes);
                None
            }
            Side::Response => {
                let request = number.and_then(|number| self.waiting.pop(&(ends, number)));
                let Some(request) = request else {
                    counts.unmatched += 1;
                    return None;
                };
                self.bytes -= request.bytes;
                counts.unanswered -= 1;
                if !message.whole {
                    return None;
                }
                let passed = time.zip(request.time).map(|(time, asked)| {
                    let passed = time.saturating_sub(asked).as_nanos();
                    u64::try_from(passed).unwrap_or(u64::MAX)
                });
                Some((values().or(request.values), passed))
            }
        }
    }

    /// Returns the side of a message with these values of [`Exchanges::attributes`].
    fn side(&self, pairing: &[Option<Value>], payload: &Payload) -> Option<Side> {
        match &self.rules.sides {
            Sides::Ports if self.ports.contains(&payload.destination_port) => Some(Side::Request),
            Sides::Ports if self.ports.contains(&payload.source_port) => Some(Side::Response),
            Sides::Ports => None,
            Sides::Attributes { request, response } => {
                let is = |side: &payload::Side, value: Option<&Option<Value>>| match value {
                    Some(Some(Value::Number(number))) => side.is(Some(*number)),
                    Some(Some(_)) => side.is(None),
                    _ => false,
                };
                if is(request, pairing.first()) {
                    Some(Side::Request)
                } else if is(response, pairing.get(1)) {
                    Some(Side::Response)
                } else {
                    None
                }
            }
        }
    }

    /// Ends a packet. If a message in it may have been missed, later ones on its side of the connection have no number.
    pub(crate) fn settle(&mut self, packet: &Packet, payload: &Payload) {
        if !std::mem::take(&mut self.missed) || self.rules.id.is_some() {
            return;
        }
        let [request, response] =
            [Side::Request, Side::Response].map(|side| ends(packet, payload, side));
        let answers = self.flows.peek_mut(&response);
        let is_of_server = answers.is_some();
        if let Some(order) = answers {
            order.missed_response = true;
        }
        if let Some(order) = self.flows.peek_mut(&request) {
            order.missed_request = true;
        } else if !is_of_server {
            let order = self.flows.get_or_insert_mut(request, Order::default);
            order.missed_request = true;
        }
    }

    /// Returns the number of a message on its connection. The outer `None` is a retransmission. The inner one is an
    /// unknown number, such as that of a response without a request. `position` is a TCP sequence number.
    #[allow(
        clippy::option_option,
        reason = "one is about the message, one about its request"
    )]
    fn number(&mut self, ends: Ends, side: Side, position: Option<u32>) -> Option<Option<u64>> {
        if side == Side::Response && self.flows.peek(&ends).is_none() {
            return Some(None);
        }
        let order = self.flows.get_or_insert_mut(ends, Order::default);
        let (before, last, missed) = match side {
            Side::Request => (
                order.requests,
                &mut order.last_request,
                &mut order.missed_request,
            ),
            Side::Response => (
                order.responses,
                &mut order.last_response,
                &mut order.missed_response,
            ),
        };
        *missed |= self.missed;
        let is_lost = *missed;
        if let Some(position) = position {
            if before != 0 && (position.wrapping_sub(*last) as i32) <= 0 {
                return None;
            }
            *last = position;
        }
        let is_known = !is_lost && (side == Side::Request || order.responses != order.requests);
        match side {
            Side::Request if is_known => order.requests = before.wrapping_add(1),
            Side::Response if is_known => order.responses = before.wrapping_add(1),
            Side::Request | Side::Response => {}
        }
        Some(is_known.then_some(before.into()))
    }

    /// Adds a waiting request.
    fn wait(&mut self, ends: Ends, number: u64, time: Option<Duration>, values: Values) {
        let values = values.into_owned();
        let text = |value: &Value| match value {
            Value::Text(text) => text.len(),
            _ => 0,
        };
        let others = values.more.iter().map(|(_, value)| {
            // There may be many values of no bytes.
            size_of::<(usize, Value)>() + text(value)
        });
        let bytes = values.first.iter().flatten().map(text).chain(others).sum();
        self.bytes += bytes;
        let request = Request {
            time,
            values,
            bytes,
        };
        if let Some((_, forgotten)) = self.waiting.push((ends, number), request) {
            self.bytes -= forgotten.bytes;
        }
        while self.bytes > MEMORY
            && let Some((_, forgotten)) = self.waiting.pop_lru()
        {
            self.bytes -= forgotten.bytes;
        }
    }
}

fn ends(packet: &Packet, payload: &Payload, side: Side) -> Ends {
    // An application knows only the ports of the bytes that it receives.
    let unknown = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let (source, destination) = match packet.field(HeaderField::Flow) {
        Some(Value::Flow(flow)) => (flow.source, flow.destination),
        _ => (unknown, unknown),
    };
    let (source, destination) = (
        (source, payload.source_port),
        (destination, payload.destination_port),
    );
    match side {
        Side::Request => Ends {
            client: source,
            server: destination,
        },
        Side::Response => Ends {
            client: destination,
            server: source,
        },
    }
}
