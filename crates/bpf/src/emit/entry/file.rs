//! The C file around the function, and what user space is told of it.

use super::storage::Spilled;
use crate::abi::{Abi, Hook, ProgramAbi};
use crate::emit::Gen;
use crate::emit::locals::Local;
use crate::plan::Model;
use crate::{BpfOutput, Report, budget};
use cgen::tree::{Block, Expr as C, Item, Type, Unit};
use smol_str::SmolStr;

impl Gen<'_> {
    /// The C file and its description.
    pub(super) fn file(
        mut self,
        body: Block,
        locals: &[Local],
        spilled: Option<Spilled>,
    ) -> BpfOutput {
        let hook = hook(self.options.hook);
        let mut items = vec![
            Item::Comment(vec![format!(
                "Made by onpath from {}; `#line` leads back to it.",
                self.options.source_name
            )]),
            Item::Include(hook.include.into()),
        ];
        if !self.maps.flow_states.is_empty() {
            items.push(Item::Include("onpath/flow_state.h".into()));
        }
        for (_, prototype) in std::mem::take(&mut self.prototypes) {
            items.push(prototype);
        }
        for file in &self.options.extern_files {
            items.push(Item::Include(file.clone()));
        }
        items.push(Item::Enum(self.verdicts()));
        if let Some(spilled) = &spilled {
            self.declare_scratch(spilled);
        }
        items.append(&mut self.maps.structs);
        items.append(&mut self.maps.items);
        let (globals, mut global_items) = self.maps.finish_globals();
        items.append(&mut global_items);
        let stack = budget::stack(&body, locals.iter().map(Local::size).sum());
        let instructions = budget::instructions(&body) + self.extra_instructions;
        items.push(Item::Function {
            section: hook.section.into(),
            result: Type::Int,
            name: hook.function.into(),
            params: vec![(Type::Struct(hook.context.into()).ptr(), "ctx".into())],
            body,
        });
        items.push(Item::Variable {
            ty: Type::Named("char".into()).array(4),
            name: "_license".into(),
            init: Some(C::id("\"GPL\"")),
            section: Some("license".into()),
            constant: false,
        });
        let unapplied = self.unapplied_tables();
        self.maps.tables.extend(unapplied);
        self.maps.tables.sort_by_key(|t| t.index);
        let report = Report {
            stack_estimate: stack,
            instruction_estimate: instructions,
            scratch_bytes: spilled.as_ref().map_or(0, |s| s.bytes),
            scratch_variables: spilled
                .iter()
                .flat_map(|s| s.gone.iter().map(|l| l.name.to_string()))
                .collect(),
            copied_headers: self.copied_headers(),
            moves_head: self.moves_head,
        };
        let abi = Abi {
            version: Abi::VERSION,
            source: self.options.source_name.clone(),
            arch: self.p.arch.to_string(),
            programs: vec![ProgramAbi {
                hook: self.options.hook,
                function: hook.function.into(),
                section: hook.section.into(),
                stack_estimate: stack,
                instruction_estimate: instructions,
                moves_head: self.moves_head,
            }],
            maps: self.maps.list,
            globals,
            tables: self.maps.tables,
            value_sets: self.maps.value_sets,
            counters: self.maps.counters,
            flow_states: self.maps.flow_states,
            ports: self.maps.ports,
            events: self.maps.events,
        };
        BpfOutput {
            c_source: cgen::print(&Unit { items }),
            abi,
            report,
        }
    }

    /// The numbers of the verdicts by their names in P4.
    fn verdicts(&self) -> Vec<(SmolStr, u64)> {
        match self.plan.model {
            Model::Filter | Model::Switch => arch::xdp::Verdict::ALL
                .map(|v| (v.name().into(), v as u64))
                .to_vec(),
            Model::Tc => arch::tc::Verdict::ALL
                .map(|v| (v.name().into(), v as u64))
                .to_vec(),
        }
    }

    /// Headers that live in variables although they are read from the packet.
    fn copied_headers(&self) -> Vec<String> {
        self.p
            .headers
            .keys()
            .filter(|&h| self.plan.rep(h) == crate::plan::Rep::Fields)
            .map(|h| self.header_name(h).to_string())
            .collect()
    }

    /// Tables that the program never applies have nothing in the kernel.
    fn unapplied_tables(&self) -> Vec<crate::abi::TableAbi> {
        self.p
            .tables
            .iter()
            .filter(|(t, _)| !self.maps.tables.iter().any(|m| m.index == t.as_u32()))
            .map(|(t, data)| crate::abi::TableAbi {
                index: t.as_u32(),
                name: data.name.to_string(),
                capacity: 0,
                lookup: crate::abi::LookupAbi::Compiled,
                default: crate::abi::DefaultAbi::Const,
                preload: false,
            })
            .collect()
    }
}

/// What the kernel and clang see of a hook.
struct HookText {
    include: &'static str,
    section: &'static str,
    function: &'static str,
    /// The struct that describes a packet.
    context: &'static str,
}

fn hook(hook: Hook) -> HookText {
    match hook {
        Hook::Xdp => HookText {
            include: "onpath/xdp.h",
            section: "xdp",
            function: "onpath_xdp",
            context: "xdp_md",
        },
        Hook::TcIngress | Hook::TcEgress => HookText {
            include: "onpath/tc.h",
            section: "tc",
            function: "onpath_tc",
            context: "__sk_buff",
        },
    }
}
