//! The process's limit of open descriptors.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Error;

/// Raises the soft limit of open descriptors to the hard one and returns what holds now
/// (`u64::MAX` where there is none). Calling it again changes nothing.
///
/// # Errors
/// [`Error::Descriptors`] where the system refuses.
pub fn raise_descriptor_limit() -> Result<u64, Error> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, raised).map_err(|errno| Error::Descriptors(io::Error::from(errno)))?;
    }
    Ok(limit.maximum.unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_limit_becomes_the_hard_one() {
        let raised = raise_descriptor_limit().expect("may raise up to the hard limit");
        let now = getrlimit(Resource::Nofile);
        assert_eq!(now.current, now.maximum);
        assert_eq!(raised, now.current.unwrap_or(u64::MAX));
    }
}
