//! `--prometheus ADDR`: a page of metrics for Prometheus, served while the command runs.

mod errors;
mod server;

use crate::output::{Stop, refused};
use diag::Diagnostic;
use std::net::SocketAddr;

pub(crate) use server::Page;

/// Parses the flag's address.
pub(crate) fn address(flag: Option<&str>) -> Result<Option<SocketAddr>, Stop> {
    let usage = |wrong: Box<Diagnostic>| {
        refused(wrong);
        Stop::AlreadyReported(2)
    };
    let parsed = flag.map(|text| text.parse().map_err(|_| usage(errors::address(text))));
    parsed.transpose()
}

/// Starts the server, if one is wanted. Returns its address, with the port that it got, and its page.
pub(crate) fn serve(address: Option<SocketAddr>) -> Result<Option<(SocketAddr, Page)>, Stop> {
    let Some(address) = address else {
        return Ok(None);
    };
    let page = Page::default();
    let bound = server::serve(address, &page)
        .map_err(|error| refused(errors::not_served(address, &error)))?;
    Ok(Some((bound, page)))
}
