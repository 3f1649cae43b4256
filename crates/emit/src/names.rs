//! C names for P4 names: readable, valid, unique.

use smol_str::SmolStr;
use std::collections::HashSet;

/// The names taken so far.
#[derive(Clone, Debug)]
pub struct Names {
    taken: HashSet<SmolStr>,
}

/// C's keywords, the prelude's names that programs might use, and the names of fixed variables.
const RESERVED: &str = "
    auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while asm typeof bool true false new linux unix
    NULL SEC INLINE BE16 BE32 BE64 EACH_LIMB u8 u16 u32 u64 s32 s64 any16 any32 any64 xdp_md
    divide modulo shift_left shift_right shift_right_signed sat_add sat_sub sat_limit sat_add_signed
    sat_sub_signed sign_extend low_bits csum_fold csum_replace2 csum_replace4 ebpf_ipv4_checksum may_goto
    barrier_var flag_set stay_known behind_check unknown_zero redirect_to send_packet_event now_ns random_u32
    packet_length packet_resize packet_move packet_work packet_resize_with packet_resize_untagged
    packet_sum_start_with IPV4_END IPV6_END FIRST REST moving move_piece MOST_PORTS_OF_A_GROUP packet_load_bytes packet_store_bytes TC_NEXT TC_STOP TC_SENT __sk_buff
    packet_start packet_end packet_end_as packet_pull packet_mtu packet_settle packet_reread packet_resize_any
    packet_sum_start packet_sum_end packet_sum_update sum_of_bytes sum_of_rest sum_piece sum_add sum_sub
    vlan_into_packet room_flags checksum_is_open l4_csum_replace2 l4_csum_replace4 send_back send_copy send_copies
    observe_start port_group summing OBSERVED SENT_BACK HAS_SUM PIECE ETHERNET TYPE OUTLINE APART CONTEXT
    TC_PASS TC_DROP TC_REDIRECT_EGRESS TC_REDIRECT_INGRESS device_sum came_as pulled start_over too_short high_product limb_at top_limb
    bpf_spin_lock flow_seed flow_now flow_put flow_round flow_hash flow_tag flow_find flow_aged flow_victim
    flow_victim_aged flow_begin FLOW_WAYS FLOW_AGED TYPE_IP TYPE_IPV6 TYPE_VLAN TYPE_SERVICE_VLAN all_ways
    XDP_ABORTED XDP_DROP XDP_PASS XDP_TX XDP_REDIRECT
    ctx data data_end scratch scratch_map cur off keep touched zero whole number interface reject accept
    onpath onpath_globals onpath_xdp onpath_tc onpath_observed _license
";

impl Default for Names {
    fn default() -> Names {
        Names {
            taken: RESERVED.split_whitespace().map(SmolStr::from).collect(),
        }
    }
}

impl Names {
    /// Keeps a name that C text from elsewhere defines.
    pub fn reserve(&mut self, name: &str) {
        self.taken.insert(name.into());
    }

    /// A name that says what `wish` says and is nobody else's.
    pub fn fresh(&mut self, wish: &str) -> SmolStr {
        let base = identifier(wish);
        let mut name = base.clone();
        let mut n = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}_{n}").into();
            n += 1;
        }
        name
    }

    /// A name for something with a dotted path: its last part if that is free, else more of it.
    pub fn fresh_path(&mut self, path: &str) -> SmolStr {
        let parts: Vec<&str> = path.split('.').collect();
        for from in (0..parts.len()).rev() {
            let name = identifier(&parts[from..].join("_"));
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
        self.fresh(path)
    }

    /// A map's name: at most 15 characters.
    pub fn fresh_map(&mut self, path: &str, suffix: &str) -> SmolStr {
        let room = 15 - suffix.len();
        let last = identifier(path.rsplit('.').next().unwrap_or(path));
        let mut base: String = last.chars().take(room).collect();
        let mut n = 2;
        loop {
            let name: SmolStr = format!("{base}{suffix}").into();
            if self.taken.insert(name.clone()) {
                return name;
            }
            let number = n.to_string();
            base = last.chars().take(room - number.len()).collect();
            base.push_str(&number);
            n += 1;
        }
    }
}

/// The characters of `text` that C takes, others as underscores.
fn identifier(text: &str) -> SmolStr {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => out.push(c),
            ']' => {}
            _ => out.push('_'),
        }
    }
    while out.starts_with("__") {
        out.remove(0);
    }
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, 'v');
    }
    // The prelude's helpers have these prefixes.
    if ["bpf_", "BPF_", "load_be", "store_be", "wide_", "__builtin"]
        .iter()
        .any(|p| out.starts_with(p))
    {
        out.push('_');
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_unique_and_valid() {
        let mut names = Names::default();
        assert_eq!(names.fresh_path("hdr.ipv4"), "ipv4");
        assert_eq!(names.fresh_path("inner.ipv4"), "inner_ipv4");
        assert_eq!(names.fresh_path("hdr.vlan[1]"), "vlan_1");
        assert_eq!(names.fresh("int"), "int_2");
        assert_eq!(names.fresh("3x"), "v3x");
        assert_eq!(names.fresh("\u{fc}"), "_");
    }

    #[test]
    fn map_names_fit_the_kernel() {
        let mut names = Names::default();
        let long = "ingress.a_very_long_table_name";
        assert_eq!(names.fresh_map(long, ""), "a_very_long_tab");
        assert_eq!(names.fresh_map(long, ""), "a_very_long_ta2");
        assert_eq!(names.fresh_map(long, "_masks"), "a_very_lo_masks");
    }
}
