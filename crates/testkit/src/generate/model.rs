//! Differences between programs for the architectures: frame, inputs and outputs.

use super::{Generator, Stmt};

/// Architecture of a generated program, and for `v1model` the packets that it handles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// `xdp_model`
    Xdp,
    /// `tc_model`
    Tc,
    /// `v1model`, with unicast packets only.
    V1,
    /// `v1model`, with packets that are cloned, replicated, resubmitted and recirculated.
    Copies,
}

/// Intrinsic inputs of a program for tc, with their widths.
const TC_INPUTS: [(&str, u32); 9] = [
    ("i.input_port", 32),
    ("i.length", 32),
    ("i.mark", 32),
    ("i.priority", 32),
    ("i.timestamp", 64),
    ("i.mtu", 32),
    ("o.mark", 32),
    ("o.priority", 32),
    ("o.multicast_group", 16),
];

/// Intrinsic inputs of a program for `v1model` with unicast packets, with their widths.
const V1_INPUTS: [(&str, u32); 5] = [
    ("sm.ingress_port", 9),
    ("sm.packet_length", 32),
    ("sm.ingress_global_timestamp", 48),
    ("sm.egress_spec", 9),
    ("sm.instance_type", 32),
];

/// Inputs of a program for `v1model` with copies of packets, with their widths.
const COPIES_INPUTS: [(&str, u32); 11] = [
    ("sm.ingress_port", 9),
    ("sm.packet_length", 32),
    ("sm.egress_spec", 9),
    ("sm.instance_type", 32),
    ("sm.egress_rid", 16),
    ("sm.egress_port", 9),
    ("sm.mcast_grp", 16),
    ("m.kept", 16),
    ("m.half", 33),
    ("m.lost", 8),
    ("m.depth", 8),
];

/// User metadata, partly preserved when a packet is resubmitted, recirculated or cloned.
const METADATA: &str = "struct metadata_t {
    @field_list(1, 2) bit<8> depth;
    @field_list(1) bit<16> kept;
    @field_list(2) bit<33> half;
    bit<8> lost;
}

";

/// Size of a register and of an array of counters; some indices are out of bounds.
const CELLS: usize = 6;

impl Model {
    pub(super) fn include(self) -> &'static str {
        match self {
            Model::Xdp => "#include <core.p4>\n#include <xdp_model.p4>\n\n",
            Model::Tc => "#include <core.p4>\n#include <tc_model.p4>\n\n",
            Model::V1 => "#include <core.p4>\n#include <v1model.p4>\n\nstruct metadata_t { }\n\n",
            Model::Copies => "#include <core.p4>\n#include <v1model.p4>\n\n",
        }
    }

    /// Returns true if the architecture has ingress and egress.
    pub(super) fn is_switch(self) -> bool {
        matches!(self, Model::V1 | Model::Copies)
    }

    /// Returns the struct of metadata.
    pub(super) fn metadata(self) -> &'static str {
        match self {
            Model::Copies => METADATA,
            _ => "",
        }
    }

    /// Returns the head of the parser.
    pub(super) fn parser(self) -> &'static str {
        match self {
            Model::Xdp | Model::Tc => "parser P(packet_in packet, out headers_t hdr) {\n",
            Model::V1 | Model::Copies => {
                "parser P(packet_in packet, out headers_t hdr, inout metadata_t m, inout standard_metadata_t sm) {\n"
            }
        }
    }

    /// Returns the head of the deparser.
    pub(super) fn deparser(self) -> &'static str {
        match self {
            Model::Xdp | Model::Tc => {
                "control D(in headers_t hdr, packet_out packet) {\n    apply {\n"
            }
            Model::V1 | Model::Copies => {
                "control D(packet_out packet, in headers_t hdr) {\n    apply {\n"
            }
        }
    }

    /// Returns the declarations of registers and counters in the control.
    pub(super) fn objects(self) -> String {
        match self {
            Model::Xdp | Model::Tc => String::new(),
            Model::V1 | Model::Copies => format!(
                "    register<bit<33>>({CELLS}) r;\n    counter({CELLS}, CounterType.packets_and_bytes) c;\n"
            ),
        }
    }

    /// Returns the head of the control.
    pub(super) fn control(self) -> &'static str {
        match self {
            Model::Xdp => "control C(inout headers_t hdr, in xdp_input i, out xdp_output o) {\n",
            Model::Tc => "control C(inout headers_t hdr, in tc_input i, inout tc_output o) {\n",
            Model::V1 | Model::Copies => {
                "control C(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t sm) {\n"
            }
        }
    }

    /// Returns statements that stand before all others.
    pub(super) fn begin(self) -> &'static str {
        match self {
            Model::Xdp => {
                "        o.output_action = xdp_action.XDP_PASS;\n        o.output_port = 0;\n"
            }
            Model::Tc | Model::V1 | Model::Copies => "",
        }
    }

    pub(super) fn main(self) -> &'static str {
        match self {
            Model::Xdp => "xdp(P(), C(), D()) main;\n",
            Model::Tc => "tc(P(), C(), D()) main;\n",
            Model::V1 | Model::Copies => "V1Switch(P(), V(), C(), E(), U(), D()) main;\n",
        }
    }
}

