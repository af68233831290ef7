//! Update rules as equations: text to typed graph to value, gradient and WGSL.
