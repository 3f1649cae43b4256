//! List of all diagnostic codes of this crate. A test compares it with the codes in the functions of the modules beside
//! this one.

/// All codes of this crate, in order.
pub const CODES: &[&str] = &[
    "E0201", "E0202", "E0203", "E0204", "E0205", "E0206", "E0207", "E0208", "E0209", "E0210",
    "E0211", "E0212", "E0213", "E0214", "E0215", "E0230", "E0231", "E0232", "E0233", "E0234",
    "E0236", "E0237", "E0238", "E0239", "E0240", "E0241", "E0242", "E0243", "E0244", "E0245",
    "E0246", "E0248", "E0249", "E0250", "E0251", "E0252", "E0253", "E0254", "E0255", "E0256",
    "E0257", "E0258", "E0259", "E0260", "E0261", "E0262", "E0301", "E0302", "E0303", "E0304",
    "E0305", "E0306", "E0307", "E0308", "E0309", "E0310", "E0311", "E0312", "E0313", "E0314",
    "E0315", "E0316", "E0317", "E0318", "E0319", "E0320", "E0321", "E0322", "E0323", "E0324",
    "E0325", "E0326", "E0327", "E0328", "E0330", "E0331", "E0332", "E0333", "E0334", "E0335",
    "E0336", "E0337", "E0338", "E0339", "E0340", "E0341", "E0342", "E0343", "E0344", "E0345",
    "E0346", "E0347", "E0360", "E0401", "E0402", "E0403", "E0404", "E0405", "E0406", "E0407",
    "E0408", "E0409", "E0410", "E0411", "E0412", "E0413", "E0414", "E0415", "E0416", "E0430",
    "E0431", "E0434", "E0435", "E0436", "E0437", "E0438", "E0439", "E0440", "E0441", "E0442",
    "E0443", "E0444", "E0445", "E0460", "E0461", "E0462", "E0463", "E0464", "E0465", "E0466",
    "E0467", "E0468", "E0469", "E0470", "E0471", "E0473", "E0474", "E0475", "E0476", "E0477",
    "E0478", "E0479", "E0480", "E0501", "E0502", "E0503", "E0504", "E0505", "E0506", "E0507",
    "W0201", "W0202", "W0203", "W0204", "W0205", "W0301", "W0302", "W0303", "W0304", "W0401",
    "W0402", "W0403", "W0404", "W0405", "W0406", "W0407", "W0408", "W0409",
];

#[cfg(test)]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_what_the_functions_use_and_no_code_is_used_twice() {
        let sources = [
            include_str!("calls.rs"),
            include_str!("constants.rs"),
            include_str!("declarations.rs"),
            include_str!("names.rs"),
            include_str!("statements.rs"),
            include_str!("tables.rs"),
            include_str!("types.rs"),
            include_str!("warnings.rs"),
        ];
        // A code is the first argument of each function that makes a diagnostic.
        let used: Vec<&str> = sources
            .iter()
            .flat_map(|s| s.split("Diagnostic::").skip(1))
            .filter_map(|s| s.split_once('(')?.1.trim_start().strip_prefix('"'))
            .filter_map(|s| s.split('"').next())
            .collect();
        let unique: BTreeSet<&str> = used.iter().copied().collect();
        assert_eq!(unique.len(), used.len(), "a code stands for two kinds");
        assert_eq!(unique, CODES.iter().copied().collect());
    }
}
