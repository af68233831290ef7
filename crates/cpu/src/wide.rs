//! Functions compiled for wider vectors where the processor has them.

/// Defines functions twice, for the plain target and for AVX2, and chooses when they are called.
///
/// Sums keep their order and nothing is fused, so both give the same bits. The functions stay functions: inlined into a large
/// caller, their slices could overlap for all the compiler knows, and loops would not become SIMD.
macro_rules! wide {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident<F: Real>($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        #[inline]
        $vis fn $name<F: Real>($($arg: $type),*) {
            #[inline(always)]
            fn body<F: Real>($($arg: $type),*) $body
            #[inline(never)]
            fn plain<F: Real>($($arg: $type),*) {
                body($($arg),*);
            }
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                #[inline(never)]
                #[target_feature(enable = "avx2")]
                fn avx2<F: Real>($($arg: $type),*) {
                    body($($arg),*);
                }
                // SAFETY: this processor has the feature.
                #[allow(unsafe_code, reason = "calls code compiled for wider vectors")]
                return unsafe { avx2($($arg),*) };
            }
            plain($($arg),*);
        }
    )*};
}

pub(crate) use wide;
