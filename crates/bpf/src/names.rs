//! Names of the headers and of everything that is in every file, which programs must not use.

use emit::Reserved;

/// Names and prefixes.
pub(crate) const RESERVED: &[Reserved] =
    &[OWN, messages::RESERVED, state::RESERVED, tables::RESERVED];

/// Names of BPF's own headers and code.
const OWN: Reserved = Reserved {
    names: "
        SEC CONTEXT GLOBAL_FUNC xdp_md sk_buff___onpath
        may_goto may_goto_afresh MAY_GOTO count_turn context_get context_set context_pointer context_load barrier_var ordered_memory load_memory_again clear_arguments paths_meet turn_begins forget_value flag_set stay_known behind_check less_itself unknown_zero unknown_zero_at_once redirect_to send_packet_event now_ns
        random_u32 this_processor forward_to add_destination send_to_all destinations next_copy all_copies zero_after masked_by look_up_inside packet_move packet_shorten packet_work packet_resize_untagged
        IPV4_END IPV6_END FIRST REST relocation relocate_piece MOST_PORTS_OF_A_GROUP
        TC_NEXT TC_STOP TC_SENT
        packet_start packet_end packet_become packet_end_as packet_end_resized packet_end_segmented packet_end_resized_as packet_tunnel packet_enters_tunnel packet_leaves_tunnel tunnel_of insert_as ip_begins two_bytes tag_beside INNER_FRAME UNSEGMENTED IN_OUTER IN_INNER packet_pull packet_mtu packet_settle packet_reread
        packet_resize_any through_memory packet_sum_start packet_sum_end packet_sum_update sum_of_bytes sum_of_rest sum_piece
        sum_add sum_sub vlan_into_packet room_flags checksum_is_open kernel_packet piece_size l4_csum_replace2 l4_csum_replace4 send_back
        send_copy forward_copy send_copies count_drop drop_reason replica_group clone_session observe_start port_group summing OBSERVED SENT_BACK HAS_SUM PIECE ETHERNET TYPE
        this_copy this_state this_round traffic traffic_map packet_state packet_states packet_round packet_rounds no_state no_round sum_to copy_begins replica waiting_copy round traffic_begins round_of wait_for_egress replicating replicate wait_all wait_group session_of wait_clones new_state nothing_waits next_waiting lose_all packet_open even new_round observed_packet observed_packets observe_packet come_in_again send_differing cut_packet packet_cut_short CUT_OUT send_cut this_number packet_moved
        MOST_REPLICAS MOST_WAITING MOST_STATES MOST_ROUNDS CURRENT_STATE PARSED_STATE FIRST_STATE BEGUN_ANEW OBSERVED_PACKETS OBSERVED_BYTES OBSERVED_COPY OBSERVED_AGAIN
        STATIC_FUNC TC_PASS TC_DROP TC_REDIRECT_EGRESS TC_REDIRECT_INGRESS device_sum came_as pulled start_over
        PAYLOAD_PIECE payload_piece payload_rest payload_turn payload_sum forget_bounds forget_wide_bounds forget_constant unforeseen packet_front_is_cut
        flow_now too_short TYPE_IP TYPE_IPV6 TYPE_VLAN TYPE_SERVICE_VLAN full_program
        XDP_ABORTED XDP_DROP XDP_PASS XDP_TX XDP_REDIRECT
        scratch scratch_map zero number interface programs
        ONPATH_READ_KERNEL net_device___onpath packet_for_whom own_address FOR_US FOR_ALL FOR_SEVERAL FOR_ANOTHER onpath onpath_globals onpath_changes onpath_xdp onpath_tc onpath_observed _license
    ",
    prefixes: &["bpf_", "BPF_", "DROPPED_"],
};

#[cfg(test)]
mod tests {
    use crate::emitter::Bpf;
    use emit::Target;
    use emit::names::declared;

    #[test]
    fn every_name_in_the_headers_is_reserved() {
        let names = Bpf::names();
        let texts = crate::headers().iter().map(|(_, text)| *text);
        let all: Vec<&str> = texts.flat_map(declared).collect();
        let free: Vec<_> = all.iter().filter(|name| !names.is_reserved(name)).collect();
        assert!(free.is_empty(), "{free:?}");
        assert!(all.len() > 150, "{} names were found", all.len());
    }

    #[test]
    fn what_headers_declare_is_found() {
        let (_, text) = crate::headers()
            .iter()
            .find(|(file, _)| file.ends_with("skb.h"))
            .expect("skb.h");
        let found = declared(text);
        for name in [
            "bpf_skb_load_bytes",
            "BPF_F_INGRESS",
            "TC_STOP",
            "packet_work",
            "piece_size",
        ] {
            assert!(found.contains(&name), "{name} in {found:?}");
        }
    }
}
