//! Packet handling of a program, for those who attach it.

use crate::abi::PacketsAbi;
use crate::hook::verdict::may_give;
use arch::xdp::{OUTPUT, Verdict};
use ir::{Bits, ExprKind, KeyMatch, Keyset, Program, StmtKind, Transition, visit};

/// EtherTypes of VLAN tags (IEEE 802.1Q, table 9-1), and the one that was usual for outer tags before.
const TAGS: [u64; 3] = [0x8100, 0x88a8, 0x9100];

/// EtherTypes of MPLS, PPPoE and NSH, and the UDP port of GTP-U: no kernel segments packets after such headers.
const UNSEGMENTED: [u64; 5] = [0x8847, 0x8848, 0x8864, 0x894f, 2152];
/// Protocol number of an IPv6 routing header, which is another such header.
const ROUTING: u64 = 43;

/// Describes a program's packet handling. It is known that the program `redirects`, and that it puts headers in
/// `front` of IP headers.
pub(crate) fn of(program: &Program, redirects: bool, front: bool) -> PacketsAbi {
    let has_constant = |wanted: &dyn Fn(u32, u64) -> bool| {
        let mut any = false;
        constants(program, &mut |bits| {
            any |= bits.to_u64().is_some_and(|n| wanted(bits.width(), n));
        });
        any
    };
    let is_unsegmented = |width, n| match width {
        8 => n == ROUTING,
        16 => UNSEGMENTED.contains(&n),
        _ => false,
    };
    PacketsAbi {
        redirects,
        sends_back: may_give(program, OUTPUT, "output_action", Verdict::Tx as u32),
        updates_checksums: updates_checksums(program),
        knows_tags: has_constant(&|width, n| width == 16 && TAGS.contains(&n)),
        unsegmented: front && has_constant(&is_unsegmented),
    }
}

/// Returns true if the program computes a header's checksum, or updates one incrementally.
fn updates_checksums(program: &Program) -> bool {
    let mut any = false;
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Extern(call) = &stmt.kind {
                let name = call.name.as_str();
                any |= name.contains("csum_replace") || name.starts_with("update_checksum");
            }
        });
    }
    any
}

/// Visits the constants of expressions, of selects, and of tables' entries and their actions.
fn constants(program: &Program, visit: &mut dyn FnMut(&Bits)) {
    for expr in program.exprs.values() {
        if let ExprKind::Const(bits) = &expr.kind {
            visit(bits);
        }
    }
    let states = program.parsers.values().flat_map(|p| p.states.values());
    let cases = states.flat_map(|state| match &state.transition {
        Transition::Select { cases, .. } => cases.as_slice(),
        Transition::To(_) => &[],
    });
    for set in cases.flat_map(|case| &case.keysets) {
        match set {
            Keyset::Value(bits) | Keyset::Mask(bits, _) | Keyset::Range(bits, _) => visit(bits),
            Keyset::Any | Keyset::ValueSet(_) => {}
        }
    }
    for table in program.tables.values() {
        let keys = table.entries.iter().flat_map(|entry| &entry.keys);
        for key in keys {
            match key {
                KeyMatch::Exact(bits)
                | KeyMatch::Lpm(bits, _)
                | KeyMatch::Ternary(bits, _)
                | KeyMatch::Range(bits, _) => visit(bits),
                KeyMatch::Any => {}
            }
        }
        let calls = table.entries.iter().map(|entry| &entry.action);
        let calls = calls.chain([&table.default_action]);
        calls.flat_map(|call| &call.args).for_each(&mut *visit);
    }
}
