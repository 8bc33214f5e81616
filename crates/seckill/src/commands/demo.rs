//! `seckill demo`: everything in one process in a temporary folder, with a sample sale that opens in a moment.

mod introduction;
mod summary;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rand::RngExt;
use seckill_bench::canonical::{SaleConfig, SaleReport, run_on, wait_open};
use seckill_bench::target::Target;
use seckill_gate::{Expectations, Signer};
use seckill_sale::{Clock, SystemClock, UserId};
use seckill_settings::{Settings, Sources};
use serde_json::json;

use super::Context;
use super::bench::bar_with;
use super::remote::Remote;
use crate::cli::DemoArgs;
use crate::exit::{Failure, Outcome, chain};
use crate::logging::{self, print, say};
use crate::serve::{self, Roles, Running, Signals};
use introduction::Introduction;

/// When the sample sale opens.
const OPENS_IN_S: i64 = 15;
/// How long it lasts.
const LASTS_S: i64 = 3_600;
/// Units of the sample sale.
const UNITS: u64 = 300;
/// Over how long the crowd comes.
const CROWD_OVER: Duration = Duration::from_secs(10);
/// How long a token of the demo holds.
const TOKEN_TTL_MS: i64 = 12 * 3_600 * 1_000;

pub(super) fn run(context: &Context, args: &DemoArgs) -> Outcome {
    let folder = tempfile::Builder::new()
        .prefix("seckill-demo-")
        .tempdir()
        .map_err(Failure::failed)?;
    let secret: String = random_hex();
    let admin_token = random_hex();
    let settings = settings(args, folder.path(), &secret, &admin_token)?;
    logging::start(&settings.log)?;
    let mut signals = Signals::install()?;
    let running = serve::start(settings, Roles::ALL, &mut signals)?;
    let public = running.public_addr().expect("all roles have the public port");
    let admin = running.admin_addr();
    let activity = prepare(&Remote::at(admin, admin_token.clone()))?;
    let introduction = Introduction {
        public,
        admin,
        activity,
        token: token(&secret)?,
        admin_token,
    };
    match (context.json, args.crowd) {
        (false, _) => print(&introduction.text())?,
        (true, None) => print(&introduction.json().to_string())?,
        // The one document comes when the crowd is through.
        (true, Some(_)) => say(&introduction.text()),
    }
    if let Some(crowd) = args.crowd {
        let admin_token = &introduction.admin_token;
        let target = Target::running(&public.to_string(), &admin.to_string(), admin_token, secret.as_bytes());
        let target = target.map_err(|error| Failure::failed(chain(&error)))?;
        let sale = run_crowd(&target, activity, crowd)?;
        if context.json {
            let mut document = introduction.json();
            document["sale"] = serde_json::to_value(&sale).map_err(Failure::failed)?;
            print(&document.to_string())?;
        } else {
            print(&summary::lines(&sale).join("\n"))?;
        }
        if !sale.violations.is_empty() {
            return Err(Failure::violated(sale.violations.join("; ")));
        }
    }
    end(running, signals, args.exit)
}

fn end(running: Running, signals: Signals, at_once: bool) -> Outcome {
    if at_once {
        return running.stop();
    }
    say("serving until Ctrl-C");
    running.until_signal(signals)
}

/// Settings of the demo alone: neither files nor the environment are looked at.
fn settings(args: &DemoArgs, folder: &std::path::Path, secret: &str, admin_token: &str) -> Result<Settings, Failure> {
    let flags = [
        ("server.listen", args.listen.as_str()),
        ("admin.listen", &args.admin_listen),
        ("data_dir", &folder.to_string_lossy()),
        ("auth.jwt_secret", secret),
        ("admin.token", admin_token),
        ("limits.exempt", "127.0.0.0/8,::1/128"),
        ("log.format", "text"),
        ("log.level", "warn"),
    ];
    let flags = flags.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let settings = Settings::load(&Sources {
        flags,
        ..Sources::default()
    })?;
    for address in [settings.server.listen, settings.admin.listen] {
        if !address.ip().is_loopback() {
            return Err(Failure::usage(format!(
                "the demo listens on loopback only, not on {address}"
            )));
        }
    }
    Ok(settings)
}

/// A sample product and its sale.
fn prepare(remote: &Remote) -> Result<u64, Failure> {
    let product =
        json!({"name": "机械键盘 Mechanical keyboard", "price_cents": 59_900, "currency": "CNY", "stock": UNITS * 10});
    let product = remote.post("/admin/api/products", &product)?;
    let opens = Timestamp::now() + SignedDuration::from_secs(OPENS_IN_S);
    let activity = json!({
        "product_id": product["id"],
        "title": "新品首发 Launch sale",
        "seckill_price_cents": 9_900,
        "stock": UNITS,
        "starts_at": opens.to_string(),
        "ends_at": (opens + SignedDuration::from_secs(LASTS_S)).to_string(),
    });
    let activity = remote.post("/admin/api/activities", &activity)?;
    activity["id"]
        .as_u64()
        .ok_or_else(|| Failure::failed("the activity has no id"))
}

/// A token of a sample buyer: sign-in without a password.
fn token(secret: &str) -> Result<String, Failure> {
    let signer = Signer::hs256(secret.as_bytes(), &Expectations::default()).map_err(Failure::failed)?;
    let now = SystemClock.now();
    let user = UserId::new("demo-buyer").map_err(Failure::failed)?;
    signer.sign(&user, now, now.plus(TOKEN_TTL_MS)).map_err(Failure::failed)
}

fn run_crowd(target: &Target, activity: u64, users: usize) -> Result<SaleReport, Failure> {
    say(&format!("{users} buyers wait for the opening"));
    wait_open(target, activity, Duration::from_secs(60)).map_err(|error| Failure::failed(chain(&error)))?;
    // Without a rate: the crowd's pace is made up.
    let bar = bar_with(users as u64, "{wide_bar} {pos} of {len} buyers");
    let moved = bar.clone();
    let config = SaleConfig {
        units: UNITS,
        progress: Some(Arc::new(move |done, _| moved.set_position(done))),
        ..SaleConfig::crowd(users, CROWD_OVER)
    };
    let sale = run_on(target, activity, &config).map_err(|error| Failure::failed(chain(&error)))?;
    bar.finish_and_clear();
    Ok(sale)
}

fn random_hex() -> String {
    let mut rng = rand::rng();
    (0..4).map(|_| format!("{:016x}", rng.random::<u64>())).collect()
}
