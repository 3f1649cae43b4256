//! What a target may be short of, and the largest payload that is short of nothing.

use crate::{Order, Payload, Technique};

/// What a target has a limited amount of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Resource {
    /// Bits of the packet header vector, which holds all that the parser passes over until the deparser emits it.
    HeaderVectorBits,
    /// Entries of the parser's TCAM: a parser state takes one for each of its transitions.
    ParserEntries,
    /// Bytes of a thread's local memory, which holds all that the parser passes over.
    LocalMemoryBytes,
    /// Instructions of a core's instruction store.
    Instructions,
    /// Instructions that the kernel's verifier processes before it accepts a program.
    VerifiedInstructions,
    /// Bandwidth of the recirculation port, in Mbit/s.
    RecirculationMbps,
}

impl Resource {
    /// Its name in text. Parser states are counted in TCAM entries, recirculation bandwidth in Mbit/s.
    pub fn name(self) -> &'static str {
        match self {
            Resource::HeaderVectorBits => "packet header vector bits",
            Resource::ParserEntries => "parser states",
            Resource::LocalMemoryBytes => "local memory bytes",
            Resource::Instructions => "instruction store",
            Resource::VerifiedInstructions => "verified instructions",
            Resource::RecirculationMbps => "recirculation bandwidth",
        }
    }
}

/// What a parser takes of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Of which one.
    pub resource: Resource,
    /// How much it takes.
    pub needed: u64,
    /// How much there is.
    pub available: u64,
}

impl Usage {
    /// Whether there is enough.
    pub fn fits(&self) -> bool {
        self.needed <= self.available
    }
}

/// A chip, or a kernel.
pub trait Model {
    /// Its name in text.
    fn name(&self) -> &'static str;

    /// What a technique takes on a payload; `None` if the chip cannot do it, or nothing is known of how it does.
    /// Never takes less for a payload that has more of anything.
    fn usage(&self, technique: Technique, payload: Payload) -> Option<Vec<Usage>>;
}

/// The resource that refuses a payload: of those that are short, the one that is by the most. `None` if it fits.
pub fn refused_by(usage: &[Usage]) -> Option<Usage> {
    let short = usage.iter().filter(|usage| !usage.fits());
    short
        .max_by(|a, b| {
            let (a, b) = (a.needed * b.available.max(1), b.needed * a.available.max(1));
            a.cmp(&b)
        })
        .copied()
}

/// The most payload bytes that fit, with a value of `attribute_bytes` somewhere in them, and the resource that refuses one more.
pub fn max_bytes(
    model: &dyn Model,
    technique: Technique,
    attribute_bytes: u32,
) -> Option<(u32, Resource)> {
    largest(model, technique, |bytes| {
        Payload::of_bytes(bytes, attribute_bytes)
    })
}

/// The most attributes of `attribute_bytes` bytes each that fit, and the resource that refuses one more.
pub fn max_attributes(
    model: &dyn Model,
    technique: Technique,
    order: Order,
    attribute_bytes: u32,
) -> Option<(u32, Resource)> {
    largest(model, technique, |number| {
        Payload::of_attributes(number, order, attribute_bytes)
    })
}

/// The largest number up to 65,535, the size of an IP packet, of which the payload fits, and the resource that refuses one more; `None` if all fit.
pub fn largest(
    model: &dyn Model,
    technique: Technique,
    payload: impl Fn(u32) -> Payload,
) -> Option<(u32, Resource)> {
    let usage = |number| model.usage(technique, payload(number));
    let (mut fits, mut refused) = (0, 65_536);
    let mut limit = refused_by(&usage(refused)?)?.resource;
    while refused - fits > 1 {
        let middle = fits + (refused - fits) / 2;
        match refused_by(&usage(middle)?) {
            None => fits = middle,
            Some(short) => (refused, limit) = (middle, short.resource),
        }
    }
    Some((fits, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Model for Two {
        fn name(&self) -> &'static str {
            "two"
        }

        fn usage(&self, technique: Technique, payload: Payload) -> Option<Vec<Usage>> {
            let bytes = u64::from(payload.bytes);
            (technique == Technique::DirectJump).then(|| {
                vec![
                    Usage {
                        resource: Resource::Instructions,
                        needed: bytes,
                        available: 10,
                    },
                    Usage {
                        resource: Resource::ParserEntries,
                        needed: bytes * 3,
                        available: 20,
                    },
                ]
            })
        }
    }

    #[test]
    fn the_scarcest_resource_limits_and_is_named() {
        assert_eq!(
            max_bytes(&Two, Technique::DirectJump, 1),
            Some((6, Resource::ParserEntries))
        );
        let usage = Two.usage(Technique::DirectJump, Payload::of_bytes(11, 1));
        let short = refused_by(&usage.unwrap()).unwrap();
        assert_eq!(
            (short.resource, short.needed),
            (Resource::ParserEntries, 33)
        );
    }

    #[test]
    fn what_a_chip_cannot_do_has_no_limit() {
        assert_eq!(max_bytes(&Two, Technique::ByteByByte, 1), None);
    }
}
