//! Addresses of servers that somebody else runs, as he writes them.

use std::net::SocketAddr;

use crate::{Error, Result};

/// The socket address behind `http://host:port`, with or without the scheme.
///
/// # Errors
/// [`Error::Usage`] for another scheme or an address that can't be resolved: the load client speaks plain HTTP/1.1 only.
pub fn address_of(url: &str) -> Result<SocketAddr> {
    use std::net::ToSocketAddrs as _;
    let wrong = |why: &str| Error::Usage(format!("target {url}: {why}"));
    let rest = match url.split_once("://") {
        Some(("http", rest)) => rest,
        Some(_) => return Err(wrong("only http:// can be put under load")),
        None => url,
    };
    let host = rest.trim_end_matches('/');
    let named = if host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok())
    {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let mut found = named.to_socket_addrs().map_err(|error| wrong(&error.to_string()))?;
    found.next().ok_or_else(|| wrong("no address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_with_and_without_scheme() {
        assert_eq!(
            address_of("http://127.0.0.1:8080/").unwrap(),
            "127.0.0.1:8080".parse().unwrap()
        );
        assert_eq!(address_of("127.0.0.1").unwrap().port(), 80);
        assert!(address_of("https://127.0.0.1:1").is_err());
    }
}
