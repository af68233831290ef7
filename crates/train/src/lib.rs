//! Model, trainer, evaluation, statistics.
