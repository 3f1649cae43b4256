//! Kinds of metrics, and the state of each for a group.

use cgen::tree::Type as CType;
use externs::figures::precision_of;
use ir::ExternData;

/// Kind of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Count, sum, minimum and maximum of values.
    Tally,
    /// Distribution of values.
    Histogram,
    /// Number of distinct items.
    Distinct {
        /// Number of its registers, as a power of 2.
        precision: u32,
    },
    /// Keys with the greatest weights.
    Top,
}

impl Kind {
    /// Returns the kind of an extern object. `None` if the extern is no metric.
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

    /// Returns the type of a group's metric, and its size in bytes.
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

/// Number of counts in a histogram: `HISTOGRAM_COUNTS` of `onpath/figures.h`.
const COUNTS: u32 = 496;
