//! How a parser finds the attribute it is asked for, and the payload that it does so in.

/// A way to find the query attribute's offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Technique {
    /// Sizes and order are fixed: the offset is a constant.
    DirectJump,
    /// Sizes are known, by the tag or from a length field, but not the order: look at an attribute, and skip it.
    SkipAhead,
    /// Nothing is known: every offset may be the one.
    ByteByByte,
    /// As [`Technique::ByteByByte`], but one byte in each pass of the pipeline: a clone of the packet recirculates, and
    /// loses a byte each time.
    Recirculation,
}

impl Technique {
    /// All, the cheapest first.
    pub const ALL: [Technique; 4] = [
        Technique::DirectJump,
        Technique::SkipAhead,
        Technique::ByteByByte,
        Technique::Recirculation,
    ];

    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Technique::DirectJump => "direct jump",
            Technique::SkipAhead => "skip ahead and check",
            Technique::ByteByByte => "byte by byte",
            Technique::Recirculation => "byte by byte with recirculation",
        }
    }
}

/// Whether attributes stand in a fixed order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// They do: at each position stands one.
    Fixed,
    /// At each position may stand any.
    Any,
}

/// The payload that a parser has to cope with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Payload {
    /// Bytes of payload from its start to the end of the query attribute, at most.
    pub bytes: u32,
    /// Attributes among which the query attribute is found, itself included.
    pub attributes: u32,
    /// Their order.
    pub order: Order,
    /// Bytes of an attribute with its tag; where no tags are known, of the value that is searched for.
    pub attribute_bytes: u32,
}

impl Payload {
    /// Attributes of one size, without anything between them.
    pub fn of_attributes(attributes: u32, order: Order, attribute_bytes: u32) -> Payload {
        Payload {
            bytes: attributes.saturating_mul(attribute_bytes),
            attributes,
            order,
            attribute_bytes,
        }
    }

    /// So many bytes, in which a value of `attribute_bytes` may begin anywhere.
    pub fn of_bytes(bytes: u32, attribute_bytes: u32) -> Payload {
        Payload {
            bytes,
            attributes: 1,
            order: Order::Fixed,
            attribute_bytes,
        }
    }
}
