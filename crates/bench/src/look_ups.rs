//! How long a look-up takes in tables whose entries may overlap: by how many there are, by their masks, and by the layout
//! that the table has. Each run makes another key from the last one, in the packet, so that keys are random.

use crate::error::Error;
use crate::tables::{apply, compile};
use bpf::Layout;
use kernel::Instance;
use kernel::bench::{Effort, Subject, interleaved, undisturbed};
use serde::Serialize;
use std::fmt::Write;

/// Rounds and runs of each: the least of these is what counts.
const EFFORT: Effort = Effort {
    rounds: 7,
    runs: 20_000,
};

/// What the keys of a table are, and how many entries and masks it has.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// Both ports are matched by ranges.
    ranges: bool,
    entries: u32,
    masks: u32,
    layout: Layout,
}

/// What a look-up took.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    ranges: bool,
    entries: u32,
    masks: u32,
    layout: &'static str,
    /// Nanoseconds, above a program whose table is empty.
    hit: f64,
    miss: f64,
    kibibytes: u64,
}

/// Every case.
fn cases() -> Vec<Case> {
    let case = |ranges, entries, masks, layout| Case {
        ranges,
        entries,
        masks,
        layout,
    };
    let mut all = Vec::new();
    for layout in Layout::ALL {
        for (entries, masks) in [
            (16, 4),
            (1_000, 1),
            (1_000, 10),
            (1_000, 100),
            (1_000, 1_000),
        ] {
            all.push(case(false, entries, masks, layout));
        }
        all.push(case(true, 16, 1, layout));
    }
    for entries in [256, 1_000] {
        all.push(case(true, entries, 1, Layout::BitVectors));
    }
    all.push(case(false, 9_900, 100, Layout::BitVectors));
    all
}

/// Measures all of them.
pub(crate) fn measure() -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for case in cases() {
        let row = one(case)?;
        eprintln!("{row:?}");
        rows.push(row);
    }
    Ok(rows)
}

