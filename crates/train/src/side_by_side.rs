//! The same work for several runs, on as many threads as there are.

/// `work` of every item, in order: natively shared out over the processor's threads, in a page one after the other.
pub(crate) fn side_by_side<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let threads = if cfg!(target_arch = "wasm32") { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) };
    let (work, each) = (&work, items.len().div_ceil(threads).max(1));
    if each >= items.len() {
        return items.iter().map(work).collect();
    }
    std::thread::scope(|scope| {
        let parts: Vec<_> = items.chunks(each).map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<U>>())).collect();
        // A panic of a part is one of the whole.
        let done = parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn order_is_kept_for_any_count() {
        for count in [0, 1, 2, 7, 100] {
            let items: Vec<u32> = (0..count).collect();
            assert_eq!(side_by_side(&items, |item| item * item), items.iter().map(|item| item * item).collect::<Vec<u32>>());
        }
    }
}
