//! Linear algebra for small symmetric matrices.

/// Symmetric matrix, stored in full, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Symmetric {
    n: usize,
    cells: Vec<f64>,
}

impl Symmetric {
    pub(crate) fn zero(n: usize) -> Self {
        Self { n, cells: vec![0.0; n * n] }
    }

    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.cells[row * self.n + column] += value;
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.n + column]
    }

    /// Cholesky factor: lower triangular L with L·Lᵀ = self; `None` if self is not positive
    /// definite.
    pub(crate) fn triangle(&self) -> Option<Self> {
        let mut lower = Self::zero(self.n);
        for row in 0..self.n {
            for column in 0..=row {
                let before: f64 = (0..column).map(|k| lower.at(row, k) * lower.at(column, k)).sum();
                let left = self.at(row, column) - before;
                let above = lower.at(column, column);
                lower.cells[row * self.n + column] =
                    if row == column { left.sqrt() } else { left / above };
            }
            // The root of a negative number is NaN, which fails this comparison as 0 does.
            (lower.at(row, row) > 0.0).then_some(())?;
        }
        Some(lower)
    }

    /// Solution x of self·x = right; `None` if self is not positive definite.
    pub(crate) fn solve(&self, right: &[f64]) -> Option<Vec<f64>> {
        let lower = self.triangle()?;
        let mut x = right.to_vec();
        for row in 0..self.n {
            let before: f64 = (0..row).map(|k| lower.at(row, k) * x[k]).sum();
            x[row] = (x[row] - before) / lower.at(row, row);
        }
        for row in (0..self.n).rev() {
            let behind: f64 = (row + 1..self.n).map(|k| lower.at(k, row) * x[k]).sum();
            x[row] = (x[row] - behind) / lower.at(row, row);
        }
        Some(x)
    }

    pub(crate) fn inverse(&self) -> Option<Self> {
        let mut inverse = Self::zero(self.n);
        for column in 0..self.n {
            let unit: Vec<f64> = (0..self.n).map(|k| f64::from(u8::from(k == column))).collect();
            for (row, value) in self.solve(&unit)?.into_iter().enumerate() {
                inverse.cells[row * self.n + column] = value;
            }
        }
        Some(inverse)
    }

    /// Quadratic form aᵀ·self·a.
    pub(crate) fn form(&self, a: &[f64]) -> f64 {
        let row = |r: usize| (0..self.n).map(|c| self.at(r, c) * a[c]).sum::<f64>() * a[r];
        (0..self.n).map(row).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Symmetric {
        let mut matrix = Symmetric::zero(3);
        let rows = [[4.0, 2.0, 0.6], [2.0, 3.0, 0.4], [0.6, 0.4, 1.0]];
        for (r, row) in rows.iter().enumerate() {
            for (c, value) in row.iter().enumerate() {
                matrix.add(r, c, *value);
            }
        }
        matrix
    }

    #[test]
    fn solution_satisfies_the_equations() {
        let x = matrix().solve(&[1.0, 2.0, 3.0]).unwrap();
        for (row, right) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            let left: f64 = (0..3).map(|c| matrix().at(row, c) * x[c]).sum();
            assert!((left - right).abs() < 1e-12, "{left} is not {right}");
        }
    }

    #[test]
    fn inverse_times_matrix_is_identity() {
        let inverse = matrix().inverse().unwrap();
        for row in 0..3 {
            for column in 0..3 {
                let cell: f64 = (0..3).map(|k| matrix().at(row, k) * inverse.at(k, column)).sum();
                assert!((cell - f64::from(u8::from(row == column))).abs() < 1e-12);
            }
        }
        assert!((matrix().form(&[1.0, 0.0, 0.0]) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn non_positive_matrix_cannot_be_solved() {
        let mut matrix = matrix();
        matrix.add(2, 2, -5.0);
        assert!(matrix.triangle().is_none() && matrix.solve(&[1.0, 1.0, 1.0]).is_none());
    }
}
