//! What the settings do from outside: which source wins, what is refused and in which words, and what is shown.

mod identity;
mod shown;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use seckill_settings::{
    AfterEnd, AuthMode, DEFAULT_FILE, DatabaseUrl, Identity, JwtKey, OnCancel, Origin, RateLimit, Settings,
    SettingsFile, Sources, StoreUrl, schema,
};
use tempfile::TempDir;

const SECRET: &str = "held-by-the-shop-5f1c9a07d2e84b36";
const OTHER_SECRET: &str = "held-by-the-bank-77e01b9c4ad2f385";

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn environment(variables: &[(&str, &str)]) -> Sources {
    Sources {
        environment: pairs(variables),
        ..Sources::default()
    }
}

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("the folder can be written");
    path
}

fn with_file(path: &Path) -> Sources {
    Sources {
        file: SettingsFile::Required(path.to_owned()),
        ..Sources::default()
    }
}

/// The one sentence with which the text of a settings file is refused; the file's folder is left out.
fn refused_file(text: &str) -> String {
    let folder = TempDir::new().expect("a folder can be made");
    let path = file(&folder, "seckill.toml", text);
    let error = Settings::load(&with_file(&path))
        .expect_err("the file is refused")
        .to_string();
    error.replace(&folder.path().display().to_string(), "DIR")
}

fn refused(variables: &[(&str, &str)]) -> String {
    Settings::load(&environment(variables))
        .expect_err("the variables are refused")
        .to_string()
}

#[test]
fn defaults_are_those_of_the_contract() {
    let settings = Settings::load(&Sources::default()).unwrap();
    assert_eq!(settings.server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.admin.listen.to_string(), "127.0.0.1:8081");
    assert_eq!(settings.data_dir, PathBuf::from("./seckill-data"));
    assert_eq!(settings.store.url, StoreUrl::Embedded);
    assert_eq!(
        settings.database.url,
        DatabaseUrl::Sqlite(PathBuf::from("./seckill-data/seckill.db"))
    );
    assert!(settings.database.migrate_at_start);
    assert_eq!(settings.limits.ip.to_string(), "50/s burst 100");
    assert_eq!(settings.limits.user.to_string(), "1/s burst 3");
    assert_eq!(settings.limits.device.to_string(), "2/s burst 5");
    assert_eq!(settings.limits.read.to_string(), "20/s burst 60");
    assert_eq!(
        (settings.server.connections_per_ip, settings.server.connections_max),
        (1_000, 20_000)
    );
    assert_eq!(
        (
            settings.queue.backlog_max,
            settings.queue.attempts_max,
            settings.queue.workers
        ),
        (200_000, 5, 2)
    );
    assert_eq!(settings.orders.pay_within, Duration::from_secs(15 * 60));
    assert_eq!(settings.units.on_cancel, OnCancel::Product);
    assert_eq!(settings.dead_letters.after_end, AfterEnd::Keep);
    assert_eq!(settings.auth.mode, AuthMode::Jwt);
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
}

#[test]
fn later_source_wins_and_is_remembered() {
    let folder = TempDir::new().unwrap();
    let path = file(
        &folder,
        "seckill.toml",
        "[queue]\nworkers = 3\nattempts_max = 7\nbacklog_max = 9\n",
    );
    let mut sources = with_file(&path);
    sources.environment = pairs(&[
        ("SECKILL_QUEUE__WORKERS", "4"),
        ("SECKILL_QUEUE__ATTEMPTS_MAX", "8"),
        ("PATH", "/bin"),
    ]);
    sources.flags = pairs(&[("queue.workers", "5")]);
    let settings = Settings::load(&sources).unwrap();
    assert_eq!(
        (
            settings.queue.workers,
            settings.queue.attempts_max,
            settings.queue.backlog_max
        ),
        (5, 8, 9)
    );
    let origin = |key| settings.effective.origin(key).unwrap().clone();
    assert_eq!(origin("queue.workers"), Origin::Flag);
    assert_eq!(
        origin("queue.attempts_max"),
        Origin::Environment("SECKILL_QUEUE__ATTEMPTS_MAX".to_owned())
    );
    assert_eq!(origin("queue.backlog_max"), Origin::File(path));
    assert_eq!(origin("queue.batch_size_max"), Origin::Default);
}

