//! Nanoseconds a run by the kernel's own statistics, while small datagrams go from the client to the server. What the
//! kernel needs to look at its clock is in each figure: that is what the empty programs show.

use super::Rounds;
use super::network::{Effort, attach, pair, rate};
use super::programs::{Codes, Offloaded, Version};
use crate::error::Error;
use kernel::sys::{Prog, count_runs};
use lab::Offloads;
use lab::traffic::iperf::Load;
use std::time::Duration;

/// What is measured, in this order.
pub const VERSIONS: [Version; 3] = [Version::Empty, Version::Onpath, Version::ByHand];

/// Small datagrams, as fast as it goes.
const LOAD: Load = Load::Udp { size: 64, rate: 0 };

/// Nanoseconds a run.
pub struct Statistics {
    /// The client's egress.
    pub egress: Rounds,
    /// The server's ingress.
    pub ingress: Rounds,
}

/// Measures all versions in turn.
pub fn measure(codes: &Codes, effort: Effort) -> Result<Statistics, Error> {
    let mut nets = Vec::new();
    for code in codes.of(&VERSIONS) {
        let net = pair(Offloads::All, false)?;
        let attached = attach(&net, code, Offloaded::Left)?;
        nets.push((net, attached));
    }
    let mut found = Statistics {
        egress: vec![Vec::new(); nets.len()],
        ingress: vec![Vec::new(); nets.len()],
    };
    // The kernel measures for as long as this lives.
    let _counting = count_runs().map_err(Error::system("the kernel's statistics"))?;
    for _ in 0..effort.rounds {
        for (n, (net, attached)) in nets.iter().enumerate() {
            let [client, server] = &attached.ends[..] else {
                return Err(Error::new("both ends have programs"));
            };
            let before = [times(&client.egress)?, times(&server.ingress)?];
            rate(net, LOAD, effort.time).map_err(Error::system("iperf3"))?;
            let after = [times(&client.egress)?, times(&server.ingress)?];
            found.egress[n].push(each(before[0], after[0]));
            found.ingress[n].push(each(before[1], after[1]));
        }
    }
    Ok(found)
}

fn times(prog: &Prog) -> Result<(u64, Duration), Error> {
    prog.run_time()
        .map_err(Error::system("a program's statistics"))
}

fn each(before: (u64, Duration), after: (u64, Duration)) -> f64 {
    (after.1 - before.1).as_nanos() as f64 / (after.0 - before.0).max(1) as f64
}
