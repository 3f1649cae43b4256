//! Structs that the generated C shares with the control plane. Members have natural alignment; one definition
//! yields the C text and a description.

use cgen::tree::{Expr as C, Member, Type};
use layout::{ByteOrder, FieldAbi};
use smol_str::SmolStr;

/// Layout of a P4 value in a struct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberLayout {
    /// Size in bytes.
    pub size: u32,
    /// Alignment of its offset, in bytes.
    pub align: u32,
    /// Number of significant bits.
    pub width: u32,
    /// Byte order.
    pub order: ByteOrder,
}

impl MemberLayout {
    /// Returns the layout of a value of `width` bits.
    pub fn new(width: u32, order: ByteOrder) -> MemberLayout {
        let (size, align) = match width {
            0..=8 => (1, 1),
            9..=16 => (2, 2),
            17..=32 => (4, 4),
            // It is written by two register stores, so 4-byte alignment suffices.
            33..=48 if order == ByteOrder::Network => (6, 4),
            33..=64 => (8, 8),
            _ => (width.div_ceil(64) * 8, 8),
        };
        MemberLayout {
            size,
            align,
            width,
            order,
        }
    }

    /// Returns the C type of the member.
    pub fn ty(self) -> Type {
        match self.size {
            1 => Type::U8,
            2 => Type::U16,
            4 => Type::U32,
            6 => Type::U8.array(6),
            8 => Type::U64,
            n => Type::U64.array(n / 8),
        }
    }

    /// Returns the description of a member with this layout, with its P4 name, at this offset in bytes.
    pub fn field(self, name: &str, offset: u32) -> FieldAbi {
        FieldAbi {
            name: name.into(),
            offset,
            size: self.size,
            width: self.width,
            order: self.order,
        }
    }
}

/// A struct under construction.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Its members, padding included.
    pub members: Vec<Member>,
    /// Size so far, in bytes.
    pub size: u32,
    /// Largest alignment of a member.
    pub align: u32,
    padding: u32,
}

impl Record {
    /// Adds a member and returns its offset.
    pub fn add(
        &mut self,
        ty: Type,
        name: impl Into<SmolStr>,
        size: u32,
        align: u32,
        note: &str,
    ) -> u32 {
        self.pad_to(align);
        let offset = self.size;
        self.members.push(Member::Field {
            ty,
            name: name.into(),
            note: note.into(),
        });
        self.size += size;
        self.align = self.align.max(align);
        offset
    }

    /// Adds a value and returns its offset.
    pub fn add_value(&mut self, layout: MemberLayout, name: impl Into<SmolStr>, note: &str) -> u32 {
        self.add(layout.ty(), name, layout.size, layout.align, note)
    }

    /// Adds bytes until the size is a multiple of `align`.
    pub fn pad_to(&mut self, align: u32) {
        let gap = self.size.next_multiple_of(align.max(1)) - self.size;
        if gap > 0 {
            self.padding += 1;
            let name = format!("padding{}", self.padding);
            self.members.push(Member::Field {
                ty: Type::U8.array(gap),
                name: name.into(),
                note: String::new(),
            });
            self.size += gap;
        }
    }

    /// Makes the size a multiple of 4 and of the alignment.
    pub fn finish(&mut self) {
        self.pad_to(self.align.max(4));
    }
}

/// Loads the number that a member holds.
pub fn load(member: C, layout: MemberLayout) -> C {
    match (layout.order, layout.size) {
        (_, 1) | (ByteOrder::Host, _) => match layout.size {
            1 | 2 => member.cast(Type::U32),
            _ => member,
        },
        (ByteOrder::Network, 6) => C::pure("load_be48", vec![member]),
        (ByteOrder::Network, size) => C::pure(format!("load_be{}", size * 8), vec![member.addr()]),
    }
}
