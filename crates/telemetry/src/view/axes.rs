//! Labels of axes, and space above lines.

/// Returns the fraction of a picture's height that the names of this many lines need above them.
pub(super) fn room_of_names(lines: usize) -> f64 {
    // Each name takes 18 of 290 pixels.
    let pixels = 18.0 * lines as f64 + 24.0;
    (pixels / 290.0).clamp(0.2, 0.6)
}

/// Greatest number of labels at an axis of a histogram.
const NUMBERS: usize = 10;

/// Returns the labels of a logarithmic axis: logarithms of whole numbers between two bounds. They are 1, 2 and 5 times
/// powers of ten, the powers alone if these are too many, or the whole numbers nearest to the bounds if there are none.
pub(super) fn powers(from: f64, to: f64) -> Vec<f64> {
    let decades = || (0..20).map(|power| 10f64.powi(power));
    let within = |number: f64| Some(number.log10()).filter(|at| (from..=to).contains(at));
    let fine = decades().flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]);
    let fine: Vec<f64> = fine.filter_map(within).collect();
    let coarse: Vec<f64> = decades().filter_map(within).collect();
    // The power of a logarithm may differ slightly from the number.
    let ends = [
        (10f64.powf(from) * (1.0 - 1e-9)).ceil(),
        (10f64.powf(to) * (1.0 + 1e-9)).floor(),
    ];
    let ends = ends.map(|end| end.log10().clamp(from, to));
    match (fine.len(), coarse.len()) {
        (0..=1, _) => ends.to_vec(),
        (2..=NUMBERS, _) => fine,
        (_, all) => coarse
            .into_iter()
            .step_by(all.div_ceil(NUMBERS).max(1))
            .collect(),
    }
}

/// Returns whole numbers from 0 on, whose distance is 1, 2 or 5 times a power of ten.
pub(super) fn whole(to: f64) -> Vec<f64> {
    let steps = (0..20).flat_map(|power| [1.0, 2.0, 5.0].map(|one| one * 10f64.powi(power)));
    let mut steps = steps.skip_while(|step| to / step >= NUMBERS as f64);
    let step = steps.next().unwrap_or(to.max(1.0));
    (0..NUMBERS)
        .map(|number| number as f64 * step)
        .take_while(|number| *number <= to)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_axes_are_whole() {
        let numbers = |from: f64, to: f64| -> Vec<f64> {
            let powers = powers(from.log10(), to.log10());
            powers
                .into_iter()
                .map(|at| (10f64.powf(at) * 1e6).round() / 1e6)
                .collect()
        };
        assert_eq!(numbers(0.5, 60.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(numbers(1400.5, 1461.0), [1401.0, 1461.0]);
        assert_eq!(numbers(40.0, 90.0), [40.0, 90.0]);
        assert_eq!(numbers(1.0, 2e5).len(), 6);
        assert!(numbers(0.5, 1.8e19).len() <= NUMBERS);
        assert_eq!(whole(1.1), [0.0, 1.0]);
        assert_eq!(whole(8.8).len(), 9);
        assert_eq!(whole(23.0), [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert_eq!(whole(1.1e6).len(), 6);
    }
}