impl Case {
    fn program(self) -> String {
        let ports = if self.ranges { "range" } else { "ternary" };
        let (entries, layout) = (self.entries, self.layout.name());
        format!(
            "#include <core.p4>
#include <xdp_model.p4>
header call_t {{ bit<112> before; bit<32> state; bit<32> add; bit<32> found; }}
struct headers_t {{ call_t call; }}
parser prs(packet_in packet, out headers_t hdr) {{
    state start {{ packet.extract(hdr.call); transition accept; }}
}}
control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
    bit<32> n;
    bit<32> a;
    bit<32> b;
    bit<32> c;
    bit<32> d;
    action give(bit<32> found) {{ hdr.call.found = found; }}
    action none() {{ }}
    @layout(\"{layout}\")
    table all {{
        key = {{
            a : ternary @name(\"a\");
            b : ternary @name(\"b\");
            c[31:16] : {ports} @name(\"c\");
            d[31:16] : {ports} @name(\"d\");
            n[7:0] : ternary @name(\"e\");
        }}
        actions = {{ give; none; }}
        default_action = none();
        size = {entries};
    }}
    apply {{
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        hdr.call.state = hdr.call.state * 1664525 + 1013904223;
        n = (bit<32>)(((bit<64>)hdr.call.state * {entries}) >> 32) + hdr.call.add;
        a = n * {A};
        b = n * {B};
        c = n * {C};
        d = n * {D};
        all.apply();
    }}
}}
control dep(in headers_t hdr, packet_out packet) {{ apply {{ packet.emit(hdr.call); }} }}
xdp(prs(), sw(), dep()) main;
"
        )
    }

    /// The line of an entry, which the key of this number matches.
    fn line(self, n: u32) -> String {
        let mask = n % self.masks;
        let prefix = |less: u32| u32::MAX << less;
        let (of_a, of_b) = (prefix(mask % 16), prefix(mask / 16 % 16));
        let of_e = 0xff << (mask / 256 % 4) & 0xff;
        let (a, b) = (n.wrapping_mul(A) & of_a, n.wrapping_mul(B) & of_b);
        let (c, d) = (n.wrapping_mul(C) >> 16, n.wrapping_mul(D) >> 16);
        let ports = match self.ranges {
            false => format!("c:{c} d:{d}"),
            true => {
                let around = |port: u32| {
                    let (low, high) = (port.saturating_sub(700), (port + 900).min(0xffff));
                    format!("{low}..{high}")
                };
                format!("c:{} d:{}", around(c), around(d))
            }
        };
        let e = n & 0xff & of_e;
        let priority = 1 + n.wrapping_mul(D) % 1_000;
        format!(
            "add all {priority} a:{a:#x}&&&{of_a:#x} b:{b:#x}&&&{of_b:#x} {ports} e:{e:#x}&&&{of_e:#x} give(found: {n})"
        )
    }
}

/// Factors that spread numbers over 32 bits.
const A: u32 = 0x9e37_79b1;
const B: u32 = 0x85eb_ca77;
const C: u32 = 0x27d4_eb2f;
const D: u32 = 0x1656_67b1;

fn one(case: Case) -> Result<Row, Error> {
    let text = case.program();
    let empty = compile(&text)?;
    let mut full = compile(&text)?;
    let lines: Vec<String> = (0..case.entries).map(|n| case.line(n)).collect();
    apply(&mut full, lines.join("\n") + "\n")?;
    let abi = &full.store.abi;
    let bytes: u64 = kernel::memory::of_program(abi)
        .iter()
        .filter(|map| map.role == "table")
        .map(|map| map.need.full)
        .sum();
    Ok(Row {
        ranges: case.ranges,
        entries: case.entries,
        masks: case.masks,
        layout: case.layout.name(),
        hit: nanoseconds(&empty, &full, 0)?,
        // The numbers of no entries.
        miss: nanoseconds(&empty, &full, 0x0100_0000)?,
        kibibytes: bytes.div_ceil(1024),
    })
}

/// What a look-up of keys takes whose numbers are greater by so much.
fn nanoseconds(empty: &Instance, full: &Instance, add: u32) -> Result<f64, Error> {
    let mut packet = vec![0; 14];
    packet.extend(7u32.to_be_bytes());
    packet.extend(add.to_be_bytes());
    packet.extend([0; 42]);
    let subjects = [empty, full].map(|instance| Subject {
        prog: instance.program.prog(),
        packet: &packet,
        grows: false,
    });
    let samples = interleaved(&subjects, EFFORT).map_err(Error::system("a test run"))?;
    Ok(undisturbed(&samples[1]) - undisturbed(&samples[0]))
}

/// The rows as a table.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "\n## Look-ups in tables whose entries may overlap\n\nNanoseconds above a program whose table is empty, keys at random: two addresses, \
         two ports and a protocol, 13 bytes. Ranges are of both ports.\n\n\
         | ports | entries | masks | layout | hit, ns | miss, ns | KiB |\n|---|--:|--:|---|--:|--:|--:|\n",
    );
    for row in rows {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.0} | {:.0} | {} |",
            if row.ranges { "ranges" } else { "exact" },
            row.entries,
            row.masks,
            row.layout,
            row.hit,
            row.miss,
            row.kibibytes
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn entries_are_different_and_have_as_many_masks_as_they_say() {
        for case in cases().into_iter().filter(|case| !case.ranges) {
            let lines: Vec<String> = (0..case.entries).map(|n| case.line(n)).collect();
            assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), lines.len());
            let masks = lines.iter().map(|line| {
                let parts = line.split("&&&").skip(1);
                parts.map(|part| part.split(' ').next()).collect::<Vec<_>>()
            });
            let masks: BTreeSet<_> = masks.collect();
            assert_eq!(masks.len() as u32, case.masks, "{case:?}");
        }
    }
}
