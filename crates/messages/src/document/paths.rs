//! Trie of the wanted members' paths, as a table. Each node has the number of the value whose path ends there, then the
//! next node for each class of byte. Node 0 is a dead end; the root is the row after it.

/// Table that `struct document_paths` of `document.h` describes.
#[derive(Debug)]
pub(super) struct Paths {
    /// Column of each byte in the rows of `places`.
    pub classes: [u8; 256],
    /// Rows. The number of entries is a power of two, padded with zeros.
    pub places: Vec<u16>,
    /// Number of columns in a row.
    pub columns: usize,
}

/// Column of the values' numbers.
const NUMBER: usize = 0;
/// Column of bytes that are in no path.
const OTHER: u8 = 1;

/// Builds the table of paths with the numbers of their values, from 1. `None` if a node's index exceeds 16 bits.
pub(super) fn paths<'p>(wanted: impl Iterator<Item = (&'p str, u16)> + Clone) -> Option<Paths> {
    let mut classes = [OTHER; 256];
    let mut columns = usize::from(OTHER) + 1;
    for byte in wanted.clone().flat_map(|(path, _)| path.bytes()) {
        if classes[usize::from(byte)] == OTHER {
            // Text has at most 243 different bytes.
            classes[usize::from(byte)] = columns as u8;
            columns += 1;
        }
    }
    let mut places = vec![0; 2 * columns];
    for (path, number) in wanted {
        let mut place = columns;
        for byte in path.bytes() {
            let at = place + usize::from(classes[usize::from(byte)]);
            if places[at] == 0 {
                places[at] = u16::try_from(places.len()).ok()?;
                places.resize(places.len() + columns, 0);
            }
            place = usize::from(places[at]);
        }
        places[place + NUMBER] = number;
    }
    places.resize(places.len().next_power_of_two(), 0);
    Some(Paths {
        classes,
        places,
        columns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(paths: &Paths, path: &str) -> u16 {
        let place = path.bytes().fold(paths.columns, |place, byte| {
            usize::from(paths.places[place + usize::from(paths.classes[usize::from(byte)])])
        });
        paths.places[place]
    }

    #[test]
    fn each_path_leads_to_its_number_and_no_other_to_any() {
        let wanted = [
            ("user.id", 1),
            ("user.name", 2),
            ("user", 3),
            ("tags[0]", 4),
        ];
        let paths = paths(wanted.into_iter()).expect("a table");
        for (path, expected) in wanted {
            assert_eq!(number(&paths, path), expected, "{path}");
        }
        for path in ["", "use", "user.", "user.idx", "tags[1]", "zuser"] {
            assert_eq!(number(&paths, path), 0, "{path}");
        }
        assert!(paths.places.len().is_power_of_two());
    }

    #[test]
    fn paths_that_take_too_many_places_have_no_table() {
        let letters: String = ('a'..='z').collect();
        let long = letters.repeat(100);
        assert!(paths([(long.as_str(), 1)].into_iter()).is_none());
    }
}
