//! Metrics by group: the values that a store reads, and their text for people (`OBJECT FIELD:VALUE ... MEASURE`).

use crate::entry::find;
use crate::errors;
use crate::flow::{FlowPart, json_field, parse_key, show_fields};
use crate::names::resolve;
use crate::piece::Piece;
use diag::{Diagnostic, counted};
use schema::{Bits, MetricKind, Object, ObjectKind, ObjectSchema, Schema};
use serde_json::{Map, Value, json};
pub use sketch::Metric;

/// A group of packets with its metric.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Scalars of its key.
    pub key: Vec<Bits>,
    /// Metric of the group, merged over all processors.
    pub metric: Metric,
}

/// All groups of an object.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Groups {
    /// The groups, in no particular order.
    pub groups: Vec<Group>,
    /// Number (or weight) of the values whose groups found no free entry.
    pub lost: u64,
    /// For the heaviest keys: upper bound for the weight of a key that is not among them.
    pub unseen: u64,
}

/// A number that can be read off a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// Number of values.
    Count,
    /// Sum of the values.
    Sum,
    /// Smallest value.
    Least,
    /// Greatest value.
    Greatest,
    /// Percentile: smallest value that this many hundredths of the values do not exceed.
    Percentile(u8),
    /// Estimated number of distinct items.
    Distinct,
    /// Weight of a key.
    Weight,
    /// Upper bound for the error of the key's weight, which may be too large by this.
    Error,
}

impl Measure {
    /// Returns the measures of a kind of metric, in the order in which they are shown.
    pub fn of(kind: MetricKind) -> &'static [Measure] {
        use Measure::{Count, Distinct, Error, Greatest, Least, Percentile, Sum, Weight};
        match kind {
            MetricKind::Tally => &[Count, Sum, Least, Greatest],
            MetricKind::Histogram => &[Count, Percentile(50), Percentile(90), Percentile(99)],
            MetricKind::Distinct { .. } => &[Distinct],
            MetricKind::Top => &[Weight, Error],
        }
    }

    /// Returns the name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Count => "count",
            Measure::Sum => "sum",
            Measure::Least => "least",
            Measure::Greatest => "greatest",
            Measure::Percentile(50) => "p50",
            Measure::Percentile(90) => "p90",
            Measure::Percentile(_) => "p99",
            Measure::Distinct => "distinct",
            Measure::Weight => "weight",
            Measure::Error => "error",
        }
    }

    /// Reads the measure off a metric. Returns 0 if the metric does not have it, or if there were no values.
    pub fn read(self, metric: &Metric) -> u64 {
        match (self, metric) {
            (Measure::Count, Metric::Tally(tally)) => tally.count,
            (Measure::Sum, Metric::Tally(tally)) => tally.sum,
            (Measure::Least, Metric::Tally(tally)) => tally.least,
            (Measure::Greatest, Metric::Tally(tally)) => tally.greatest,
            (Measure::Count, Metric::Histogram(values)) => values.total(),
            (Measure::Percentile(hundredths), Metric::Histogram(values)) => {
                values.quantile(f64::from(hundredths) / 100.0).unwrap_or(0)
            }
            (Measure::Distinct, Metric::Distinct(seen)) => seen.estimate().round() as u64,
            (Measure::Weight, Metric::Top { weight, .. }) => *weight,
            (Measure::Error, Metric::Top { error, .. }) => *error,
            _ => 0,
        }
    }
}

/// Request of a statement or a user for a number of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// A measure of the group with this key.
    Of(Vec<Bits>, Measure),
    /// Number of values whose groups found no free entry.
    Lost,
}

impl Asked {
    /// Returns the requested number; 0 for a group that does not exist.
    pub fn read(&self, groups: &Groups) -> u64 {
        match self {
            Asked::Lost => groups.lost,
            Asked::Of(key, measure) => {
                let found = groups.groups.iter().find(|group| group.key == *key);
                found.map_or(0, |group| measure.read(&group.metric))
            }
        }
    }
}

/// Returns the objects of a program with metrics by group, with their names.
pub fn objects(schema: &Schema) -> impl Iterator<Item = (Object, &str)> {
    let all = schema.metrics();
    all.map(|(id, object)| (id, object.name.as_str()))
}

