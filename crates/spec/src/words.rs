//! Settings that choose between words.

use crate::Choice;

/// Declares an enum whose cases are words in a link, with their names in the page. The first is the default.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$case_about:meta])* $case:ident = $word:literal, $label:literal;)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$case_about])* $case,)+
        }

        impl $name {
            /// All cases, the default first.
            pub const ALL: &[$name] = &[$($name::$case),+];

            /// The word in links.
            pub fn word(self) -> &'static str {
                match self { $($name::$case => $word,)+ }
            }

            /// The case of a word; the default for any other.
            pub(crate) fn of(word: &str) -> $name {
                $name::ALL.iter().copied().find(|case| case.word() == word).unwrap_or($name::ALL[0])
            }

            pub(crate) fn choices() -> Vec<Choice> {
                vec![$(Choice { word: $word, label: $label }),+]
            }
        }
    };
}

words! {
    /// The learning rate after warm-up.
    Schedule {
        /// Half a cosine down to a tenth.
        Cosine = "cosine", "Cosine";
        /// Flat, then down to a tenth over the last fifth.
        Wsd = "wsd", "Warm-up, stable, decay";
        /// Flat.
        Constant = "constant", "Constant";
    }
}

words! {
    /// How a log-decay is made from a projection.
    DecayForm {
        /// `g = -exp(A_log) softplus(x + bias)`: GDN, KDA, GDN-2.
        Exponential = "exp", "Exponential";
        /// `g = l (1 - exp(-A softplus(x + bias) / |l|))`, l = -5: EDA.
        Safe = "safe", "Bounded (safe gate)";
    }
}

words! {
    /// How scans run.
    Form {
        /// Chosen from the sizes and the device.
        Auto = "auto", "Automatic";
        /// Token by token.
        Recurrent = "recurrent", "Recurrent";
        /// In chunks.
        Chunked = "chunked", "Chunked";
    }
}

words! {
    /// What computes.
    Backend {
        /// The GPU where there is one, else the CPU.
        Auto = "auto", "Automatic";
        /// The GPU.
        Gpu = "gpu", "GPU";
        /// The CPU.
        Cpu = "cpu", "CPU";
    }
}

words! {
    /// Colours of the page.
    Theme {
        /// As the system says.
        System = "system", "System";
        /// Dark on light.
        Light = "light", "Light";
        /// Light on dark.
        Dark = "dark", "Dark";
    }
}
