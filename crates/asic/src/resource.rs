//! Limited resources of a target, and the largest payload that exceeds none.

use crate::{Order, Payload, Technique};

/// Limited resource of a target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Resource {
    /// Bits of the packet header vector, which holds all bytes that the parser passes over until the deparser emits
    /// them.
    HeaderVectorBits,
    /// Entries of the parser's TCAM: a parser state takes one for each of its transitions.
    ParserEntries,
    /// Bytes of a thread's local memory, which holds all bytes that the parser passes over.
    LocalMemoryBytes,
    /// Instructions of a core's instruction store.
    Instructions,
    /// Instructions that the kernel's verifier processes before it accepts a program.
    VerifiedInstructions,
    /// Bandwidth of the recirculation port, in Mbit/s.
    RecirculationMbps,
    /// Blocks of a pipeline's SRAM, which hold the entries of exact-match tables.
    MemoryBlocks,
}

impl Resource {
    /// Returns the name for output. Parser states are counted in TCAM entries, recirculation bandwidth in Mbit/s.
    pub fn name(self) -> &'static str {
        match self {
            Resource::HeaderVectorBits => "packet header vector bits",
            Resource::ParserEntries => "parser states",
            Resource::LocalMemoryBytes => "local memory bytes",
            Resource::Instructions => "instruction store",
            Resource::VerifiedInstructions => "verified instructions",
            Resource::RecirculationMbps => "recirculation bandwidth",
            Resource::MemoryBlocks => "SRAM blocks",
        }
    }
}

/// Usage of a resource by a parser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The resource.
    pub resource: Resource,
    /// Amount that the parser uses.
    pub needed: u64,
    /// Amount that is available.
    pub available: u64,
}

impl Usage {
    /// Returns true if the available amount suffices.
    pub fn fits(&self) -> bool {
        self.needed <= self.available
    }
}

/// Resource model of a chip or of a kernel.
pub trait Model {
    /// Returns the target's name for output.
    fn name(&self) -> &'static str;

    /// Returns the usage of a technique on a payload; `None` if the target does not support it, or if nothing is known.
    /// The usage never decreases when any property of the payload grows.
    fn usage(&self, technique: Technique, payload: Payload) -> Option<Vec<Usage>>;
}

/// Returns the most exceeded resource of a payload's usage; `None` if the payload fits.
pub fn refused_by(usage: &[Usage]) -> Option<Usage> {
    let short = usage.iter().filter(|usage| !usage.fits());
    short
        .max_by(|a, b| {
            let (a, b) = (a.needed * b.available.max(1), b.needed * a.available.max(1));
            a.cmp(&b)
        })
        .copied()
}

/// Returns the greatest payload in bytes that fits, with a value of `attribute_bytes` somewhere in it, and the resource
/// that one more byte would exceed.
pub fn max_bytes(
    model: &dyn Model,
    technique: Technique,
    attribute_bytes: u32,
) -> Option<(u32, Resource)> {
    largest(model, technique, |bytes| {
        Payload::of_bytes(bytes, attribute_bytes)
    })
}

/// Returns the greatest number of attributes of `attribute_bytes` bytes each that fits, and the resource that one more
/// would exceed.
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

/// Returns the greatest number up to 65,535, the size of an IP packet, whose payload fits, and the resource that the
/// next one would exceed; `None` if all fit.
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
