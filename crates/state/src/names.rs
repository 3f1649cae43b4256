//! Names in the headers, and names that the headers require a target to define. Programs must not use them.

use emit::Reserved;

/// Reserved names.
pub const RESERVED: Reserved = Reserved {
    names: "
        map_find ring_reserve VALUE_LOCK take_lock give_lock_back SET_AT_LOADING
        packet_count digest_lost random_u64 random_below METER_GREEN METER_YELLOW METER_RED METER_SECOND meter_bucket packet_meter meter_sum meter_fill meter_color
        LOG_MOST log_limit log_reserve metric_set tally_metric top_metric metric_set_of metric_begin metric_way tally_add highest_bit HISTOGRAM_BITS HISTOGRAM_COUNTS histogram_add distinct_add saturated_sum top_add
        SET_WAYS hash_seeds rotate_left sip_round sip_hash key_put key_hash key_tag KEPT_HASHES KEPT_KEY key_slot key_hash_kept way_find
        ordered_memory flow_order flow_changes flow_unchanged flow_change flow_used flow_seen FLOW_MEANWHILE flow_find flow_aged flow_victim flow_victim_aged flow_forget flow_oldest flow_oldest_aged flow_begin FLOW_WAYS FLOW_AGED
    ",
    prefixes: &[],
};

#[cfg(test)]
mod tests {
    use emit::names::{Names, declared};

    #[test]
    fn every_name_in_the_headers_is_reserved() {
        let names = Names::new(&[super::RESERVED]);
        for (file, text) in crate::HEADERS {
            for name in declared(text) {
                assert!(names.is_reserved(name), "{file}: {name}");
            }
        }
    }
}
