//! Counts of a firewall for Prometheus.

use super::Stats;
use control::exposition::{Family, FamilyKind, Labels, Page, Value};

/// Writes a page with all counts.
pub(super) fn page(stats: &Stats) -> String {
    let mut page = Page::new("onpath_firewall");
    let base = Labels::default().and("firewall", &stats.name);
    let count = |page: &mut Page, name: &str, help: &str, samples: Vec<(Labels, u64)>| {
        let samples = samples
            .into_iter()
            .map(|(labels, count)| (labels, Value::Whole(count)));
        page.numbers(FamilyKind::Counter, Family::plain(name, help), samples);
    };
    let verdicts = stats.messages.iter().flat_map(|of| {
        let labels = base.and("group", &of.group).and("message", of.kind);
        [
            ("blocked", of.blocked),
            ("allowed", of.allowed),
            ("excused", of.excused),
        ]
        .map(|(verdict, count)| (labels.and("verdict", verdict), count))
    });
    let help = "Messages for which a list decides. Of a paused group, what is blocked is excused.";
    count(&mut page, "messages", help, verdicts.collect());
    let lists = stats
        .lists
        .iter()
        .map(|(list, _, count)| (base.and("list", list), *count));
    count(
        &mut page,
        "decided",
        "Messages for which a list decides, by list.",
        lists.collect(),
    );
    let unread = stats.unread.iter();
    let unread = unread
        .map(|(kind, reason, count)| (base.and("message", kind).and("reason", reason), *count));
    count(
        &mut page,
        "unread",
        "Messages whose name could not be read.",
        unread.collect(),
    );
    let by_reason = |reasons: &[(&'static str, u64)]| -> Vec<(Labels, u64)> {
        reasons
            .iter()
            .map(|(reason, count)| (base.and("reason", reason), *count))
            .collect()
    };
    let help = "TCP connections, IP fragments and other frames that could not be followed.";
    count(&mut page, "unknown", help, by_reason(&stats.unknown));
    let help = "TCP segments that were dropped whatever their name, and that TCP sends again.";
    count(
        &mut page,
        "segments_dropped",
        help,
        by_reason(&stats.dropped),
    );
    let help = "Connections that made room for others.";
    count(&mut page, "forgotten", help, by_reason(&stats.forgotten));
    let help = "Packets with which connections of QUIC begin.";
    count(
        &mut page,
        "quic_initials",
        help,
        vec![(base.clone(), stats.quic)],
    );
    let help = "Queries for HTTPS records that got none.";
    count(
        &mut page,
        "https_records_withheld",
        help,
        vec![(base.clone(), stats.withheld)],
    );
    let paused = stats
        .paused
        .iter()
        .map(|(group, _)| (base.and("group", group), Value::Whole(1)));
    let help = "Groups that are paused or count only; others are absent.";
    page.numbers(FamilyKind::Gauge, Family::plain("paused", help), paused);
    page.text()
}
