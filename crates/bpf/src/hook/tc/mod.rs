//! Traffic control: a verdict passes the packet on, drops it or sends it elsewhere, and copies may be sent.

pub(crate) mod copies;
mod replicas;
mod resized;
mod verdict;

use super::code::{HookCode, HookText, Pull, pull_call};
use super::ports::input_port;
use super::tap;
use super::v1model;
use super::verdict::is_read;
use crate::abi::{MapAbi, MapKind};
use crate::context;
use crate::copies::differ;
use crate::costs::weights::memory;
use crate::emitter::{Coverage, Gen, needs};
use crate::maps::Maps;
use crate::outline;
use crate::placed::Placed;
use crate::uses::Construct;
use arch::Model;
use arch::tc::{Direction, INPUT, OUTPUT};
use cgen::tree::{Block, Expr as C, Stmt, Type};
use emit::locals::LocalKind;
use ir::{Program, Routine, Var};
use smol_str::SmolStr;

/// Outputs whose initial values are the packet's, by their names in P4 and in the packet's context.
const KEPT: [&str; 2] = ["mark", "priority"];

/// The size of `struct packet_work` in `onpath/skb.h`.
const WORK_BYTES: u32 = 192;

/// Name of the map of the memory that `onpath/rewrite.h` needs.
const WORK: &str = "packet_work";

/// Variable for the EtherType by which the stack knows the packet.
const CAME_AS: &str = "came_as";

/// Bytes of a packet that are always linear.
const ETHERNET: u32 = 14;

/// A hook of traffic control.
pub(crate) struct Tc {
    direction: Direction,
}

/// Packets that come in.
pub(crate) const INGRESS: Tc = Tc {
    direction: Direction::Ingress,
};

/// Packets that go out.
pub(crate) const EGRESS: Tc = Tc {
    direction: Direction::Egress,
};

impl HookCode for Tc {
    fn text(&self) -> HookText {
        HookText {
            include: "onpath/tc.h",
            section: "tc",
            function: "onpath_tc",
            context: "__sk_buff",
        }
    }

    fn front_stays(&self) -> bool {
        true
    }

    fn stack_for_rewriting(&self) -> u32 {
        memory::REWRITING
    }

    fn begin(&self, remembers_type: bool) -> Block {
        let mut out = Block::new();
        if remembers_type {
            let protocol = context::get("protocol");
            out.push(Stmt::decl(Type::U32, CAME_AS, protocol));
        }
        let stop = vec![Stmt::Return(Some(C::id("TC_STOP")))];
        let start = C::call("packet_start", vec![C::id("ctx")]);
        out.push(Stmt::If(start, stop, Block::new()));
        out
    }

    fn kept(&self, remembers_type: bool) -> Vec<(Type, SmolStr)> {
        let came_as = remembers_type.then(|| (Type::U32, CAME_AS.into()));
        came_as.into_iter().collect()
    }

    fn pull(&self, g: &Gen<'_>) -> Pull {
        let wire = &g.target.wire;
        let bytes = wire.reads.unwrap_or(u32::MAX);
        match g.target.coverage {
            _ if bytes <= ETHERNET => Pull::Never,
            Coverage::FastPath => Pull::Elsewhere,
            coverage if wire.parser_acts || coverage == Coverage::FullBehindFastPath => {
                Pull::Early(bytes)
            }
            // No chained program goes back to the first one.
            _ if outline::are_chained(g) => Pull::Early(bytes),
            _ => Pull::Late(bytes),
        }
    }

    fn start(&self, g: &mut Gen<'_>) -> Block {
        let mut out = Block::new();
        let differ = differ(g.p);
        if g.target.wire.writes || differ {
            needs(g, Construct::ChangedPackets);
            declare_work(g);
        }
        if differ {
            out.extend(copies::start(g));
        } else if let Some((from, to)) = self.summed(g) {
            let mut args = vec![C::id("ctx")];
            args.extend([from, to]);
            let sum = C::call("packet_sum_start", args);
            out.push(Stmt::decl(Type::U64, "device_sum", sum));
        }
        match self.pull(g) {
            Pull::Never | Pull::Elsewhere => {}
            Pull::Early(bytes) => out.push(Stmt::Expr(pull_call(bytes))),
            Pull::Late(_) => {
                out.push(Stmt::decl(Type::U64, "pulled", C::int(0)));
                out.push(Stmt::Label("start_over".into()));
            }
        }
        out
    }

