//! What this processor can do at most in one thread: loops that do nothing but copy, or nothing but multiply and add.

use crate::Real;
use crate::wide::wide;

/// Independent numbers of [`multiply_add`]: as many as registers hold, since each product waits for the sum before it.
pub const CHAINS: usize = 96;

/// `x = x * a + b` over [`CHAINS`] numbers, `turns` times, in registers: `2 * CHAINS * turns` floating-point operations.
pub fn multiply_add(x: &mut [f32; CHAINS], a: f32, b: f32, turns: usize) {
    chains(x, a, b, turns);
}

/// `target = source`.
pub fn copy(source: &[f32], target: &mut [f32]) {
    target.copy_from_slice(source);
}

wide! {
    fn chains<F: Real>(x: &mut [F; CHAINS], a: F, b: F, turns: usize) {
        let mut own = *x;
        for _ in 0..turns {
            for number in &mut own {
                *number = *number * a + b;
            }
        }
        *x = own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_follow_the_recurrence() {
        let mut x = [1.0; CHAINS];
        multiply_add(&mut x, 0.5, 1.0, 3);
        assert!(x.iter().all(|&number| number == 1.875));
    }
}
