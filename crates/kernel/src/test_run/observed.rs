//! Exchange between user space and a program compiled for test runs: one struct in a data section, with the program's
//! reports and its inputs.

use crate::store::Maps;
use crate::sys::{Map, Update};
use control::StoreError;
use control::repeatable::NUMBERS;
use std::io;

/// Name of the section, and so of the map.
const SECTION: &str = ".data.observed";

/// Number of copies that there is room for.
const COPIES: usize = 64;

/// Offsets of the struct's members, in bytes.
mod offset {
    use super::{COPIES, NUMBERS};

    /// `u32`: port of a redirect.
    pub(crate) const PORT: usize = 0;
    /// `u32`: 1 if the redirect went to that port's ingress, 2 if back to where the packet came from.
    pub(crate) const INGRESS: usize = 4;
    /// `u32`: number of copies made.
    pub(crate) const COPIES_MADE: usize = 8;
    /// `u64`: the clock.
    pub(crate) const NOW: usize = 16;
    /// `u32` each: ports of the copies, in order.
    pub(crate) const COPY: usize = 24;
    /// `u32` each: random numbers, in the order in which they are drawn.
    pub(crate) const RANDOM: usize = COPY + 4 * COPIES;
    /// Size of the struct.
    pub(crate) const END: usize = RANDOM + 4 * NUMBERS;
}

/// The struct of a program.
pub(super) struct Observed<'a>(&'a Map);

/// Direction of a redirect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Redirection {
    /// Out of a port.
    #[default]
    Egress,
    /// Into a port, as if it had come in there.
    Ingress,
    /// Out of the port it came in on.
    Back,
}

/// Reports of the program.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub port: u32,
    pub redirection: Redirection,
    pub copies: Vec<u32>,
    /// Number of copies made.
    pub copies_made: usize,
}

const FIRST: [u8; 4] = 0u32.to_ne_bytes();

impl Observed<'_> {
    /// Finds the struct of a program; `None` if the program has none.
    pub(crate) fn of(maps: &Maps) -> Result<Option<Observed<'_>>, StoreError> {
        let found = maps.get(SECTION);
        let Some(map) = found.map_err(failed("find the program's time"))? else {
            return Ok(None);
        };
        if map.info().value_size < offset::END {
            return Err(StoreError::System {
                what: format!(
                    "the object's {SECTION} has {} bytes instead of {}: another version built it",
                    map.info().value_size,
                    offset::END
                ),
            });
        }
        Ok(Some(Observed(map)))
    }

    /// Sets the time and the random numbers for the next packet.
    pub(crate) fn prepare(&self, now: u64, random: &[u32; NUMBERS]) -> Result<(), StoreError> {
        let mut bytes = vec![0; self.0.info().value_size];
        bytes[offset::NOW..offset::NOW + 8].copy_from_slice(&now.to_ne_bytes());
        for (i, number) in random.iter().enumerate() {
            let at = offset::RANDOM + 4 * i;
            bytes[at..at + 4].copy_from_slice(&number.to_ne_bytes());
        }
        let set = self.0.set(&FIRST, &bytes, Update::Any);
        set.map_err(failed("set the program's clock"))
    }

    /// Returns the last value of the clock.
    pub(crate) fn now(&self) -> Result<u64, StoreError> {
        let bytes = self.0.get(&FIRST);
        let bytes = bytes.map_err(failed("read the program's time"))?;
        let now = bytes
            .as_deref()
            .and_then(|b| b.get(offset::NOW..)?.first_chunk());
        Ok(now.copied().map_or(0, u64::from_ne_bytes))
    }

    /// Reads where the last packet and its copies went.
    pub(crate) fn read(&self) -> Result<Seen, StoreError> {
        let bytes = self.0.get(&FIRST);
        let bytes = bytes.map_err(failed("read what the program reports"))?;
        let bytes = bytes.unwrap_or_default();
        let number = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
            four.map_or(0, u32::from_ne_bytes)
        };
        let made = number(offset::COPIES_MADE) as usize;
        Ok(Seen {
            port: number(offset::PORT),
            redirection: match number(offset::INGRESS) {
                0 => Redirection::Egress,
                1 => Redirection::Ingress,
                _ => Redirection::Back,
            },
            // The copies are a ring: if there are too many, the later ones overwrite the first.
            copies_made: made,
            copies: (made.saturating_sub(COPIES)..made)
                .map(|i| number(offset::COPY + 4 * (i % COPIES)))
                .collect(),
        })
    }
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::System {
        what: format!("could not {what}: {error}"),
    }
}
