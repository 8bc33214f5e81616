//! As many connections as the process may open files for. The soft limit is raised to the hard one without a word; only a hard one that
//! is too low for what was set is worth a warning.

use seckill_listener::raise_descriptor_limit;
use seckill_settings::{Origin, Settings};

use super::admin;
use crate::exit::{Failure, chain};

const KEY: &str = "server.connections_max";
/// Kept for the journal, the database, logs, and the operator's connections.
const KEPT: usize = 256 + admin::CONNECTIONS_MAX;

/// Fits `server.connections_max` to what the system allows.
///
/// # Errors
/// The system refuses to raise the soft limit.
pub(crate) fn fit(settings: &mut Settings) -> Result<(), Failure> {
    let open_max = raise_descriptor_limit().map_err(|error| Failure::failed(chain(&error)))?;
    let open_max = usize::try_from(open_max).unwrap_or(usize::MAX);
    let is_default = settings.effective.origin(KEY) == Some(&Origin::Default);
    let asked = settings.server.connections_max;
    settings.server.connections_max = fitted(asked, open_max);
    if let Some(warning) = warning(asked, is_default, open_max) {
        tracing::warn!("{warning}");
    }
    Ok(())
}

/// What there is to say of connections that were asked for and can't be had, long after they were fitted.
pub(crate) fn caution(settings: &Settings) -> Option<String> {
    let asked = settings.effective.to_json()[KEY]["value"].as_u64()?;
    let is_default = settings.effective.origin(KEY) == Some(&Origin::Default);
    let open_max = settings.server.connections_max.saturating_add(KEPT);
    warning(usize::try_from(asked).ok()?, is_default, open_max)
}

fn fitted(asked: usize, open_max: usize) -> usize {
    let kept = KEPT.min(open_max / 2);
    asked.min(open_max - kept)
}

/// What to do where connections that were asked for can't be had. The default is a ceiling rather than a wish: half of it will do.
fn warning(asked: usize, is_default: bool, open_max: usize) -> Option<String> {
    let fitted = fitted(asked, open_max);
    let enough = if is_default { asked / 2 } else { asked };
    let needed = asked.saturating_add(KEPT);
    (fitted < enough).then(|| {
        format!(
            "{KEY} is {asked}, which takes {needed} open files, but this process may have {open_max} at most: {fitted} connections are \
             served. Raise the hard limit to {needed} (`ulimit -Hn`, LimitNOFILE= of a systemd unit, --ulimit nofile= of a container), \
             or lower {KEY}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: usize, is_default: bool, open_max: usize, expect: (usize, bool)) {
        let said = warning(asked, is_default, open_max);
        assert_eq!(
            (fitted(asked, open_max), said.is_some()),
            expect,
            "{asked} {open_max} {said:?}"
        );
    }

    #[test]
    fn a_hard_limit_that_is_high_enough_is_no_matter_to_speak_of() {
        for is_default in [true, false] {
            check(20_000, is_default, usize::MAX, (20_000, false));
            check(20_000, is_default, 20_768, (20_000, false));
        }
    }

    #[test]
    fn connections_that_somebody_asked_for_and_cannot_have_are_a_warning() {
        check(20_000, false, 20_767, (19_999, true));
        check(20_000, false, 1_024, (512, true));
        let said = warning(20_000, false, 20_000).unwrap();
        assert!(said.contains("20768") && said.contains("LimitNOFILE"), "{said}");
    }

    #[test]
    fn the_default_is_fitted_without_a_word_until_half_of_it_is_gone() {
        check(20_000, true, 20_000, (19_232, false));
        check(20_000, true, 10_768, (10_000, false));
        check(20_000, true, 10_767, (9_999, true));
    }
}
