//! Toy recall tasks: settings, examples, roles.
