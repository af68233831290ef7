//! Matrix products on strided slices.

use crate::{Real, panels};

/// A matrix to read: element `(i, j)` is `data[offset + i * strides[0] + j * strides[1]]`.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, F> {
    pub(crate) data: &'a [F],
    pub(crate) offset: usize,
    pub(crate) strides: [usize; 2],
}

impl<F> Matrix<'_, F> {
    /// The same numbers with rows and columns exchanged.
    pub(crate) fn transposed(self) -> Self {
        Matrix { strides: [self.strides[1], self.strides[0]], ..self }
    }
}

/// A matrix to write, row-major with this row stride.
pub(crate) struct Target<'a, F> {
    pub(crate) data: &'a mut [F],
    pub(crate) offset: usize,
    pub(crate) stride: usize,
}

/// `c = a b`, or `c += a b` when `adds`. `a` is `[m, k]`, `b` `[k, n]`, `c` `[m, n]`.
///
/// # Panics
/// When a matrix reaches past its slice; sessions check sizes when they are built.
pub(crate) fn multiply<F: Real>([m, k, n]: [usize; 3], a: Matrix<F>, b: Matrix<F>, adds: bool, c: Target<F>) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    let end =
        |offset: usize, [rows, columns]: [usize; 2], strides: [usize; 2]| offset + (rows - 1) * strides[0] + (columns - 1) * strides[1];
    assert!(end(a.offset, [m, k], a.strides) < a.data.len(), "left matrix of a product is too short");
    assert!(end(b.offset, [k, n], b.strides) < b.data.len(), "right matrix of a product is too short");
    assert!(end(c.offset, [m, n], [c.stride, 1]) < c.data.len() && (n <= c.stride || m == 1), "target of a product is too short");
    if cfg!(target_arch = "wasm32") {
        return panels::multiply([m, k, n], a, b, adds, c);
    }
    let signed = |s: [usize; 2]| [s[0] as isize, s[1] as isize];
    let keep = if adds { F::one() } else { F::zero() };
    let left = (a.data[a.offset..].as_ptr(), signed(a.strides));
    let right = (b.data[b.offset..].as_ptr(), signed(b.strides));
    let target = (c.data[c.offset..].as_mut_ptr(), signed([c.stride, 1]));
    // SAFETY: the assertions above keep every element inside its slice, and `c` is borrowed mutably, so it overlaps neither.
    #[allow(unsafe_code, reason = "the product library takes pointers")]
    unsafe {
        F::gemm([m, k, n], left, right, keep, target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_product_matches_plain_loops() {
        let (m, k, n) = (5, 3, 7);
        let a: Vec<f32> = (0..m * 4).map(|i| i as f32).collect(); // [m, k] in rows of 4, from column 1
        let b: Vec<f32> = (0..n * k).map(|i| (i % 5) as f32).collect(); // [n, k], used transposed
        for adds in [false, true] {
            let mut c = vec![if adds { 1.0 } else { f32::NAN }; m * 9]; // [m, n] in rows of 9, from column 2
            let (left, right) = (Matrix { data: &a, offset: 1, strides: [4, 1] }, Matrix { data: &b, offset: 0, strides: [k, 1] });
            multiply([m, k, n], left, right.transposed(), adds, Target { data: &mut c, offset: 2, stride: 9 });
            for i in 0..m {
                for j in 0..n {
                    let plain: f32 = (0..k).map(|p| a[i * 4 + 1 + p] * b[j * k + p]).sum();
                    assert_eq!(c[i * 9 + 2 + j], plain + if adds { 1.0 } else { 0.0 });
                }
            }
        }
    }
}
