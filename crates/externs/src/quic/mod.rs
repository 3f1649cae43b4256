//! QUIC connections: the bytes of the handshake in the client's Initial packets (`p4include/payload.p4`).
//!
//! ```p4
//! extern quic_initials {
//!     quic_initials(bit<32> connections);
//!     quic_status take(in bit<64> ticket, in bit<32> offset, in bit<32> length, out bit<64> ticket_of_all);
//! }
//! ```
//!
//! `message.read_initials` reads the bytes as a message.

mod connection;
mod packet;
#[cfg(test)]
mod tests;

use crate::call::{Arg, Env, Fault, Reply, index};
use crate::{Extern, ExternState, Meaning};
use connection::Connection;
use ir::{Bits, ExternData};
use num_traits::ToPrimitive;
use packet::Datagram;
use std::collections::HashMap;
use std::sync::Arc;

/// Extern whose objects hold the bytes of connections.
pub const QUIC_INITIALS: &str = "quic_initials";
/// Method that takes the bytes of a datagram.
pub const TAKE: &str = "take";
/// Most connections of an object.
pub const MOST_CONNECTIONS: u32 = 1 << 20;

/// Most bytes of a datagram, and of the handshake that a connection begins with.
pub(crate) const MOST_BYTES: usize = 4096;

/// Status of a datagram: `quic_status`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    Whole = 0,
    Part = 1,
    Other = 2,
    Version = 3,
    Malformed = 4,
    Conflict = 5,
    TooLong = 6,
    Forgotten = 7,
}

/// `quic_initials`
pub(crate) const EXTERN: Extern = Extern {
    name: QUIC_INITIALS,
    meaning: Meaning::Object {
        create: |data| ExternState::Quic(Arc::new(Connections::new(connections(data)))),
        methods: &[(TAKE, take)],
    },
};

/// Returns the number of connections that an object holds.
pub fn connections(data: &ExternData) -> u32 {
    let given = data.int_arg("connections").and_then(ToPrimitive::to_u32);
    given.unwrap_or(1).clamp(1, MOST_CONNECTIONS)
}

/// Connections by slot, each with the ticket that leads to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connections {
    slots: u32,
    last: u64,
    all: HashMap<u32, (u64, Connection)>,
}

impl Connections {
    fn new(slots: u32) -> Connections {
        Connections {
            slots,
            ..Connections::default()
        }
    }

    fn slot(&self, ticket: u64) -> u32 {
        ticket as u32 % self.slots.max(1)
    }

    /// Returns the bytes without a gap to which a ticket leads. `None` if they were forgotten.
    pub fn bytes(&self, ticket: u64) -> Option<&[u8]> {
        let (known, connection) = self.all.get(&self.slot(ticket))?;
        let bytes = connection.first_message();
        (*known == ticket && !bytes.is_empty()).then_some(bytes)
    }

    /// Takes a datagram. Returns what becomes of it, and the ticket of all bytes.
    fn take(&mut self, ticket: u64, bytes: &[u8]) -> (Status, u64) {
        let mut datagram = Datagram::new(bytes);
        let first = match datagram.next_initial() {
            Ok(initial) => initial,
            Err(status) => return (status, ticket),
        };
        let mut connection = match ticket {
            0 => {
                self.last += 1;
                Connection::default()
            }
            _ => match self.all.get(&self.slot(ticket)) {
                Some((known, connection)) if *known == ticket => connection.clone(),
                _ => return (Status::Forgotten, ticket),
            },
        };
        let ticket_of_all = if ticket == 0 { self.last } else { ticket };
        let slot = self.slot(ticket_of_all);
        let mut initial = first;
        let status = loop {
            if let Err(status) = connection.read(&initial) {
                break status;
            }
            initial = match datagram.next_initial() {
                // All packets of a datagram have one id (RFC 9000, section 12.2). Which ones a server reads otherwise is its own choice.
                Ok(next) if next.id != initial.id => break Status::Malformed,
                Ok(next) => next,
                Err(Status::Other) if connection.is_whole() => break Status::Whole,
                Err(Status::Other) => break Status::Part,
                Err(status) => break status,
            };
        };
        let is_taken = matches!(status, Status::Whole | Status::Part);
        if ticket == 0 && !is_taken {
            self.all.remove(&slot);
            return (status, 0);
        }
        self.all.insert(slot, (ticket_of_all, connection));
        (status, ticket_of_all)
    }
}

fn take(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Quic(connections) = state else {
        return Err(Fault::Malformed);
    };
    let bytes = env.payload_from(index(args, 1)?);
    let length = usize::try_from(index(args, 2)?).unwrap_or(usize::MAX);
    let bytes = &bytes[..bytes.len().min(length)];
    let (status, ticket) = Arc::make_mut(connections).take(index(args, 0)?, bytes);
    Ok(Reply {
        result: vec![Bits::new(8, status as u32)],
        // A ticket has 56 bits.
        outs: vec![(3, vec![Bits::new(64, ticket << 8 >> 8)])],
    })
}
