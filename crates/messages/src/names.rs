//! The names of the headers, which programs must not take.

use emit::Reserved;

/// Names and prefixes.
pub const RESERVED: Reserved = Reserved {
    names: "
        message_value message_at message_mask message_stands message_resembles message_tag bytes_below bytes_from message_kinds marks_before message_but_last message_varint_size message_varint message_decimal message_skip_name message_name_text message_move message_move_byte message_move_word message_near message_word message_search message_same message_run
        document document_name document_attribute document_key document_level document_paths document_place document_found document_element document_is_among document_pass document_step message_json message_xml
    ",
    prefixes: &["MESSAGE_", "DOCUMENT_", "JSON_", "XML_"],
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
