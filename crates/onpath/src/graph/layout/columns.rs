//! The last step: where each node and waypoint stands within its row.

use super::GAP_X;

/// How often nodes are drawn towards their neighbours: above, below, and both, in turn.
const SWEEPS: usize = 24;

/// Centres from left to right without overlap, drawn towards the neighbours.
pub(super) fn columns(
    rows: &[Vec<usize>],
    sizes: &[(f64, f64)],
    above: &[Vec<usize>],
    below: &[Vec<usize>],
) -> Vec<f64> {
    let mut x = vec![0.0; sizes.len()];
    let distance = |a: usize, b: usize| (sizes[a].0 + sizes[b].0) / 2.0 + GAP_X;
    for row in rows {
        for pair in 0..row.len() {
            x[row[pair]] = match pair {
                0 => sizes[row[0]].0 / 2.0,
                _ => x[row[pair - 1]] + distance(row[pair - 1], row[pair]),
            };
        }
    }
    for sweep in 0..SWEEPS {
        for row in rows {
            let wish: Vec<f64> = row
                .iter()
                .map(|&node| {
                    let (up, down): (&[usize], &[usize]) = match sweep % 3 {
                        0 => (&above[node], &[]),
                        1 => (&[], &below[node]),
                        _ => (&above[node], &below[node]),
                    };
                    match up.len() + down.len() {
                        0 => x[node],
                        count => up.iter().chain(down).map(|&n| x[n]).sum::<f64>() / count as f64,
                    }
                })
                .collect();
            // As far left as allowed and as far right as allowed; the mean of both keeps the order.
            let mut left = wish.clone();
            for i in 1..row.len() {
                left[i] = left[i].max(left[i - 1] + distance(row[i - 1], row[i]));
            }
            let mut right = wish.clone();
            for i in (0..row.len().saturating_sub(1)).rev() {
                right[i] = right[i].min(right[i + 1] - distance(row[i], row[i + 1]));
            }
            for (i, &node) in row.iter().enumerate() {
                x[node] = (left[i] + right[i]) / 2.0;
            }
        }
    }
    let leftmost = (0..sizes.len())
        .map(|n| x[n] - sizes[n].0 / 2.0)
        .fold(f64::INFINITY, f64::min);
    x.iter_mut().for_each(|x| *x -= leftmost);
    x
}
