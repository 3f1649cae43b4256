//! Names in the headers, which programs must not use.

use emit::Reserved;

/// Reserved names and prefixes.
pub const RESERVED: Reserved = Reserved {
    names: "
        message_value message_at message_mask message_stands message_resembles message_tag message_kinds marks_before message_but_last message_varint_size message_varint message_decimal message_skip_name message_name_text message_move message_move_byte message_move_word message_near message_word message_search message_same message_run
        message_copy message_head message_copy_behind message_slot message_new_ticket message_copy_words message_keep message_restore chunks_pass chunks_state CHUNKS_DIGITS CHUNKS_DATA CHUNKS_DATA_END CHUNKS_FIELD CHUNKS_DONE CHUNKS_MALFORMED CHUNKS_LEFT CHUNKS_WINDOW payload_length payload_bytes payload_write payload_excess payload_part_end payload_left payload_searched payload_copy payload_name payload_piece_size PAYLOAD_LAST_BEGIN PAYLOAD_REACH PAYLOAD_AT_ONCE PAYLOAD_END
        stream_ring stream_loaded stream_begin stream_slot stream_behind stream_release stream_take stream_give stream_wrap stream_load stream_hold stream_equal_words stream_equal stream_restore
        document document_name document_attribute document_key document_level document_paths document_place document_found document_element document_is_among document_pass document_step message_json message_xml
        quic_slot quic_spread quic_clear quic_advance quic_merge quic_frames quic_copy_keys quic_is_id quic_copy_id quic_is_of quic_choose quic_initial quic_load quic_take quic_connection quic_memory quic_keys quic_sha_start quic_sha_rounds quic_aes_table quic_ghash_out quic_salt_inner quic_salt_outer quic_labels quic_turns quic_mix quic_round quic_rounds quic_sha quic_copy_words quic_hmac_end quic_hmac_key quic_expand quic_aes_word quic_aes_mixed quic_aes_last quic_schedule quic_derive quic_aes quic_at quic_word quic_number_size quic_number quic_first_bytes quic_next quic_toggle_header quic_unprotect quic_counter quic_decrypt quic_absorb quic_absorb_bytes quic_ghash_key quic_is_authentic
    ",
    prefixes: &["MESSAGE_", "STREAM_", "QUIC_", "DOCUMENT_", "JSON_", "XML_"],
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
