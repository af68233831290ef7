//! One table of settings: controls, URL, command line, validation.
