//! Scans: packed steps over the state, forward and backward.
