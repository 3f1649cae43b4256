//! The hand-written firewall, and the program that does nothing.

use super::place::{Parts, Place};
use crate::error::Error;
use crate::firewall::network::INSIDE_DEVICE;
use crate::names::Blocks;
use crate::programs::{Ready, load_c, load_c_with};
use kernel::sys::{Attached, Link, Prog, XdpMode};
use net::interface;
use std::path::Path;

/// Program that passes everything.
pub(crate) const PASS_C: &str = "bench/firewall/pass.c";
/// Program that looks a connection up.
pub(crate) const TUPLE_C: &str = "bench/firewall/tuple.c";
const FIREWALL_C: &str = "bench/firewall/firewall.c";
const QUIC_C: &str = "bench/firewall/quic.c";

/// Loads the hand-written firewall with a list.
pub(crate) fn load_firewall(root: &Path, names: &[String]) -> Result<Ready, Error> {
    load(root, FIREWALL_C, names)
}

/// Loads the hand-written reader of QUIC with a list.
pub(crate) fn load_quic(root: &Path, names: &[String]) -> Result<Ready, Error> {
    load(root, QUIC_C, names)
}

fn load(root: &Path, file: &str, names: &[String]) -> Result<Ready, Error> {
    let blocks = Blocks::of(names);
    let (ready, maps) = load_c_with(root, file, &blocks.macros())?;
    blocks.fill(&maps)?;
    Ok(ready)
}

pub(super) fn no_op(place: &Place) -> Result<Parts, Error> {
    attach(place, load_c(place.starter.root, PASS_C)?.0.prog)
}

pub(super) fn start(place: &Place) -> Result<Parts, Error> {
    attach(place, load_firewall(place.starter.root, place.names)?.prog)
}

fn attach(place: &Place, prog: Prog) -> Result<Parts, Error> {
    let attach = || -> std::io::Result<Attached> {
        let index = interface::by_name(INSIDE_DEVICE)?;
        Ok(Link::attach_xdp(&prog, index, XdpMode::Native)?.until_dropped())
    };
    let attached = place.network.router.run(attach);
    Ok(Parts {
        attached: Some(attached.map_err(Error::system("attaching"))?),
        ..Parts::default()
    })
}
