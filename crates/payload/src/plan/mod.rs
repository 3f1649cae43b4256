//! Planner: the technique by which a target finds an attribute, whether it fits, and its cost.

pub mod errors;
mod kernel;
mod program;
mod shape;

use crate::{Attribute, Schema};
use asic::{Model, Order, Payload, Technique, Usage};

pub use kernel::Kernel;
pub use program::{Passage, passage};
pub use shape::{AttributePosition, Scan};

/// Platform that packets are processed on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Platform {
    /// Linux, by XDP.
    Xdp,
    /// Linux, by traffic control.
    Tc,
    /// A Tofino switch, as a model.
    Tofino,
    /// A Netronome NFP card, as a model.
    Nfp,
}

impl Platform {
    /// All targets.
    pub const ALL: [Platform; 4] = [Platform::Xdp, Platform::Tc, Platform::Tofino, Platform::Nfp];

    /// Returns the target's name.
    pub fn name(self) -> &'static str {
        match self {
            Platform::Xdp => "xdp",
            Platform::Tc => "tc",
            Platform::Tofino => "tofino",
            Platform::Nfp => "nfp",
        }
    }

    /// Returns true if the target's limits come from a hardware model.
    pub fn is_model(self) -> bool {
        matches!(self, Platform::Tofino | Platform::Nfp)
    }

    fn model(self, scan: Scan) -> Box<dyn Model> {
        match self {
            Platform::Xdp | Platform::Tc => Box::new(Kernel { scan }),
            Platform::Tofino => Box::new(asic::tofino::Tofino),
            Platform::Nfp => Box::new(asic::nfp::Nfp),
        }
    }

    /// Estimates the time, in ns, that finding the attribute adds to a packet. `None` if nothing is known.
    fn cost(self, technique: Technique, scan: Scan, payload: Payload) -> Option<f64> {
        match self {
            Platform::Xdp | Platform::Tc => kernel::cost(technique, scan, payload),
            Platform::Tofino => asic::tofino::added_ns(technique),
            Platform::Nfp => asic::nfp::added_ns(technique),
        }
    }
}

/// User's assumptions about the messages, which override the schema's limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Question {
    /// Number of bytes of payload in which the attribute is looked for.
    pub bytes: Option<u32>,
    /// Number of attributes among which it is found, if their order is not fixed.
    pub attributes: Option<u32>,
}

/// Greatest payload that fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Number of bytes.
    pub bytes: u32,
    /// Number of attributes; `None` where it does not matter.
    pub attributes: Option<u32>,
    /// Resource that is exhausted first; `None` if every packet fits.
    pub resource: Option<&'static str>,
}

/// Plan for an attribute on a target.
#[derive(Clone, PartialEq, Debug)]
pub struct AttributePlan {
    /// Target of the plan.
    pub target: Platform,
    /// Technique that finds the attribute.
    pub technique: Technique,
    /// Reason why no cheaper technique will do.
    pub why: String,
    /// Payload that the parser must cope with.
    pub needs: Payload,
    /// Greatest payload that fits.
    pub limit: Limit,
    /// Usage of each resource.
    pub usage: Vec<Usage>,
    /// First resource that is exceeded, if the plan does not fit.
    pub refused_by: Option<Usage>,
    /// Estimated time, in ns, added to a packet that is searched to its end.
    pub cost_ns: Option<f64>,
    /// Changes that would make it fit, if it does not.
    pub remedies: Vec<String>,
}

impl AttributePlan {
    /// Returns true if the plan fits the target.
    pub fn fits(&self) -> bool {
        self.refused_by.is_none()
    }
}

/// Finds the attribute of this name. For one of many that a wildcard attribute stands for, also returns the text in
/// place of its `*`.
pub fn find<'s>(schema: &'s Schema, name: &str) -> Option<(&'s Attribute, Option<String>)> {
    let all = || schema.attributes.iter();
    if let Some(attribute) = all().find(|attribute| attribute.name == name) {
        return Some((attribute, None));
    }
    all().find_map(|attribute| {
        let prefix = attribute.name.strip_suffix('*')?;
        let one = name.strip_prefix(prefix)?;
        schema.only(attribute, name)?;
        Some((attribute, Some(one.to_string())))
    })
}