#[test]
fn unknown_key_is_named_with_the_nearest_known_one() {
    assert_eq!(
        refused_file("[queue]\nworker = 3\n"),
        "unknown setting queue.worker (DIR/seckill.toml); did you mean queue.workers?"
    );
    assert_eq!(
        refused_file("listen = \"127.0.0.1:1\"\n"),
        "unknown setting listen (DIR/seckill.toml); did you mean admin.listen?"
    );
    assert_eq!(
        refused_file("[weather]\n"),
        "unknown setting weather (DIR/seckill.toml)"
    );
    assert_eq!(
        refused(&[("SECKILL_QUEUE__WORKER", "3")]),
        "unknown setting queue.worker (SECKILL_QUEUE__WORKER); did you mean SECKILL_QUEUE__WORKERS?"
    );
    assert!(
        refused(&[("SECKILL_queue__workers", "3")]).contains("unknown setting queue.workers (SECKILL_queue__workers)")
    );
    assert!(refused(&[("SECKILL_SKY__BLUE", "x")]).starts_with("unknown setting sky.blue (SECKILL_SKY__BLUE)"));
    let flags = Sources {
        flags: pairs(&[("server.lisen", "127.0.0.1:1")]),
        ..Sources::default()
    };
    let error = Settings::load(&flags).unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown setting server.lisen (flag); did you mean server.listen?"
    );
}

#[test]
fn wrong_value_is_named_with_source_and_what_is_expected() {
    assert_eq!(
        refused_file("[queue]\nworkers = \"two\"\n"),
        "queue.workers (DIR/seckill.toml) must be a whole number from 1 to 256, not \"two\""
    );
    assert_eq!(
        refused(&[("SECKILL_ORDERS__PAY_WITHIN", "15")]),
        "orders.pay_within (SECKILL_ORDERS__PAY_WITHIN) must be a duration from 1s to 30d, such as \"15m\" or \"500ms\", not \"15\""
    );
    assert_eq!(
        refused(&[("SECKILL_LIMITS__IP", "50")]),
        "limits.ip (SECKILL_LIMITS__IP) must be a rate such as \"50/s burst 100\" or \"30/min burst 5\", or \"off\", not \"50\""
    );
    assert!(refused(&[("SECKILL_AUTH__MODE", "both")]).contains("must be \"jwt\" or \"gateway\", not \"both\""));
    assert!(refused_file("server = 5\n").contains("unknown setting server"));
    assert!(refused_file("[server]\nlisten = { port = 80 }\n").contains("server.listen"));
    assert!(refused_file("[queue]\nworkers = 2\nworkers = 3\n").contains("line 3: duplicate key"));
}

#[test]
fn missing_settings_file_is_an_error_only_where_it_was_named() {
    let path = PathBuf::from("no/such/seckill.toml");
    assert!(
        Settings::load(&with_file(&path))
            .unwrap_err()
            .to_string()
            .starts_with("settings file no/such/seckill.toml can't be read")
    );
    let sources = Sources {
        file: SettingsFile::IfPresent(path),
        ..Sources::default()
    };
    assert!(Settings::load(&sources).is_ok());
}

#[test]
fn secret_is_read_from_a_file() {
    let folder = TempDir::new().unwrap();
    let secret_path = file(&folder, "jwt", &format!("{SECRET}\n"));
    let secret_path = secret_path.to_str().unwrap();
    let key = |sources: &Sources| Settings::load(sources).unwrap().auth.key;
    let expected = Some(JwtKey::Secret(seckill_settings::Secret::new(SECRET)));
    assert_eq!(
        key(&environment(&[("SECKILL_AUTH__JWT_SECRET_FILE", secret_path)])),
        expected
    );
    assert_eq!(
        key(&environment(&[
            ("SECKILL_AUTH__JWT_SECRET_FILE", secret_path),
            ("SECKILL_AUTH__JWT_SECRET", "")
        ])),
        expected
    );
    let path = file(
        &folder,
        "seckill.toml",
        &format!("[auth]\njwt_secret_file = {secret_path:?}\n"),
    );
    assert_eq!(key(&with_file(&path)), expected);

    let missing = refused(&[("SECKILL_ADMIN__TOKEN_FILE", "no/such/file")]);
    assert!(
        missing.starts_with("file of admin.token no/such/file can't be read"),
        "{missing}"
    );
    let empty = file(&folder, "empty", "\n");
    let empty = refused(&[("SECKILL_ADMIN__TOKEN_FILE", empty.to_str().unwrap())]);
    assert!(empty.ends_with("empty can't be read: it is empty"), "{empty}");
    let not_secret = refused(&[("SECKILL_QUEUE__WORKERS_FILE", secret_path)]);
    assert!(
        not_secret.contains("unknown setting queue.workers_file"),
        "{not_secret}"
    );
}

