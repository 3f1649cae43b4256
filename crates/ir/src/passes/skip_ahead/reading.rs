//! Reads of straight-line parser code, with their positions in the packet.

use super::LARGEST;
use crate::eval::constant;
use crate::*;
use std::collections::HashMap;

/// Reads of straight-line code. Positions are in bits, relative to the cursor at its start.
#[derive(Default)]
pub(super) struct Reading {
    /// Position of the cursor.
    at: u32,
    /// End of the furthest bit that must be present.
    end: u32,
    /// Position and width of the packet bits that l-values hold.
    places: HashMap<Place, (u32, u32)>,
    /// Number of statements at which a packet may be found too short.
    checks: u32,
}

impl Reading {
    /// Returns the state after this code, without the values of l-values.
    pub(super) fn moves(&self) -> Reading {
        let (at, end) = (self.at, self.end);
        Reading {
            at,
            end,
            ..Reading::default()
        }
    }

    /// Adds a statement; `None` if it may have other effects.
    pub(super) fn stmt(&mut self, program: &Program, stmt: &Stmt) -> Option<()> {
        match stmt.kind {
            StmtKind::Lookahead { place, skip } => {
                let width = program.place_type(place)?.width();
                let from = self.at.checked_add(skip)?;
                self.end = self.end.max(from.checked_add(width)?);
                self.checks += 1;
                self.places.insert(fixed(place)?, (from, width));
            }
            StmtKind::Extract {
                header: header @ HeaderRef::Header(_),
                varbit: None,
            } => {
                for (f, field) in (0..).zip(&program.header_layout(header)?.fields) {
                    let width = field.ty.width();
                    self.places
                        .insert(Place::Field(header, f), (self.at, width));
                    self.at = self.at.checked_add(width)?;
                }
                self.end = self.end.max(self.at);
                self.checks += 1;
            }
            StmtKind::Advance(by) => {
                let Some(Value::Bits(bits)) = constant(program, by) else {
                    return None;
                };
                let bits = u32::try_from(bits.to_u64()?).ok()?;
                if !bits.is_multiple_of(8) {
                    return None;
                }
                self.at = self.at.checked_add(bits)?;
                self.end = self.end.max(self.at);
                self.checks += 1;
            }
            StmtKind::Assign { dst, value } => {
                let place = fixed(dst)?;
                match self.place_of(program, value) {
                    Some(known) => self.places.insert(place, known),
                    None => self.places.remove(&place),
                };
            }
            StmtKind::PacketLength(place) => {
                self.places.remove(&fixed(place)?);
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the position of an expression's value in the packet, and its width.
    pub(super) fn place_of(&self, program: &Program, expr: Expr) -> Option<(u32, u32)> {
        let data = &program.exprs[expr];
        if !matches!(data.ty, Type::Bits { signed: false, .. }) {
            return None;
        }
        match data.kind {
            ExprKind::Var(var) => self.places.get(&Place::Var(var)).copied(),
            ExprKind::Field(header, field) => {
                self.places.get(&Place::Field(header, field)).copied()
            }
            ExprKind::Slice { base, hi, lo } => {
                let (from, width) = self.place_of(program, base)?;
                Some((from + width - 1 - hi, hi - lo + 1))
            }
            _ => None,
        }
    }

    /// Returns the size of an iteration in bytes; `None` if the table might find a packet too short at another
    /// position.
    pub(super) fn bytes(&self, on_reject: OnReject) -> Option<u32> {
        // If the architecture continues after a rejection, the cursor's position is visible.
        let same_place = on_reject == OnReject::Stop || self.checks <= 1;
        let bytes = self.at / 8;
        let whole = self.at.is_multiple_of(8) && self.end <= self.at;
        (same_place && whole && (1..=LARGEST).contains(&bytes)).then_some(bytes)
    }
}

/// Returns an l-value if it always names the same storage.
fn fixed(place: Place) -> Option<Place> {
    match place {
        Place::Field(HeaderRef::Element(..), _) => None,
        Place::Var(_) | Place::Field(HeaderRef::Header(_), _) => Some(place),
    }
}
