//! The fourth step: the order within each layer, so that few edges cross.

/// How often all layers are gone through, alternately down and up.
const SWEEPS: usize = 8;

/// Orders each row by the mean position of its neighbours in the rows above, then below, a few times.
pub(super) fn order(rows: &mut [Vec<usize>], above: &[Vec<usize>], below: &[Vec<usize>]) {
    let mut position = vec![0.0; above.len()];
    for row in rows.iter() {
        number(row, &mut position);
    }
    for sweep in 0..SWEEPS {
        if sweep % 2 == 0 {
            for row in rows.iter_mut().skip(1) {
                sort(row, above, &mut position);
            }
        } else {
            for row in rows.iter_mut().rev().skip(1) {
                sort(row, below, &mut position);
            }
        }
    }
}

fn number(row: &[usize], position: &mut [f64]) {
    for (at, &point) in row.iter().enumerate() {
        position[point] = at as f64;
    }
}

fn sort(row: &mut Vec<usize>, neighbours: &[Vec<usize>], position: &mut [f64]) {
    if row.len() < 2 {
        return;
    }
    let mean = |point: usize| {
        let near = &neighbours[point];
        match near.len() {
            0 => position[point],
            count => near.iter().map(|&n| position[n]).sum::<f64>() / count as f64,
        }
    };
    let mut keyed: Vec<(f64, usize)> = row.iter().map(|&point| (mean(point), point)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    row.clear();
    row.extend(keyed.into_iter().map(|(_, point)| point));
    number(row, position);
}
