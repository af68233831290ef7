//! Rows in blocks of columns of fixed width, so that running sums stay in registers.

use crate::Real;

/// Does something for blocks of columns `0..v`, widest first: `first` is where a block begins, `L`, a constant, how wide it is.
macro_rules! by_columns {
    ($v:expr, |$first:ident, $lanes:ident| $call:expr) => {
        let mut $first = 0;
        while $first < $v {
            $first += match $v - $first {
                32.. => {
                    const $lanes: usize = 32;
                    $call;
                    $lanes
                }
                16.. => {
                    const $lanes: usize = 16;
                    $call;
                    $lanes
                }
                8.. => {
                    const $lanes: usize = 8;
                    $call;
                    $lanes
                }
                4.. => {
                    const $lanes: usize = 4;
                    $call;
                    $lanes
                }
                _ => {
                    const $lanes: usize = 1;
                    $call;
                    $lanes
                }
            };
        }
    };
}

pub(crate) use by_columns;

/// `L` numbers from `at` on.
#[inline(always)]
pub(crate) fn load<F: Real, const L: usize>(x: &[F], at: usize) -> [F; L] {
    let x = &x[at..][..L];
    std::array::from_fn(|lane| x[lane])
}

/// Writes `L` numbers from `at` on.
#[inline(always)]
pub(crate) fn store<F: Real, const L: usize>(x: &mut [F], at: usize, lanes: [F; L]) {
    x[at..][..L].copy_from_slice(&lanes);
}