impl Generator<'_> {
    /// Returns an intrinsic input and its width, or often `None`.
    pub(super) fn input(&mut self) -> Option<(String, u32)> {
        let inputs = match self.program.model {
            Model::Xdp => return None,
            Model::Tc => &TC_INPUTS[..],
            Model::V1 => &V1_INPUTS[..],
            Model::Copies => &COPIES_INPUTS[..],
        };
        if !self.chance(4) {
            return None;
        }
        let (name, width) = inputs[self.below(inputs.len())];
        // Actions, tables' keys and initial values see the inputs, too.
        Some((name.to_string(), width))
    }

    /// Returns a statement that decides about the packet, or calls an extern.
    pub(super) fn output(&mut self) -> Stmt {
        let text = match self.program.model {
            Model::Xdp => self.xdp_output(),
            Model::Tc => self.tc_output(),
            Model::V1 => self.v1_output(),
            Model::Copies => self.copies_output(),
        };
        Stmt::Plain(text)
    }

    fn xdp_output(&mut self) -> String {
        if self.chance(2) {
            let action = ["XDP_PASS", "XDP_TX", "XDP_DROP", "XDP_REDIRECT"][self.below(4)];
            format!("o.output_action = xdp_action.{action};")
        } else {
            let value = self.expr(3, 1);
            format!("o.output_port = (bit<32>)({value});")
        }
    }

    fn tc_output(&mut self) -> String {
        match self.below(12) {
            0 | 1 => {
                let verdicts = [
                    "TC_PASS",
                    "TC_DROP",
                    "TC_REDIRECT_EGRESS",
                    "TC_REDIRECT_INGRESS",
                ];
                let verdict = verdicts[self.below(4)];
                format!("o.verdict = tc_verdict.{verdict};")
            }
            2 => format!("o.output_port = (bit<32>)({});", self.expr(3, 1)),
            3 => format!("o.mark = {};", self.expr(32, 2)),
            4 => format!("o.priority = {};", self.expr(32, 1)),
            5 => format!("o.queue = {};", self.expr(16, 1)),
            6 => format!("o.clone = {};", self.condition(1)),
            7 => format!("o.clone_port = (bit<32>)({});", self.expr(3, 1)),
            8 => format!("o.multicast_group = (bit<16>)({});", self.expr(2, 1)),
            9 | 10 => {
                let (target, width) = self.target();
                format!("{target} = (bit<{width}>)random32();")
            }
            _ => {
                let (target, width) = self.target();
                let words = [16, 32][self.below(2)];
                let (sum, old) = (self.expr(16, 1), self.expr(words, 1));
                let new = self.expr(words, 1);
                let pseudo = self.chance(2);
                let name = format!("l4_csum_replace{}", words / 8);
                format!("{target} = (bit<{width}>){name}({sum}, {old}, {new}, {pseudo});")
            }
        }
    }

    fn copies_output(&mut self) -> String {
        let list = match self.program.egress {
            // A clone of egress that lost `depth` would be cloned endlessly.
            true => 1 + self.below(2),
            false => self.below(3),
        };
        // Bounds the number of copies of copies.
        let deeper = "m.depth = m.depth + 1;";
        match self.below(16) {
            0 | 1 => {
                let kind = ["I2E", "E2E"][usize::from(self.program.egress)];
                let session = self.expr(2, 1);
                format!(
                    "if (m.depth < 2) {{ {deeper} clone_preserving_field_list(CloneType.{kind}, (bit<32>)({session}), {list}); }}"
                )
            }
            2 | 3 => {
                let again = match self.program.egress {
                    true => "recirculate",
                    false => "resubmit",
                };
                format!(
                    "if (m.depth < 2) {{ {deeper} {again}_preserving_field_list({}); }}",
                    1 + self.below(2)
                )
            }
            4 | 5 if !self.program.egress => {
                format!("sm.mcast_grp = (bit<16>)({});", self.expr(2, 1))
            }
            6 => format!("truncate((bit<32>)({}) + 14);", self.expr(6, 1)),
            7 => format!("m.kept = {};", self.expr(16, 2)),
            8 => format!("m.half = {};", self.expr(33, 2)),
            9 => format!("m.lost = {};", self.expr(8, 2)),
            _ => self.v1_output(),
        }
    }

    fn v1_output(&mut self) -> String {
        match self.below(10) {
            0..=2 => format!("sm.egress_spec = (bit<9>)({});", self.expr(4, 1)),
            3 => "mark_to_drop(sm);".to_string(),
            4 if !self.program.egress => {
                let (index, value) = (self.expr(3, 1), self.expr(33, 1));
                format!("r.write((bit<32>)({index}), {value});")
            }
            5 if !self.program.egress => format!("c.count((bit<32>)({}));", self.expr(3, 1)),
            6 if !self.program.egress && self.program.locals.iter().any(|(w, _)| *w == 33) => {
                let local = self.program.locals.iter().position(|(w, _)| *w == 33);
                let index = self.expr(3, 1);
                format!("r.read(v{}, (bit<32>)({index}));", local.unwrap_or(0))
            }
            7 => {
                let local = self.below(self.program.locals.len());
                let width = self.program.locals[local].0;
                if width > 64 {
                    return "sm.egress_spec = 2;".to_string();
                }
                let (lo, hi) = (self.expr(width, 1), self.expr(width, 1));
                format!("random(v{local}, {lo}, {hi});")
            }
            _ => {
                let local = self.below(self.program.locals.len());
                let width = self.program.locals[local].0;
                if width > 64 {
                    return "sm.egress_spec = 3;".to_string();
                }
                let algorithms = ["crc32", "crc16", "csum16", "xor16", "identity", "random"];
                let algorithm = algorithms[self.below(algorithms.len())];
                let data: Vec<String> = (0..1 + self.below(3))
                    .map(|_| {
                        let width = self.width();
                        self.expr(width, 1)
                    })
                    .collect();
                let (base, max) = (self.expr(16, 1), self.expr(16, 1));
                format!(
                    "hash(v{local}, HashAlgorithm.{algorithm}, {base}, {{ {} }}, {max});",
                    data.join(", ")
                )
            }
        }
    }
}
