//! Commands and events between page and worker.
