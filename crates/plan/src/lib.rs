//! A training step as a recorded list of operations over named tensors.
