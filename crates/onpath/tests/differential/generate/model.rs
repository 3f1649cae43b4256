//! What programs for the two architectures do not have in common: the frame, inputs and outputs.

use super::{Generator, Stmt};

/// The architecture of a generated program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Model {
    /// `xdp_model`
    Xdp,
    /// `tc_model`
    Tc,
}

/// What a program for tc can read beside its headers, and how wide it is.
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

impl Model {
    pub(super) fn include(self) -> &'static str {
        match self {
            Model::Xdp => "#include <core.p4>\n#include <xdp_model.p4>\n\n",
            Model::Tc => "#include <core.p4>\n#include <tc_model.p4>\n\n",
        }
    }

    /// The control's head.
    pub(super) fn control(self) -> &'static str {
        match self {
            Model::Xdp => "control C(inout headers_t hdr, in xdp_input i, out xdp_output o) {\n",
            Model::Tc => "control C(inout headers_t hdr, in tc_input i, inout tc_output o) {\n",
        }
    }

    /// Statements before all others.
    pub(super) fn begin(self) -> &'static str {
        match self {
            Model::Xdp => {
                "        o.output_action = xdp_action.XDP_PASS;\n        o.output_port = 0;\n"
            }
            Model::Tc => "",
        }
    }

    pub(super) fn main(self) -> &'static str {
        match self {
            Model::Xdp => "xdp(P(), C(), D()) main;\n",
            Model::Tc => "tc(P(), C(), D()) main;\n",
        }
    }
}

impl Generator<'_> {
    /// Sometimes, something that the pipeline gives, and its width.
    pub(super) fn input(&mut self) -> Option<(String, u32)> {
        if self.program.model == Model::Xdp || !self.chance(4) {
            return None;
        }
        let (name, width) = TC_INPUTS[self.below(TC_INPUTS.len())];
        // Actions see the inputs as well; tables' keys and initial values do, too.
        Some((name.to_string(), width))
    }

    /// A statement that says what is to become of the packet, or asks the world something.
    pub(super) fn output(&mut self) -> Stmt {
        let text = match self.program.model {
            Model::Xdp => self.xdp_output(),
            Model::Tc => self.tc_output(),
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
}
