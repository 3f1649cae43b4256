//! All results, as JSON and as Markdown.

use super::delays::Delays;
use super::json;
use super::rates::Throughput;
use super::times::{TestRuns, UnderTraffic};
use crate::machine::Machine;
use serde::Serialize;

/// Published results of an eBPF prototype and of an implementation in the kernel, on other machines.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Published {
    /// Time at egress of the eBPF prototype, in microseconds.
    pub ebpf_egress_us: f64,
    /// Time at ingress of the eBPF prototype, in microseconds.
    pub ebpf_ingress_us: f64,
    /// TCP's loss with the eBPF prototype, in percent.
    pub ebpf_throughput_loss_percent: f64,
    /// Time of the implementation in the kernel, in microseconds.
    pub kernel_us: f64,
    /// TCP's loss with that implementation, in percent.
    pub kernel_throughput_loss_percent: f64,
}

/// See [`Published`].
pub(crate) const PUBLISHED: Published = Published {
    ebpf_egress_us: 1.28,
    ebpf_ingress_us: 0.55,
    ebpf_throughput_loss_percent: 4.1,
    kernel_us: 0.7,
    kernel_throughput_loss_percent: 1.5,
};

/// All results.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    machine: Machine,
    published: Published,
    test_run: TestRuns,
    statistics: UnderTraffic,
    traffic: Throughput,
    latency: Delays,
}

impl Report {
    /// Combines the parts.
    pub(crate) fn new(
        test_run: TestRuns,
        statistics: UnderTraffic,
        traffic: Throughput,
        latency: Delays,
    ) -> Report {
        Report {
            machine: Machine::this(),
            published: PUBLISHED,
            test_run,
            statistics,
            traffic,
            latency,
        }
    }

    /// Formats the results as JSON, with a line end.
    pub(crate) fn json(&self) -> String {
        json::text(self)
    }

    /// Formats the results as Markdown tables.
    pub(crate) fn markdown(&self) -> String {
        let (m, p) = (&self.machine, &self.published);
        let head = format!(
            "# PDM: compiled against hand-written\n\n\
             {}, Linux {}, {} × {}, clang {}. Written by `make bench-pdm`.\n\n\
             At both ends of a pair of virtual devices, every outgoing packet gets RFC 8250's option, and every incoming \
             packet loses it. *Conformant*: each packet on the wire has an option and a number of its own. \
             *Marked once*: a TCP packet that segmentation offload will split has one option, and all its segments get it.\n\n\
             Published of an eBPF prototype on other machines: {} µs on egress, {} µs on ingress; of an implementation in \
             the kernel: {} µs.\n",
            m.date,
            m.kernel,
            m.processors,
            m.processor,
            m.clang,
            p.ebpf_egress_us,
            p.ebpf_ingress_us,
            p.kernel_us
        );
        [
            head,
            self.test_run.markdown(),
            self.statistics.markdown(),
            self.traffic.markdown(),
            self.latency.markdown(),
        ]
        .concat()
    }
}