/// Finds an object with metrics by name.
pub fn find_metrics(schema: &Schema, name: Piece) -> Result<Object, Box<Diagnostic>> {
    find(objects(schema), name, "object with metrics")
}

/// Returns the kind of an object's metrics; `None` if it has none.
pub fn kind(object: &ObjectSchema) -> Option<MetricKind> {
    match object.kind {
        ObjectKind::Metrics { kind, .. } => Some(kind),
        _ => None,
    }
}

/// Parses `OBJECT FIELD:VALUE ... MEASURE` or `OBJECT lost`.
pub fn parse_asked(schema: &Schema, text: Piece) -> Result<(Object, Asked), Box<Diagnostic>> {
    let (name, rest) = text.first_word();
    let object = find_metrics(schema, name)?;
    let data = &schema.objects[object];
    let measures = kind(data).map_or(&[][..], Measure::of);
    let mut names: Vec<&str> = measures.iter().map(|m| m.name()).collect();
    names.push(LOST);
    let Some(word) = rest.words().pop() else {
        return Err(errors::malformed(
            text.span(),
            "what is asked for is missing",
            &format!("NAME FIELD:VALUE ... {}", names.join("|")),
        ));
    };
    let at = resolve(names.iter().copied(), word.text)
        .map_err(|e| errors::bad_name(word.span(), "measure", word.text, &names, e))?;
    let key = rest.part(0, rest.text.len() - word.text.len()).trim();
    match measures.get(at) {
        Some(&measure) => Ok((object, Asked::Of(parse_key(schema, data, key)?, measure))),
        None if key.text.is_empty() => Ok((object, Asked::Lost)),
        None => Err(errors::malformed(
            key.span(),
            "what was lost has no key",
            "NAME lost",
        )),
    }
}

/// Keyword for the number of lost values.
const LOST: &str = "lost";

/// Formats a group for people: its key, and all measures.
pub fn show_group(schema: &Schema, object: &ObjectSchema, group: &Group) -> String {
    let measures = kind(object).map_or(&[][..], Measure::of).iter();
    let shown = measures.map(|m| format!("{}:{}", m.name(), m.read(&group.metric)));
    let metrics = shown.collect::<Vec<_>>().join(" ");
    let key = show_fields(schema, object, FlowPart::Key, &group.key);
    format!("{key}  {metrics}")
}

/// Returns remarks on an object besides its groups: lost or possibly missing values, and the precision of its numbers.
pub fn remarks(object: &ObjectSchema, groups: &Groups) -> Vec<String> {
    let mut remarks = Vec::new();
    if groups.lost > 0 {
        remarks.push(format!(
            "{} had no place for {}",
            object.name,
            counted(groups.lost, "value")
        ));
    }
    if groups.unseen > 0 {
        remarks.push(format!(
            "{}: a key that is missing weighs {} at most",
            object.name, groups.unseen
        ));
    }
    if let Some(Metric::Distinct(seen)) = groups.groups.first().map(|group| &group.metric) {
        remarks.push(format!(
            "{}: the standard error is {:.1} %",
            object.name,
            100.0 * seen.standard_error()
        ));
    }
    remarks
}

