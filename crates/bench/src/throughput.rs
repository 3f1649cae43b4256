//! Packets per second through a pair of virtual devices, from a generator in the kernel.

use crate::error::Error;
use crate::programs::{Built, compile_c};
use kernel::bench::median;
use kernel::sys::{Link, Loaded, Prog, Update, XdpMode, load_object};
use net::netns::NetNs;
use net::{interface, veth};
use std::io;
use std::time::Instant;

/// Extent of the measurements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Number of packets of one measurement.
    pub packets: u32,
    /// Number of measurements of each program; the median counts.
    pub rounds: usize,
}

/// Extent of the benchmark.
pub(crate) const FULL: Effort = Effort {
    packets: 2_000_000,
    rounds: 5,
};

/// Greatest number of words of a packet that the generator writes (`WORDS` of `generator.c`).
const GENERATED_WORDS: usize = 16;

/// The kernel's `XDP_DROP`.
const DROP: i32 = 1;

/// Packets per second of one workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    /// Rate of a program of two instructions with the same verdict.
    pub baseline: f64,
    /// Rate of the program compiled from P4.
    pub ours: f64,
    /// Rate of the hand-written program.
    pub hand_written: f64,
}

impl Rates {
    /// Returns the loss of a program's rate against the baseline, in percent.
    pub(crate) fn loss(&self, rate: f64) -> f64 {
        100.0 * (1.0 - rate / self.baseline)
    }
}

/// Measures every workload; its three programs are interleaved.
pub(crate) fn measure(built: &[Built], effort: Effort) -> Result<Vec<Rates>, Error> {
    let object = compile_c(include_str!("generator.c"), None)?;
    let ns = NetNs::new().map_err(Error::system("a network namespace"))?;
    ns.run(|| {
        veth::make_pairs(&[("gen".into(), "dut".into())])?;
        // The end that packets are sent back to needs a program, too, or the device drops them early.
        let gen_index = interface::index("gen").map_err(|d| io::Error::other(d.message))?;
        let sink = Prog::constant_xdp(DROP)?;
        let _sink = Link::attach_xdp(&sink, gen_index, XdpMode::Native)?;
        let generator = load_object(&object, &[]).map_err(|f| io::Error::other(f.log))?;
        built
            .iter()
            .map(|b| one(b, &generator, gen_index, effort))
            .collect::<io::Result<Vec<_>>>()
    })
    .map_err(Error::system("packets through a pair of devices"))
}

fn one(built: &Built, generator: &Loaded, gen_index: u32, effort: Effort) -> io::Result<Rates> {
    let packet = built
        .workload
        .packet()
        .map_err(|e| io::Error::other(e.to_string()))?;
    // The network stack's work on a packet that is passed on costs more than any of these programs, so the baseline
    // must pass it on, too.
    let baseline = Prog::constant_xdp(built.workload.verdict as i32)?;
    let programs = [&baseline, &built.ours.prog, &built.hand_written.prog];
    let mut samples = [const { Vec::new() }; 3];
    for _ in 0..effort.rounds {
        for (prog, samples) in programs.iter().zip(&mut samples) {
            samples.push(rate(prog, generator, gen_index, &packet, effort.packets)?);
        }
    }
    let [baseline, ours, hand_written] = samples.map(|s| median(&s));
    Ok(Rates {
        baseline,
        ours,
        hand_written,
    })
}

/// Sends packets to the program at the other end, and returns how many it received per second.
fn rate(
    program: &Prog,
    generator: &Loaded,
    gen_index: u32,
    packet: &[u8],
    packets: u32,
) -> io::Result<f64> {
    let index = interface::index("dut").map_err(|d| io::Error::other(d.message))?;
    let _attached = Link::attach_xdp(program, index, XdpMode::Native)?.until_dropped();
    let words = (packet.len() / 8).min(GENERATED_WORDS);
    let mut job = gen_index.to_ne_bytes().to_vec();
    job.extend((words as u32).to_ne_bytes());
    job.extend(&packet[..8 * words]);
    job.resize(8 + 8 * GENERATED_WORDS, 0);
    let find = |name: &str| generator.maps.iter().find(|(n, _)| n == name);
    let (_, map) = find(".data.job").ok_or(io::ErrorKind::NotFound)?;
    map.set(&0u32.to_ne_bytes(), &job, Update::Any)?;
    let (_, prog) = generator.programs.first().ok_or(io::ErrorKind::NotFound)?;
    let before = arrived("dut")?;
    let started = Instant::now();
    prog.run_live(packet, packets)?;
    let seconds = started.elapsed().as_secs_f64();
    Ok((arrived("dut")? - before) as f64 / seconds)
}

/// Returns the number of packets that a device has received, from the namespace's list of devices.
fn arrived(device: &str) -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    text.lines()
        .find_map(|l| l.trim().strip_prefix(device)?.strip_prefix(':'))
        .and_then(|l| l.split_whitespace().nth(1)?.parse().ok())
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}
