//! Inputs of a program besides the packet, and the end of a packet, by model.

use crate::target::{Gen, refusal};
use arch::Model;
use arch::v1model::DROP_PORT;
use arch::v1model::unicast::{DESTINATION, INPUT, NOW, OUTPUT};
use arch::{ebpf, xdp};
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt};
use emit::locals::{Local, LocalKind};
use emit::packet_length;

/// Returns the slot of the inputs, and the value of each input.
fn all(model: Model) -> (&'static str, Vec<(&'static str, C)>) {
    let port = || C::id("ctx").arrow("in_port");
    let microseconds = || C::bin(BinOp::Div, C::call("now_ns", Vec::new()), C::int(1000));
    match model {
        Model::Pipeline => {
            let inputs = vec![
                ("ingress_port", port()),
                ("packet_length", packet_length()),
                ("parser_error", C::int(0)),
                ("ingress_global_timestamp", microseconds()),
                (NOW, microseconds()),
            ];
            (INPUT, inputs)
        }
        _ => (xdp::INPUT, vec![("input_port", port())]),
    }
}

/// Emits the setting of the inputs for which the program has variables.
pub(crate) fn inputs(g: &mut Gen<'_>, locals: &[Local]) -> Block {
    let (slot, inputs) = all(g.target.model);
    let mut set = Block::new();
    for (name, value) in inputs {
        if let Some(var) = g.p.slot_var(slot, name)
            && let place @ C::Ident(_) = g.local(LocalKind::Var(var))
            && locals.iter().any(|l| C::Ident(l.name.clone()) == place)
        {
            let mask = C::int(lower::mask(g.p.vars[var].ty.width()));
            set.push(Stmt::Assign(place, C::bin(BinOp::And, value, mask)));
        }
    }
    set
}

/// Emits the end of the last control: assembles the packet and selects its port, unless it is dropped.
pub(crate) fn verdict(g: &mut Gen<'_>) {
    let port = match g.target.model {
        Model::Pipeline => {
            for (what, span) in arch::v1model::copies(g.p) {
                g.refuse(refusal(&format!("copies of packets: {what}"), span));
            }
            let spec = g.slot(OUTPUT, "egress_spec");
            drop_if(g, C::bin(BinOp::Eq, spec, C::int(DROP_PORT.into())));
            g.slot(OUTPUT, DESTINATION)
        }
        Model::Switch => {
            let action = g.slot(xdp::OUTPUT, "output_action");
            let lives = [xdp::Verdict::Pass, xdp::Verdict::Tx, xdp::Verdict::Redirect];
            let is = |verdict| C::bin(BinOp::Eq, action.clone(), C::int(verdict as u64));
            let any = lives.map(is).into_iter().reduce(C::or);
            drop_if(g, C::not(any.unwrap_or(C::int(0))));
            let port = g.slot(xdp::OUTPUT, "output_port");
            let back = C::id("ctx").arrow("in_port");
            C::choose(is(xdp::Verdict::Redirect), port, back)
        }
        _ => {
            let accepts = g.slot(ebpf::ACCEPT, "");
            drop_if(g, C::not(accepts));
            C::id("ctx").arrow("in_port")
        }
    };
    g.set(C::id("ctx").arrow("out_port"), port);
    if g.target.model != Model::Filter {
        messages::deparse(g);
    }
    g.push(Stmt::Return(Some(C::int(1))));
}

fn drop_if(g: &mut Gen<'_>, condition: C) {
    let gone = vec![Stmt::Return(Some(C::int(0)))];
    g.push(Stmt::If(condition, gone, Block::new()));
}
