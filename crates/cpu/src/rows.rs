//! Rows of a matrix, or of some of its columns, without copying.

use crate::Real;

/// Columns of a matrix to read: row `n` is `data[n * stride + offset..][..width]`.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a, F> {
    pub(crate) data: &'a [F],
    pub(crate) offset: usize,
    pub(crate) width: usize,
    pub(crate) stride: usize,
}

impl<'a, F: Real> Rows<'a, F> {
    #[inline(always)]
    pub(crate) fn row(&self, n: usize) -> &'a [F] {
        &self.data[n * self.stride + self.offset..][..self.width]
    }

    pub(crate) fn count(&self) -> usize {
        self.data.len() / self.stride
    }
}

/// A gradient to set (`adds` false) or add to, at the same columns as its operand.
pub(crate) struct Gradient<'a, F> {
    pub(crate) data: &'a mut [F],
    pub(crate) offset: usize,
    pub(crate) width: usize,
    pub(crate) stride: usize,
    pub(crate) adds: bool,
}

impl<F: Real> Gradient<'_, F> {
    #[inline(always)]
    pub(crate) fn row(&mut self, n: usize) -> &mut [F] {
        &mut self.data[n * self.stride + self.offset..][..self.width]
    }

    /// All numbers, zeroed first unless added to: for gradients that are summed over rows. Only of whole tensors.
    pub(crate) fn accumulator(&mut self) -> &mut [F] {
        if !self.adds {
            self.data.fill(F::zero());
        }
        self.data
    }
}

/// Sets or adds one number. It is read either way: a load under a condition keeps loops from becoming SIMD where masks are missing.
#[inline(always)]
pub(crate) fn put<F: Real>(slot: &mut F, value: F, adds: bool) {
    let sum = *slot + value;
    *slot = if adds { sum } else { value };
}
