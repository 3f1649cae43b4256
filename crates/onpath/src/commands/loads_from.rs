//! Part of the report: the oldest version of Linux that loads an object, and why.

use bpf::abi::Hook;
use bpf::features::{FLOOR, Feature, TCX_SINCE, Version};
use bpf::uses::{Use, has_older_variants, loads_from};
use serde_json::{Value, json};

/// Returns a version as users write it.
pub(super) fn version((major, minor): Version) -> String {
    format!("{major}.{minor}")
}

/// Describes the kernels that load an object, as JSON:
///
/// - `since`: the oldest version of Linux that loads it.
/// - `has_older_variants`: true if the program can be built for the oldest supported version too.
/// - `built_for`: the version that it was built for.
/// - `uses`: the constructs in its code. `for` names the construct, and `variant` its lowering. `feature` is what the
///   lowering needs, and Linux has it `since` this version; both are null if it needs none. `lacking` is the missing
///   feature for the preferred lowering. `otherwise` is the lowering for older kernels.
/// - `attached`: its attachment at tc, null for XDP.
/// - `not_looked_into`: C files whose needs are not known.
pub(super) fn describe(uses: &[Use], hook: Hook, made_for: Version, externs: &[String]) -> Value {
    let feature =
        |feature: Feature| json!({ "feature": feature.name(), "since": version(feature.since()) });
    let used = |used: &Use| {
        json!({
            "for": used.construct.name(),
            "variant": used.variant().name,
            "feature": used.by.map(Feature::name),
            "since": used.by.map(|by| version(by.since())),
            "lacking": used.lacking().map(feature),
            "otherwise": used.fallback().map(|variant| variant.name),
        })
    };
    let attached = json!({ "variant": "tcx", "since": version(TCX_SINCE), "otherwise": "filters at clsact qdiscs" });
    json!({
        "since": version(loads_from(uses)),
        "has_older_variants": has_older_variants(uses),
        "built_for": version(made_for),
        "uses": uses.iter().map(used).collect::<Vec<_>>(),
        "attached": (hook != Hook::Xdp).then_some(attached),
        "not_looked_into": externs,
    })
}

/// Returns the description as text. `iterations` is the maximum number of iterations of a packet in loops, if they are
/// counted.
pub(super) fn show(described: &Value, iterations: Option<u64>) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let since = text(&described["since"]);
    let all = described["uses"].as_array().map_or(&[][..], Vec::as_slice);
    let floor = version(FLOOR);
    let mut out = match all.iter().find(|used| used["since"] == described["since"]) {
        Some(used) if since != floor => {
            let older = match described["has_older_variants"] == true {
                true => format!("; `--kernel {floor}` makes an object that loads from {floor} on"),
                false => String::new(),
            };
            let feature = text(&used["feature"]);
            format!("loads from Linux {since} on, which has {feature}{older}\n")
        }
        _ => format!("loads from Linux {since} on, the oldest that Onpath runs on\n"),
    };
    for used in all {
        out += &format!("  {}: {}", text(&used["for"]), text(&used["variant"]));
        let lacking = &used["lacking"];
        if lacking.is_object() {
            let (feature, since) = (text(&lacking["feature"]), text(&lacking["since"]));
            let made_for = text(&described["built_for"]);
            out += &format!(", since Linux {made_for} has no {feature} (Linux {since})");
        } else if used["since"].is_string() {
            out += &format!(" (Linux {})", text(&used["since"]));
        }
        if used["otherwise"].is_string() {
            out += &format!("; for older kernels {}", text(&used["otherwise"]));
        }
        if let (true, Some(iterations)) = (
            used["feature"].is_null() && used["for"] == LOOPS,
            iterations,
        ) {
            out += &format!(
                "; a packet may take {iterations} iterations, one that takes more is rejected"
            );
        }
        out += "\n";
    }
    let attached = &described["attached"];
    if attached.is_object() {
        let (variant, since) = (text(&attached["variant"]), text(&attached["since"]));
        let otherwise = text(&attached["otherwise"]);
        out += &format!("  attaching: {variant} (Linux {since}); on older kernels {otherwise}\n");
    }
    for file in described["not_looked_into"]
        .as_array()
        .into_iter()
        .flatten()
    {
        out += &format!("  what {} uses of the kernel is not known\n", text(file));
    }
    out
}

/// Name of the construct for loops.
const LOOPS: &str = bpf::uses::Construct::Loops.name();

#[cfg(test)]
mod tests {
    use super::*;
    use bpf::features::Features;
    use bpf::uses::Construct;

    fn described(constructs: &[Construct], kernel: Version) -> Value {
        let features = Features::of(kernel);
        let used = |construct: &Construct| Use {
            construct: *construct,
            by: construct.variant(&features).needs,
        };
        let uses: Vec<Use> = constructs.iter().map(used).collect();
        describe(&uses, Hook::TcIngress, kernel, &["sum.c".to_string()])
    }

    #[test]
    fn the_newest_feature_decides_and_every_variant_is_named() {
        let all = [Construct::Loops, Construct::MaskSearch, Construct::Mtu];
        assert_eq!(
            show(&described(&all, (6, 18)), None),
            "loads from Linux 6.9 on, which has may_goto; `--kernel 6.1` makes an object that loads from 6.1 on
  loops: may_goto (Linux 6.9); for older kernels counted iterations
  tuple space search: may_goto (Linux 6.9); for older kernels bpf_loop
  the interface's MTU: bpf_check_mtu (Linux 5.12)
  attaching: tcx (Linux 6.6); on older kernels filters at clsact qdiscs
  what sum.c uses of the kernel is not known
"
        );
    }

    #[test]
    fn a_fallback_names_what_the_kernel_lacks() {
        let all = [Construct::Loops, Construct::MaskSearch];
        assert_eq!(
            show(&described(&all, (6, 1)), Some(1600)),
            "loads from Linux 6.1 on, the oldest that Onpath runs on
  loops: counted iterations, since Linux 6.1 has no may_goto (Linux 6.9); a packet may take 1600 iterations, one that takes more is rejected
  tuple space search: bpf_loop, since Linux 6.1 has no may_goto (Linux 6.9)
  attaching: tcx (Linux 6.6); on older kernels filters at clsact qdiscs
  what sum.c uses of the kernel is not known
"
        );
    }

    #[test]
    fn a_version_between_has_some_variants_of_each() {
        let all = [Construct::Loops, Construct::Bounds];
        let described = described(&all, (6, 8));
        assert_eq!(described["since"], "6.8");
        assert_eq!(described["uses"][0]["lacking"]["since"], "6.9");
        assert_eq!(described["uses"][1]["variant"], "tracked spills");
    }
}
