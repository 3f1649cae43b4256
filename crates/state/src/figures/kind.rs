//! Kinds of metrics, and the state of each for a group.

use cgen::tree::Type as CType;
use externs::figures::precision_of;
use ir::ExternData;

/// Kind of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AggregateKind {
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

impl AggregateKind {
    /// Returns the kind of an extern object. `None` if the extern is no metric.
    pub(crate) fn of(data: &ExternData) -> Option<AggregateKind> {
        Some(match data.ty.as_str() {
            externs::figures::TALLY => AggregateKind::Tally,
            externs::figures::HISTOGRAM => AggregateKind::Histogram,
            externs::figures::DISTINCT => AggregateKind::Distinct {
                precision: precision_of(data),
            },
            externs::figures::TOP => AggregateKind::Top,
            _ => return None,
        })
    }

    /// Returns the type of a group's metric, and its size in bytes.
    pub(crate) fn figure(self) -> (CType, u32) {
        let named = |name: &str| CType::Struct(name.into());
        match self {
            AggregateKind::Tally => (named("tally_figure"), 32),
            AggregateKind::Histogram => (CType::U64.array(COUNTS), 8 * COUNTS),
            AggregateKind::Distinct { precision } => {
                (CType::U8.array(1 << precision), 1 << precision)
            }
            AggregateKind::Top => (named("top_figure"), 16),
        }
    }
}

/// Number of counts in a histogram: `HISTOGRAM_COUNTS` of `onpath/figures.h`.
const COUNTS: u32 = 496;
