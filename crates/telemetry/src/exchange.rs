//! Requests that wait for their responses.

use crate::catalogue::Field;
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

/// Connections whose requests and responses are numbered; beyond, the one that was quiet for longest is forgotten.
pub(crate) const FLOWS: usize = 4096;
/// Requests that wait; beyond, the one that waits for longest is forgotten.
pub(crate) const WAITING: usize = 4096;
/// The most bytes of texts that are kept of requests that wait.
pub(crate) const MEMORY: usize = 16 << 20;

/// What a query keeps of requests, until their responses come. A program on the path does the same (`program/exchange.rs`).
pub(crate) struct Exchanges {
    rules: Exchange,
    ports: Vec<u16>,
    /// True if messages go on from segment to segment, so that it is known where one begins.
    follows: bool,
    /// By a hash that senders cannot make collide, as the next: the standard library's, not the cache's own.
    flows: LruCache<Ends, Order, RandomState>,
    waiting: LruCache<(Ends, u64), Request, RandomState>,
    /// Bytes of texts in `waiting`.
    bytes: usize,
    /// True if the packet may have a message whose side is not known.
    missed: bool,
    /// Requests that have no number, as one in front of them was missed.
    unfollowed: u64,
}

/// Who asks whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Ends {
    client: (IpAddr, u16),
    server: (IpAddr, u16),
}

/// How many requests and responses a connection had. Their numbers pair them.
#[derive(Clone, Copy, Default, Debug)]
struct Order {
    requests: u32,
    responses: u32,
    /// Where the last of each begins, in the numbers of TCP: what comes from further in front is sent again.
    last_request: u32,
    last_response: u32,
    /// True if one may have been missed: those behind it have no number.
    missed_request: bool,
    missed_response: bool,
}

/// A request.
struct Request {
    time: Option<Duration>,
    values: Values<'static>,
    bytes: usize,
}

/// The values of a query's attributes: the first of each, and the others with the attribute's place.
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
    /// These, and those of another message where there are none.
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

/// Which side a message is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Request,
    Response,
}

impl Exchanges {
    /// Of messages of a schema, if that says what answers what.
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

    /// Requests so far that have no number, as one in front of them was missed.
    pub(crate) fn unfollowed(&self) -> u64 {
        self.unfollowed
    }

    /// The attributes of messages that are read besides those of the query.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &str> {
        self.rules.attributes()
    }

    /// Takes note of a packet that may open a connection: what was known of one with the same ends is forgotten.
    pub(crate) fn opening(&mut self, packet: &Packet) {
        const SYN: u64 = 2;
        const ACK: u64 = 16;
        let Some(Value::Number(flags)) = packet.field(Field::TcpFlags) else {
            return;
        };
        if flags & (SYN | ACK) == SYN
            && let Some(Value::Flow(flow)) = packet.field(Field::Flow)
        {
            self.flows.pop(&Ends {
                client: (flow.source, flow.source_port),
                server: (flow.destination, flow.destination_port),
            });
        }
    }

    /// Takes a message. If it is the response to a request that is known: its values and, where it has none, the request's, and
    /// the nanoseconds since the request, if both times are known. The message has the values that the query asks for, and behind them those of
    /// [`Exchanges::attributes`].
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
            // One that shows a side may be none all the same, such as an interim response.
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
                let position = match packet.field(Field::TcpSequence) {
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
                // One of an earlier connection with the same number would get the response.
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

    /// The side of a message that has these values of [`Exchanges::attributes`].
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

    /// Takes note at the end of a packet that a message in it may have been missed: of its connection, those behind it on its side have no number.
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

    /// The number of a message on its connection: `None` if it came before, none inside if it is not known, as that of a response that no request has. The
    /// position is in the numbers of TCP.
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

    /// Has a request wait.
    fn wait(&mut self, ends: Ends, number: u64, time: Option<Duration>, values: Values) {
        let values = values.into_owned();
        let text = |value: &Value| match value {
            Value::Text(text) => text.len(),
            _ => 0,
        };
        let others = values.more.iter().map(|(_, value)| {
            // There may be many, of no bytes each.
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
    // An application knows the ports of what it receives.
    let unknown = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let (source, destination) = match packet.field(Field::Flow) {
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
