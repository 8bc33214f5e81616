//! `seckill token`: user tokens for curl, ab and wrk, signed with the configured secret.

use std::fs::{OpenOptions, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rand::RngExt;
use seckill_gate::Signer;
use seckill_sale::{Clock, EpochMs, SystemClock, UserId};
use seckill_settings::{JwtKey, Settings, parse_duration};
use serde_json::json;

use super::Context;
use crate::cli::TokenArgs;
use crate::exit::{Failure, Outcome};
use crate::logging;
use crate::serve::access::expectations;

/// Signs tokens that all expire at the same moment.
struct Minting {
    signer: Signer,
    now: EpochMs,
    expires_at: EpochMs,
}

pub(super) fn run(context: &Context, args: &TokenArgs) -> Outcome {
    let settings = context.settings(Vec::new())?;
    let ttl = parse_duration(&args.ttl)
        .filter(|ttl| !ttl.is_zero())
        .ok_or_else(|| Failure::usage(format!("--ttl: {:?} is no duration, such as 1h", args.ttl)))?;
    let now = SystemClock.now();
    let ttl_ms = i64::try_from(ttl.as_millis()).map_err(|_| Failure::usage("--ttl: too long"))?;
    let minting = Minting {
        signer: signer(&settings)?,
        now,
        expires_at: now.plus(ttl_ms),
    };
    match (&args.user, args.users, &args.out) {
        (Some(user), ..) => {
            let token =
                minting.token(&UserId::new(user).map_err(|error| Failure::usage(format!("--user: {error}")))?)?;
            logging::print(&if context.json {
                json!({"user": user, "token": token}).to_string()
            } else {
                token
            })
        }
        (None, Some(users), Some(out)) => {
            minting
                .write(users, out)
                .map_err(|error| Failure::failed(format!("{}: {error}", out.display())))?;
            logging::print(&if context.json {
                json!({"users": users, "out": out}).to_string()
            } else {
                format!(
                    "{users} tokens, one a line, written to {} (readable by you alone), good for {}",
                    out.display(),
                    args.ttl
                )
            })
        }
        _ => Err(Failure::usage("give --user, or --users with --out")),
    }
}

fn signer(settings: &Settings) -> Result<Signer, Failure> {
    let Some(JwtKey::Secret(secret)) = &settings.auth.key else {
        return Err(Failure::usage(
            "auth.jwt_secret is not set: tokens can be made only with the secret that they are checked with (SECKILL_AUTH__JWT_SECRET)",
        ));
    };
    Signer::hs256(secret.reveal().as_bytes(), &expectations(settings))
        .map_err(|error| Failure::usage(format!("auth.jwt_secret: {error}")))
}

impl Minting {
    fn token(&self, user: &UserId) -> Result<String, Failure> {
        self.signer
            .sign(user, self.now, self.expires_at)
            .map_err(Failure::failed)
    }

    /// Random scattered ids, so that nothing is measured on a row of neighbours.
    fn write(&self, users: usize, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(out)?;
        // A regular file that was there keeps its own mode otherwise; what is no file (/dev/stdout) has none to set.
        if file.metadata()?.is_file() {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        let mut file = BufWriter::new(file);
        let mut rng = rand::rng();
        for _ in 0..users {
            let user = UserId::new(&format!("u{:016x}", rng.random::<u64>()))?;
            let token = self.token(&user).map_err(|failure| failure.to_string())?;
            writeln!(file, "{token}")?;
        }
        Ok(file.flush()?)
    }
}
