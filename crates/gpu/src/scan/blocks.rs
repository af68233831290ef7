//! How the gradient kernel of the recurrent scan shares a state out: slices of V, and in each a block per thread.

use super::{VEC4, WORKGROUP_BYTES};

/// Floats of the state that a thread holds at most, twice.
const BLOCK: usize = 64;

/// Columns of V that one backward dispatch takes, and the block of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// First column.
    pub(super) first: usize,
    /// Columns of a workgroup.
    pub(super) columns: usize,
    /// Keys of a thread's block.
    pub(super) keys: usize,
    /// Columns of a thread's block.
    pub(super) values: usize,
}

impl Slice {
    /// Threads of a workgroup.
    pub(super) fn threads(self, key: usize) -> usize {
        (key / self.keys) * (self.columns / self.values)
    }

    /// Floats on a thread's tape per step: its block of S' and its part of r.
    pub(super) fn tape(self) -> usize {
        (self.keys + 1) * self.values
    }

    /// Workgroup memory: column sums of two turns, and four row sums.
    fn bytes(self, key: usize) -> usize {
        let columns = 2 * (key / self.keys) * (self.columns / 4);
        let rows = 4 * (self.columns / self.values) * (key / 4);
        (columns + rows) * VEC4
    }
}

/// The fewest slices of V that fit a workgroup, each with the smallest blocks that do.
pub(super) fn slices(key: usize, value: usize) -> Vec<Slice> {
    let sizes = [4, 8, 16];
    let mut slices = Vec::new();
    let mut first = 0;
    while first < value {
        let widths = (4..=value - first).rev().step_by(4);
        let blocks = widths.flat_map(|columns| sizes.into_iter().flat_map(move |keys| sizes.map(|values| (columns, keys, values))));
        let candidates = blocks.map(|(columns, keys, values)| Slice { first, columns, keys, values }).filter(|slice| {
            let whole = key.is_multiple_of(slice.keys) && slice.columns.is_multiple_of(slice.values);
            whole && slice.keys * slice.values <= BLOCK && slice.threads(key) <= 256 && slice.bytes(key) <= WORKGROUP_BYTES
        });
        // Four columns and blocks of 4 x 4 always fit.
        let narrowest = Slice { first, columns: 4, keys: 4, values: 4 };
        let slice = candidates.max_by_key(|slice| (slice.columns, BLOCK - slice.keys * slice.values)).unwrap_or(narrowest);
        first += slice.columns;
        slices.push(slice);
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::slices;
    use crate::scan::WORKGROUP_BYTES;

    #[test]
    fn slices_cover_every_width_and_fit() {
        for key in (4..=128).step_by(4) {
            for value in (4..=128).step_by(4) {
                let slices = slices(key, value);
                assert_eq!(slices.iter().map(|slice| slice.columns).sum::<usize>(), value, "K {key}, V {value}");
                for slice in slices {
                    assert!(slice.threads(key) <= 256 && slice.bytes(key) <= WORKGROUP_BYTES, "K {key}, V {value}: {slice:?}");
                }
            }
        }
    }
}
