//! What is decided before any C is made: where each header lives, how far the parser's cursor is known,
//! and what the deparser has to move.

pub mod facts;
pub mod flow;
pub mod graph;
pub mod layout;
pub mod wire;

use crate::abi::Hook;
use crate::errors;
use diag::Diagnostic;
use facts::Facts;
use flow::Flow;
use graph::Graph;
use ir::{Header, Parser, Program, Routine};
use layout::Layout;
use std::collections::BTreeSet;
use wire::Wire;

/// Which model's meaning the program has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// `ebpf_model`: the packet goes on as it came, or not at all.
    Filter,
    /// `xdp_model`
    Switch,
    /// `tc_model`
    Tc,
}

/// Where a header lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rep {
    /// In the packet, behind a pointer; fields are read and written where they lie.
    Packet,
    /// In one variable a field, loaded when it is extracted and written out by the deparser.
    Fields,
}

/// The decisions.
#[derive(Debug)]
pub struct Plan {
    /// The model.
    pub model: Model,
    /// The parser.
    pub parser: Parser,
    /// The filter or switch.
    pub control: Routine,
    /// The deparser.
    pub deparser: Option<Routine>,
    /// Where each header lives.
    pub reps: Vec<Rep>,
    /// The offset at which a header always is, where there is such.
    pub fixed_at: Vec<Option<u32>>,
    /// Headers that only extraction ever makes valid.
    pub only_extracted: Vec<bool>,
    /// Headers that are made invalid somewhere.
    pub invalidated: Vec<bool>,
    /// The parser's states.
    pub graph: Graph,
    /// The emitted layout against the extracted one.
    pub layout: Layout,
    /// What of the packet's bytes matters.
    pub wire: Wire,
}

impl Plan {
    /// Plans a program for a hook; `forced` headers live in variables.
    pub fn new(
        program: &Program,
        hook: Hook,
        forced: &BTreeSet<Header>,
    ) -> Result<Plan, Box<Diagnostic>> {
        let wrong = || Box::new(errors::wrong_architecture(hook, &program.arch));
        let (model, control) = match arch::by_package(&program.arch).map(|a| a.name) {
            Some("ebpf_model") => (Model::Filter, arch::ebpf::FILTER),
            Some("xdp_model") => (Model::Switch, arch::xdp::SWITCH),
            Some("tc_model") if hook != Hook::Xdp => (Model::Tc, arch::tc::CONTROL),
            _ => return Err(wrong()),
        };
        let parser = program.parser_block(arch::PARSER).ok_or_else(wrong)?;
        let control = program.control_block(control).ok_or_else(wrong)?;
        let deparser = match model {
            Model::Filter => None,
            Model::Switch | Model::Tc => {
                Some(program.control_block(arch::DEPARSER).ok_or_else(wrong)?)
            }
        };
        let mut graph = Graph::new(program, parser);
        let facts = Facts::new(program, &graph, parser, control, deparser);
        let only_extracted: Vec<bool> = facts.headers.iter().map(|h| h.only_extracted()).collect();
        graph.find_flows(program, parser, &only_extracted);
        // A packet that must stay as it came until its event is sent is written at the end only.
        let in_place = model != Model::Filter && !facts.sends_packet;
        let reps = program
            .headers
            .keys()
            .map(|h| {
                let f = &facts.headers[h.as_u32() as usize];
                let packet = !f.sites.is_empty() && !f.repeated;
                let plain = f.only_extracted() && !f.dynamic_write;
                if packet && plain && (in_place || !f.written) && !forced.contains(&h) {
                    Rep::Packet
                } else {
                    Rep::Fields
                }
            })
            .collect::<Vec<_>>();
        let fixed_at = facts
            .headers
            .iter()
            .map(|f| {
                let first = *f.sites.first()?;
                f.sites.iter().all(|s| *s == first).then_some(first)?
            })
            .collect();
        let layout = match deparser {
            Some(d) => Layout::new(program, hook, &facts, &graph, d, &reps)?,
            None => Layout::default(),
        };
        let wire = Wire::new(program, parser, &facts, &graph, &layout, &reps);
        Ok(Plan {
            model,
            parser,
            control,
            deparser,
            reps,
            fixed_at,
            only_extracted,
            invalidated: facts.headers.iter().map(|h| h.invalidated).collect(),
            graph,
            layout,
            wire,
        })
    }

    /// Where a header lives.
    pub fn rep(&self, h: Header) -> Rep {
        self.reps[h.as_u32() as usize]
    }

    /// Narrows what is known by a condition.
    pub fn refine(&self, flow: &mut Flow, program: &Program, cond: ir::Expr, truth: bool) {
        flow.refine(program, cond, truth);
        flow.valid_means_there(&self.only_extracted);
    }
}
