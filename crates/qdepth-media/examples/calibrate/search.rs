//! Nelder and Mead's simplex on logarithms, within ranges.

/// The best point found from `start` with at most `evaluations`; `size` is the first simplex's, as
/// a logarithm.
pub(crate) fn minimum(
    start: &[f64],
    ranges: &[(f64, f64)],
    size: f64,
    evaluations: usize,
    loss: &dyn Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let inside = |logs: &[f64]| -> Vec<f64> {
        logs.iter().zip(ranges).map(|(log, (low, high))| log.exp().clamp(*low, *high)).collect()
    };
    let value = |logs: &[f64]| loss(&inside(logs));
    let first: Vec<f64> = start.iter().map(|v| v.max(1e-9).ln()).collect();
    let mut simplex = vec![(value(&first), first.clone())];
    for index in 0..first.len() {
        let mut corner = first.clone();
        corner[index] += if index % 2 == 0 { size } else { -size };
        simplex.push((value(&corner), corner));
    }
    let mut used = simplex.len();
    while used < evaluations {
        simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
        used += improve(&mut simplex, &value);
    }
    simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
    inside(&simplex[0].1)
}

/// One step; answers how many evaluations it took. The simplex is sorted, best first.
fn improve(simplex: &mut [(f64, Vec<f64>)], value: &dyn Fn(&[f64]) -> f64) -> usize {
    let last = simplex.len() - 1;
    let dimensions = simplex[0].1.len();
    let centre: Vec<f64> = (0..dimensions)
        .map(|d| simplex[..last].iter().map(|(_, x)| x[d]).sum::<f64>() / last as f64)
        .collect();
    let along = |step: f64, worst: &[f64]| -> Vec<f64> {
        centre.iter().zip(worst).map(|(c, w)| c + step * (c - w)).collect()
    };
    let worst = simplex[last].1.clone();
    let reflected = along(1.0, &worst);
    let at_reflected = value(&reflected);
    if at_reflected < simplex[0].0 {
        let expanded = along(2.0, &worst);
        let at_expanded = value(&expanded);
        simplex[last] = if at_expanded < at_reflected {
            (at_expanded, expanded)
        } else {
            (at_reflected, reflected)
        };
        return 2;
    }
    if at_reflected < simplex[last - 1].0 {
        simplex[last] = (at_reflected, reflected);
        return 1;
    }
    let step = if at_reflected < simplex[last].0 { 0.5 } else { -0.5 };
    let contracted = along(step, &worst);
    let at_contracted = value(&contracted);
    if at_contracted < simplex[last].0.min(at_reflected) {
        simplex[last] = (at_contracted, contracted);
        return 2;
    }
    let best = simplex[0].1.clone();
    for (at, corner) in &mut simplex[1..] {
        for (c, b) in corner.iter_mut().zip(&best) {
            *c = b + 0.5 * (*c - b);
        }
        *at = value(corner);
    }
    2 + last
}
