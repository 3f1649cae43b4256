//! Plans for the built-in messages, as a table of the documentation.

use crate::common::schema;
use asic::{Resource, Technique};
use payload::builtin::ALL;
use payload::plan::{AttributePlan, Platform, Question, plan};
use std::fmt::Write;
use std::path::Path;

fn on(message: &str, name: &str, target: Platform) -> AttributePlan {
    plan(schema(message), name, target, Question::default()).expect("an attribute")
}

#[test]
fn a_direct_jump_fits_everywhere_and_costs_the_host_least() {
    for target in Platform::ALL {
        let plan = on("gtpu", "teid", target);
        assert!(
            plan.fits() && plan.technique == Technique::DirectJump,
            "{target:?}"
        );
    }
    let cost = |message, name| on(message, name, Platform::Xdp).cost_ns.unwrap();
    assert!(cost("gtpu", "teid") < cost("tls", "sni"));
    assert!(cost("tls", "sni") < cost("http", "host"));
}

#[test]
fn what_hardware_refuses_has_its_limit_and_remedies() {
    let host = on("http", "host", Platform::Tofino);
    assert_eq!(host.refused_by.unwrap().resource, Resource::ParserEntries);
    assert!(
        host.remedies.iter().any(|text| text.contains("--bytes")),
        "{:?}",
        host.remedies
    );
    assert!(
        host.remedies
            .iter()
            .any(|text| text.contains("--target xdp")),
        "{:?}",
        host.remedies
    );
    let element = on("pfcp", "node_id", Platform::Nfp);
    assert_eq!(
        element.refused_by.unwrap().resource,
        Resource::LocalMemoryBytes
    );
}

#[test]
fn what_the_remedy_asks_for_fits() {
    let few = |bytes, attributes| Question { bytes, attributes };
    let host = |bytes| {
        plan(
            schema("http"),
            "host",
            Platform::Tofino,
            few(Some(bytes), None),
        )
        .unwrap()
    };
    let most = host(1_400).limit.bytes;
    assert!(host(most).fits() && host(most).technique == Technique::ByteByByte);
    // A little more is recirculated; much more is not.
    assert_eq!(host(most + 1).technique, Technique::Recirculation);
    assert!(host(100).fits() && !host(200).fits());
    let node = on("pfcp", "node_id", Platform::Tofino);
    let (bytes, attributes) = (node.limit.bytes, node.limit.attributes);
    let fewer = plan(
        schema("pfcp"),
        "node_id",
        Platform::Tofino,
        few(Some(bytes), attributes),
    );
    assert!(fewer.unwrap().fits());
}

#[test]
fn the_host_skips_hundreds_of_attributes() {
    let many = Question {
        bytes: Some(60_000),
        attributes: Some(512),
    };
    let plan = plan(schema("pfcp"), "node_id", Platform::Xdp, many).unwrap();
    assert!(plan.fits() && plan.limit.resource.is_none());
    let verified = plan.usage[0];
    assert_eq!(verified.resource, Resource::VerifiedInstructions);
    assert!(verified.needed < 20_000);
}

/// Returns the cell for a plan in the table.
fn cell(plan: &AttributePlan) -> String {
    match (&plan.refused_by, plan.cost_ns) {
        (Some(short), _) => {
            let most = match plan.limit.attributes {
                Some(attributes) => diag::counted(attributes, "attribute"),
                None => diag::counted(plan.limit.bytes, "byte"),
            };
            format!("no: {most} ({})", short.resource.name())
        }
        (None, Some(cost)) if plan.target.is_model() && cost == 0.0 => "yes".to_string(),
        (None, Some(cost)) if cost >= 10_000.0 => format!("yes, {} µs", cost / 1_000.0),
        (None, Some(cost)) => format!("yes, {} ns", cost.round()),
        (None, None) => "yes".to_string(),
    }
}

#[test]
fn the_table_of_the_documentation() {
    let mut text = String::from(
        "# What the planner answers\n\n\
         For each attribute of each built-in message, in the bytes and among the attributes of its schema's limits: the technique, whether it fits, and what it \
         adds to a packet that is searched to its end. Of those that do not fit, the most that would, and the resource that is short. Made by a test; \
         `onpath plan MESSAGE --attribute NAME` gives the reasons and what would make it fit.\n\n\
         Times are estimates from measurements of parsers in plain P4 on one machine (`crates/payload/src/plan/kernel.rs`); Tofino and NFP are models (`crates/asic`): \
         nothing ran on them. Traffic control (`tc`) is as XDP in every row.\n\n\
         | message | attribute | bytes | technique | XDP | Tofino | NFP |\n|---|---|---|---|---|---|---|\n",
    );
    for builtin in ALL {
        let schema = schema(builtin.name);
        for attribute in schema.names() {
            let named = ["name", "1234", "a/@name"].map(|key| attribute.replace('*', key));
            let name = named.iter().find(|name| schema.asked(name).is_ok());
            let name = name.unwrap_or_else(|| panic!("{attribute}"));
            let plan = |target| {
                plan(schema, name, target, Question::default())
                    .unwrap_or_else(|| panic!("{} {name}", schema.name))
            };
            let (xdp, tc) = (plan(Platform::Xdp), plan(Platform::Tc));
            assert_eq!(cell(&xdp), cell(&tc));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} |",
                schema.name,
                attribute.replace('*', "\\*"),
                xdp.needs.bytes,
                xdp.technique.name(),
                cell(&xdp),
                cell(&plan(Platform::Tofino)),
                cell(&plan(Platform::Nfp)),
            );
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../messages/PLANS.md");
    if std::env::var_os("ONPATH_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}