    fn inputs(&self, g: &mut Gen<'_>, placed: &Placed) -> Block {
        let mut out = Block::new();
        let slot = match g.target.model {
            Model::Filter => return out,
            Model::Switch => arch::xdp::INPUT,
            Model::Tc => INPUT,
            Model::Tap => return tap::inputs(g, placed),
            Model::Pipeline if differ(g.p) => return copies::inputs(g, placed),
            Model::Pipeline => return v1model::inputs(g, placed, "ifindex"),
        };
        for (name, var) in slot_vars(g, slot) {
            let Some(place) = placed.place_of(g, var) else {
                continue;
            };
            let value = match name.as_str() {
                "input_port" => {
                    out.extend(input_port(g, place, "ifindex"));
                    continue;
                }
                "direction" => C::int(self.direction as u64),
                "length" => context::get("len"),
                "gso_segments" => context::get("gso_segs"),
                "timestamp" => C::call("now_ns", Vec::new()),
                "mtu" => {
                    needs(g, Construct::Mtu);
                    C::call("packet_mtu", vec![C::id("ctx")])
                }
                member => context::get(member),
            };
            out.push(Stmt::Assign(place, value));
        }
        for name in KEPT {
            let place = (g.target.model == Model::Tc)
                .then(|| g.p.slot_var(OUTPUT, name))
                .flatten()
                .and_then(|var| placed.place_of(g, var));
            if let Some(place) = place {
                out.push(Stmt::Assign(place, context::get(name)));
            }
        }
        out
    }

    fn repeats_from(&self, program: &Program) -> Option<Routine> {
        copies::first_of_copies(program)
    }

    fn parsed(&self, g: &mut Gen<'_>) {
        if differ(g.p) {
            copies::parsed(g);
        }
    }

    fn before_egress(&self, g: &mut Gen<'_>) {
        match differ(g.p) {
            true => copies::begin(g),
            false => replicas::begin(g),
        }
    }

    fn after_egress(&self, g: &mut Gen<'_>) {
        match differ(g.p) {
            true => copies::end(g),
            false => replicas::end(g),
        }
    }

    fn remembers_type(&self, g: &Gen<'_>) -> bool {
        g.target.wire.changes_type
    }

    fn before_resize(&self, g: &mut Gen<'_>, front: u32, to: &C) {
        resized::note(g, front, to);
    }

    fn put_together(&self, g: &mut Gen<'_>) {
        resized::deparse(g);
        self.end_of_packet(g);
    }

    fn dropped(&self) -> C {
        C::id("TC_STOP")
    }

    fn verdict(&self, g: &mut Gen<'_>) {
        match g.target.model {
            Model::Filter => {
                let pass = g.slot(arch::ebpf::ACCEPT, "");
                g.goto_reject(C::not(pass));
                self.end_of_packet(g);
                g.push(Stmt::Return(Some(C::id("TC_NEXT"))));
            }
            Model::Tap => {
                self.end_of_packet(g);
                g.push(Stmt::Return(Some(C::id("TC_NEXT"))));
            }
            Model::Switch => self.switch_verdict(g),
            Model::Tc => self.tc_model_verdict(g),
            Model::Pipeline => self.v1model_verdict(g),
        }
    }

    fn reject(&self, g: &mut Gen<'_>) {
        if differ(g.p) {
            copies::lost(g);
        }
    }

    fn refused(&self, model: Model) -> C {
        C::id(match model {
            Model::Tap => "TC_NEXT",
            Model::Filter | Model::Switch | Model::Tc | Model::Pipeline => "TC_STOP",
        })
    }

    fn asks_late(&self, g: &Gen<'_>, var: Var) -> bool {
        g.target.coverage == Coverage::FastPath && g.p.slot_var(INPUT, "mtu") == Some(var)
    }

    fn timestamp(&self, g: &mut Gen<'_>) -> Option<C> {
        if g.target.coverage != Coverage::FastPath {
            return None;
        }
        let var = g.p.slot_var(INPUT, "timestamp")?;
        is_read(g.p, var).then(|| g.local(LocalKind::Var(var)))
    }

    fn over_resize(&self, offset: C) -> C {
        C::call("through_memory", vec![offset])
    }

    fn late_include(&self, maps: &Maps) -> Option<&'static str> {
        let works = maps.list.iter().any(|map| map.name == WORK);
        works.then_some("onpath/rewrite.h")
    }
}

/// Declares memory for rare work of the headers.
fn declare_work(g: &mut Gen<'_>) {
    let name = WORK;
    if g.file.own.maps.list.iter().any(|map| map.name == name) {
        return;
    }
    g.file.own.maps.declare(
        MapAbi {
            name: name.into(),
            kind: MapKind::PercpuArray,
            key_size: 4,
            value_size: WORK_BYTES,
            max_entries: 1,
            no_prealloc: false,
            mmapable: false,
        },
        Some((Type::U32, Type::Struct(name.into()))),
    );
}

fn slot_vars(g: &Gen<'_>, name: &str) -> Vec<(String, Var)> {
    g.p.slots
        .iter()
        .filter(|slot| slot.name == name)
        .flat_map(|slot| &slot.vars)
        .map(|(name, var)| (name.to_string(), *var))
        .collect()
}