/// Returns an object's groups as JSON.
pub fn json(schema: &Schema, object: &ObjectSchema, groups: &Groups) -> Value {
    let fields = match &object.kind {
        ObjectKind::Metrics { key, .. } => key,
        _ => &Vec::new(),
    };
    let group = |group: &Group| -> Value {
        let key = fields.iter().zip(&group.key);
        let key: Map<String, Value> = key
            .map(|(f, value)| {
                (
                    f.name.to_string(),
                    json_field(schema, f, FlowPart::Key, value),
                )
            })
            .collect();
        let measures = kind(object).map_or(&[][..], Measure::of).iter();
        let metric: Map<String, Value> = measures
            .map(|m| (m.name().to_string(), json!(m.read(&group.metric))))
            .collect();
        let mut shown = json!({ "key": key, "metric": metric });
        match &group.metric {
            Metric::Histogram(values) => {
                let buckets = values.buckets();
                let buckets: Vec<Value> = buckets
                    .map(|(least, greatest, count)| json!({ "least": least, "greatest": greatest, "count": count }))
                    .collect();
                shown["metric"]["buckets"] = json!(buckets);
            }
            Metric::Distinct(seen) => {
                shown["metric"]["standard_error"] = json!(seen.standard_error());
            }
            Metric::Tally(_) | Metric::Top { .. } => {}
        }
        shown
    };
    let all: Vec<Value> = groups.groups.iter().map(group).collect();
    json!({
        "object": object.name.as_str(),
        "extern": object.extern_name.as_str(),
        "groups": all,
        "lost": groups.lost,
        "unseen": groups.unseen,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sketch::{Histogram, Tally};

    const PROGRAM: &str = "program xdp reject stop
errors NoError
labels 0
extern c.hosts: tally {
    type (bit<32> src, bit<8> kind);
    arg groups = 8;
}
extern c.sizes: histogram {
    type (bit<16>);
}
";

    fn schema() -> Schema {
        Schema::of(&ir::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e}")))
    }

    fn ask(text: &str) -> Result<Asked, String> {
        let asked = parse_asked(&schema(), Piece::new(text, 0));
        asked.map(|(_, asked)| asked).map_err(|d| d.message)
    }

    #[test]
    fn a_measure_of_a_group_is_asked_by_its_key() {
        let key = vec![Bits::new(32, 0x0a00_0001u32), Bits::new(8, 6u32)];
        for text in ["hosts 10.0.0.1 6 sum", "c.hosts kind:6 src:10.0.0.1 sum"] {
            assert_eq!(
                ask(text),
                Ok(Asked::Of(key.clone(), Measure::Sum)),
                "{text}"
            );
        }
        assert_eq!(ask("hosts lost"), Ok(Asked::Lost));
        let size = vec![Bits::new(16, 7u32)];
        assert_eq!(
            ask("sizes 7 p99"),
            Ok(Asked::Of(size, Measure::Percentile(99)))
        );
    }

    #[test]
    fn errors_are_reported() {
        for (text, expected) in [
            ("host 1 2 sum", "object with metrics"),
            ("hosts", "missing"),
            ("hosts 1 2 p99", "measure"),
            ("hosts 1 sum", "kind"),
            ("hosts 1 lost", "no key"),
        ] {
            let message = ask(text).expect_err(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn measures_are_read_from_their_metrics() {
        let mut tally = Tally::default();
        let mut values = Histogram::new(3).expect("a detail");
        for value in [4, 6] {
            tally.add(value);
            values.add(value);
        }
        let key = vec![Bits::new(16, 7u32)];
        let groups = |metric: Metric| Groups {
            groups: vec![Group {
                key: key.clone(),
                metric,
            }],
            lost: 2,
            unseen: 0,
        };
        let read = |metric: Metric, measure| Asked::Of(key.clone(), measure).read(&groups(metric));
        assert_eq!(read(Metric::Tally(tally), Measure::Sum), 10);
        assert_eq!(read(Metric::Tally(tally), Measure::Least), 4);
        let values = Metric::Histogram(values);
        assert_eq!(read(values.clone(), Measure::Count), 2);
        assert_eq!(read(values.clone(), Measure::Percentile(99)), 6);
        assert_eq!(Asked::Lost.read(&groups(values.clone())), 2);
        let other = Asked::Of(vec![Bits::new(16, 8u32)], Measure::Count);
        assert_eq!(other.read(&groups(values.clone())), 0);
        let schema = schema();
        let (_, object) = schema.metrics().nth(1).expect("sizes");
        let shown = show_group(&schema, object, &groups(values.clone()).groups[0]);
        assert_eq!(shown, "key:7  count:2 p50:4 p90:6 p99:6");
        assert_eq!(
            remarks(object, &groups(values.clone())),
            ["c.sizes had no place for 2 values"]
        );
        let json = json(&schema, object, &groups(values));
        assert_eq!(json["groups"][0]["metric"]["buckets"][1]["least"], 6);
        assert_eq!(json["lost"], 2);
    }
}
