//! Parsing techniques, and the payloads that they must cope with.

/// Technique to find the offset of the queried attribute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Technique {
    /// Sizes and order are fixed, so the offset is a constant.
    DirectJump,
    /// Sizes are known, by tags or length fields, but the order is not: read the head of each attribute, and skip it.
    SkipAhead,
    /// Nothing is known: every offset is tried.
    ByteByByte,
    /// As [`Technique::ByteByByte`], but one byte in each pass of the pipeline: a clone of the packet recirculates, and
    /// loses a byte each time.
    Recirculation,
}

impl Technique {
    /// All techniques, the cheapest first.
    pub const ALL: [Technique; 4] = [
        Technique::DirectJump,
        Technique::SkipAhead,
        Technique::ByteByByte,
        Technique::Recirculation,
    ];

    /// Returns the name for output.
    pub fn name(self) -> &'static str {
        match self {
            Technique::DirectJump => "direct jump",
            Technique::SkipAhead => "skip ahead and check",
            Technique::ByteByByte => "byte by byte",
            Technique::Recirculation => "byte by byte with recirculation",
        }
    }
}

/// Order of attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Fixed: each position has one attribute.
    Fixed,
    /// Any: each position may have each attribute.
    Any,
}

/// Payload that a parser must cope with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Payload {
    /// Greatest number of bytes from the payload's start to the end of the queried attribute.
    pub bytes: u32,
    /// Number of attributes among which the queried one is found, itself included.
    pub attributes: u32,
    /// Their order.
    pub order: Order,
    /// Bytes of an attribute with its tag; for a search without tags, bytes of the value.
    pub attribute_bytes: u32,
}

impl Payload {
    /// Returns a payload of attributes of one size, without gaps.
    pub fn of_attributes(attributes: u32, order: Order, attribute_bytes: u32) -> Payload {
        Payload {
            bytes: attributes.saturating_mul(attribute_bytes),
            attributes,
            order,
            attribute_bytes,
        }
    }

    /// Returns a payload of this many bytes, in which a value of `attribute_bytes` may begin anywhere.
    pub fn of_bytes(bytes: u32, attribute_bytes: u32) -> Payload {
        Payload {
            bytes,
            attributes: 1,
            order: Order::Fixed,
            attribute_bytes,
        }
    }
}
