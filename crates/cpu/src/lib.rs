//! Operations and their gradients on slices.
