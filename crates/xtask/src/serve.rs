//! `cargo xtask serve`.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use clap::Args;

use crate::error::{Error, Result};
use crate::setup::web;
use crate::shell::{self, Shell};
use crate::site;

#[derive(Args)]
pub(crate) struct Serve {
    /// Port to serve on
    #[arg(long, default_value_t = 8080, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Open the page in the browser once it is built
    #[arg(long)]
    open: bool,
}

impl Serve {
    pub(crate) fn run(&self, shell: &Shell) -> Result<()> {
        // Asked first: nobody should wait for a build to learn it.
        free(self.port)?;
        web::prepare(shell)?;
        println!("building the page (some minutes the first time, seconds after a small change); Ctrl-C stops");
        let port = self.port.to_string();
        let mut arguments = vec!["serve", "--release", "--address", "127.0.0.1", "--port", &port];
        if self.open {
            arguments.push("--open");
        }
        announce(self.port);
        shell::run(&mut site::trunk(shell, &arguments))
    }
}

fn free(port: u16) -> Result<()> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::Needed(format!("cannot serve on port {port}: {error}; choose another with --port"))),
    }
}

/// Prints the address as soon as something answers there.
fn announce(port: u16) {
    std::thread::spawn(move || {
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            std::thread::sleep(Duration::from_millis(200));
        }
        println!("Palimpsest is at http://127.0.0.1:{port}/");
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_port_is_told_in_one_line() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let error = free(port).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let message = error.to_string();
        assert!(message.starts_with(&format!("cannot serve on port {port}: ")) && message.lines().count() == 1, "{message}");
        drop(listener);
        assert!(free(port).is_ok());
    }
}