#[test]
fn secret_file_wins_over_the_value_beside_it_and_says_so() {
    let folder = TempDir::new().unwrap();
    let secret_path = file(&folder, "jwt", SECRET);
    let variables = [
        ("SECKILL_AUTH__JWT_SECRET_FILE", secret_path.to_str().unwrap()),
        ("SECKILL_AUTH__JWT_SECRET", OTHER_SECRET),
    ];
    let settings = Settings::load(&environment(&variables)).unwrap();
    assert_eq!(
        settings.auth.key,
        Some(JwtKey::Secret(seckill_settings::Secret::new(SECRET)))
    );
    assert!(
        settings.warnings[0].starts_with("auth.jwt_secret is set twice"),
        "{:?}",
        settings.warnings
    );
}

#[test]
fn guessable_secrets_are_refused_and_never_shown() {
    let check = |variable: &str, value: &str, part: &str| {
        let error = refused(&[(variable, value)]);
        assert!(
            error.contains(part) && error.contains("openssl rand -hex 32"),
            "{error}"
        );
        assert!(!error.contains(value), "{error}");
    };
    check(
        "SECKILL_AUTH__JWT_SECRET",
        "abracadabra",
        "auth.jwt_secret (SECKILL_AUTH__JWT_SECRET) is refused: it is shorter",
    );
    check("SECKILL_AUTH__JWT_SECRET", &"changeme".repeat(8), "repeats");
    check(
        "SECKILL_ADMIN__TOKEN",
        "please-change-this-admin-token-123456",
        "admin.token (SECKILL_ADMIN__TOKEN) is refused",
    );
    check(
        "SECKILL_PAYMENTS__WEBHOOK_SECRET",
        "whsec_MfKQ9r8GKYqrTwjU",
        "payments.webhook_secret",
    );
    let database = refused(&[("SECKILL_DATABASE__URL", "oracle://scott:tiger@host/db")]);
    assert!(
        database.contains("database.url") && !database.contains("tiger"),
        "{database}"
    );
}

#[test]
fn serve_without_secret_is_told_how_to_make_one() {
    let settings = Settings::load(&Sources::default()).unwrap();
    let error = settings.require_auth().unwrap_err().to_string();
    assert!(
        error.starts_with("auth.jwt_secret is not set: make one with `openssl rand -hex 32`"),
        "{error}"
    );
    assert!(error.contains("SECKILL_AUTH__JWT_SECRET"), "{error}");
    let settings = Settings::load(&environment(&[("SECKILL_AUTH__JWT_SECRET", SECRET)])).unwrap();
    assert!(matches!(settings.require_auth(), Ok(Identity::Jwt(JwtKey::Secret(secret))) if secret.reveal() == SECRET));
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    const PEM: &str = "-----BEGIN PUBLIC KEY-----\\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\\n-----END PUBLIC KEY-----";
    let both = refused(&[
        ("SECKILL_AUTH__JWT_SECRET", SECRET),
        ("SECKILL_AUTH__JWT_PUBLIC_KEY", PEM),
    ]);
    assert!(
        both.contains("auth.jwt_secret") && both.contains("auth.jwt_public_key"),
        "{both}"
    );
    let algorithm = refused(&[
        ("SECKILL_AUTH__JWT_PUBLIC_KEY", PEM),
        ("SECKILL_AUTH__JWT_ALGORITHM", "RS256"),
    ]);
    assert!(
        algorithm.contains("auth.jwt_algorithm (SECKILL_AUTH__JWT_ALGORITHM)"),
        "{algorithm}"
    );
    let gateway = refused(&[("SECKILL_AUTH__MODE", "gateway")]);
    assert!(gateway.contains("server.trusted_proxies"), "{gateway}");
    let ports = refused(&[("SECKILL_ADMIN__LISTEN", "127.0.0.1:8080")]);
    assert!(ports.contains("does not go with server.listen"), "{ports}");
    let waits = refused(&[
        ("SECKILL_QUEUE__RETRY_WAIT_FIRST", "1m"),
        ("SECKILL_QUEUE__RETRY_WAIT_MAX", "1s"),
    ]);
    assert!(waits.contains("queue.retry_wait_max"), "{waits}");
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let errors = Settings::check(&environment(&[
        ("SECKILL_QUEUE__WORKERS", "none"),
        ("SECKILL_QUEUE__WORKER", "2"),
        ("SECKILL_AUTH__JWT_SECRET", "secret"),
    ]))
    .unwrap_err();
    assert_eq!(errors.len(), 3, "{errors:?}");
}
