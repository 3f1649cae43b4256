//! `xdp_model`: the checksum of an IPv4 header without options.
//!
//! ```p4
//! extern bit<16> ebpf_ipv4_checksum(in bit<4> version, in bit<4> ihl, in bit<8> diffserv,
//!                                   in bit<16> totalLen, in bit<16> identification,
//!                                   in bit<3> flags, in bit<13> fragOffset,
//!                                   in bit<8> ttl, in bit<8> protocol,
//!                                   in bit<32> srcAddr, in bit<32> dstAddr);
//! ```
//!
//! The header's own checksum counts as zero; the result is ready to be stored.

use crate::call::{Arg, Env, Fault, Reply, scalar};
use crate::hash::Algorithm;
use crate::{Extern, Meaning};
use ir::Bits;

/// `ebpf_ipv4_checksum`
pub(crate) const EXTERN: Extern = Extern {
    name: "ebpf_ipv4_checksum",
    meaning: Meaning::Function(checksum),
};

fn checksum(args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let fields: Vec<Bits> = (0..11)
        .map(|at| scalar(args, at).cloned())
        .collect::<Result<_, _>>()?;
    let sum = Algorithm::Csum16.compute(&fields);
    Ok(Reply::value(Bits::new(16, sum)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn a_header_seen_on_the_wire() {
        let widths = [4, 4, 8, 16, 16, 3, 13, 8, 8, 32, 32];
        let values = [4, 5, 0, 0x73, 0, 2, 0, 0x40, 0x11, 0xc0a8_0001, 0xc0a8_00c7];
        let args: Vec<Arg> = widths.iter().zip(values).map(|(&w, v)| arg(w, v)).collect();
        let reply = with_env(&[], 0, |env| checksum(&args, env)).0;
        assert_eq!(reply, Ok(Reply::value(Bits::new(16, 0xb861u32))));
    }
}
