//! Kinds of metrics, and the state of each for a group.

use cgen::tree::Type as CType;
use externs::metrics::precision_of;
use ir::ExternData;

/// Kind of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MetricKind {
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

impl MetricKind {
    /// Returns the kind of an extern object. `None` if the extern is no metric.
    pub(crate) fn of(data: &ExternData) -> Option<MetricKind> {
        Some(match data.ty.as_str() {
            externs::metrics::TALLY => MetricKind::Tally,
            externs::metrics::HISTOGRAM => MetricKind::Histogram,
            externs::metrics::DISTINCT => MetricKind::Distinct {
                precision: precision_of(data),
            },
            externs::metrics::TOP => MetricKind::Top,
            _ => return None,
        })
    }

    /// Returns the type of a group's metric, and its size in bytes.
    pub(crate) fn metric(self) -> (CType, u32) {
        let named = |name: &str| CType::Struct(name.into());
        match self {
            MetricKind::Tally => (named("tally_metric"), 32),
            MetricKind::Histogram => (CType::U64.array(COUNTS), 8 * COUNTS),
            MetricKind::Distinct { precision } => (CType::U8.array(1 << precision), 1 << precision),
            MetricKind::Top => (named("top_metric"), 16),
        }
    }
}

/// Number of counts in a histogram: `HISTOGRAM_COUNTS` of `onpath/metrics.h`.
const COUNTS: u32 = 496;
