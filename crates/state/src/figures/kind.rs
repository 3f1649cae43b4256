//! The kinds of figures, and what each keeps for a group.

use cgen::tree::Type as CType;
use externs::figures::precision_of;
use ir::ExternData;

/// What a figure says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// How many, and the sum, the least and the greatest of them.
    Tally,
    /// How values are distributed.
    Histogram,
    /// How many different items.
    Distinct {
        /// The number of its registers, as the exponent of 2.
        precision: u32,
    },
    /// The keys with the greatest weights.
    Top,
}

impl Kind {
    /// That of an extern object; `None` if it is another extern.
    pub(crate) fn of(data: &ExternData) -> Option<Kind> {
        Some(match data.ty.as_str() {
            externs::figures::TALLY => Kind::Tally,
            externs::figures::HISTOGRAM => Kind::Histogram,
            externs::figures::DISTINCT => Kind::Distinct {
                precision: precision_of(data),
            },
            externs::figures::TOP => Kind::Top,
            _ => return None,
        })
    }

    /// The type of what a group has, and its bytes.
    pub(crate) fn figure(self) -> (CType, u32) {
        let named = |name: &str| CType::Struct(name.into());
        match self {
            Kind::Tally => (named("tally_figure"), 32),
            Kind::Histogram => (CType::U64.array(COUNTS), 8 * COUNTS),
            Kind::Distinct { precision } => (CType::U8.array(1 << precision), 1 << precision),
            Kind::Top => (named("top_figure"), 16),
        }
    }
}

/// Counts of a histogram, as many as `HISTOGRAM_COUNTS` of `onpath/figures.h`.
const COUNTS: u32 = 496;