/// Plans an attribute on a target. `None` if the schema has no such attribute, or no layout leads to it.
pub fn plan(
    schema: &Schema,
    name: &str,
    target: Platform,
    question: Question,
) -> Option<AttributePlan> {
    let (attribute, one) = find(schema, name)?;
    let shape = shape::of(schema, attribute, one.as_deref())?;
    let needs = shape.payload(&schema.limits, question);
    let model = target.model(shape.scan);
    let mut technique = shape.technique;
    let mut usage = model.usage(technique, needs)?;
    let mut refused_by = asic::refused_by(&usage);
    let recirculates = technique == Technique::ByteByByte && refused_by.is_some();
    if let Some(round) = model
        .usage(Technique::Recirculation, needs)
        .filter(|_| recirculates)
        && asic::refused_by(&round).is_none()
    {
        (technique, usage, refused_by) = (Technique::Recirculation, round, None);
    }
    let limit = limit(&*model, technique, needs);
    let remedies = match refused_by {
        Some(_) => remedies(schema, name, target, &shape, needs, limit, question),
        None => Vec::new(),
    };
    let cost_ns = target.cost(technique, shape.scan, needs);
    Some(AttributePlan {
        target,
        technique,
        why: shape.why,
        needs,
        limit,
        usage,
        cost_ns: cost_ns.filter(|_| refused_by.is_none()),
        refused_by,
        remedies,
    })
}

/// Computes the greatest payload that fits: by attributes if they stand in any order, otherwise by bytes.
fn limit(model: &dyn Model, technique: Technique, needs: Payload) -> Limit {
    let size = needs.attribute_bytes;
    let packet = u32::from(u16::MAX);
    let is_skipping = technique == Technique::SkipAhead;
    if is_skipping && needs.order == Order::Any {
        let most = asic::max_attributes(model, technique, needs.order, size);
        return Limit {
            bytes: most.map_or(packet, |most| most.0.saturating_mul(size).min(packet)),
            attributes: most.map(|most| most.0),
            resource: most.map(|most| most.1.name()),
        };
    }
    let most = asic::largest(model, technique, |bytes| match is_skipping {
        true => Payload {
            bytes,
            attribute_bytes: bytes.div_ceil(needs.attributes),
            ..needs
        },
        false => Payload::of_bytes(bytes, size),
    });
    Limit {
        bytes: most.map_or(packet, |most| most.0),
        attributes: None,
        resource: most.map(|most| most.1.name()),
    }
}

/// Lists changes that would make the plan fit: less to search, or another target.
fn remedies(
    schema: &Schema,
    name: &str,
    target: Platform,
    shape: &AttributePosition,
    needs: Payload,
    limit: Limit,
    question: Question,
) -> Vec<String> {
    let mut remedies = Vec::new();
    match (shape.technique, limit.attributes) {
        (Technique::SkipAhead, Some(attributes)) if attributes > 0 => remedies.push(format!(
            "messages of at most {attributes} attributes with {} bytes each: `--attributes {attributes} --bytes {}`",
            needs.attribute_bytes, limit.bytes
        )),
        (Technique::SkipAhead, None) | (Technique::ByteByByte, _) if limit.bytes > 0 => remedies.push(format!(
            "the attribute within the first {} bytes: `--bytes {}`",
            limit.bytes, limit.bytes
        )),
        _ => {}
    }
    let model = target.model(shape.scan);
    if shape.technique == Technique::ByteByByte {
        let round = Technique::Recirculation;
        let most = asic::max_bytes(&*model, round, needs.attribute_bytes);
        if let Some((bytes, _)) = most.filter(|most| most.0 > limit.bytes) {
            remedies.push(format!(
                "within the first {bytes} bytes with recirculation, at {} Gbit/s of such packets: `--bytes {bytes}`",
                asic::recirculation::OFFERED_GBPS
            ));
        }
    }
    let host = (target != Platform::Xdp)
        .then(|| plan(schema, name, Platform::Xdp, question))
        .flatten();
    if let Some(cost) = host
        .filter(AttributePlan::fits)
        .and_then(|plan| plan.cost_ns)
    {
        remedies.push(format!(
            "the host, `--target xdp`, which takes about {} ns a packet for it",
            cost.round()
        ));
    }
    remedies
}
