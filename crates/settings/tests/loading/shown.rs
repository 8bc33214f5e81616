//! What the settings warn of, and how they are shown.

use super::*;

#[test]
fn alerts_go_to_an_address_of_the_web_and_are_signed_with_a_good_secret_that_nobody_sees() {
    let refused = |variables: &[(&str, &str)]| {
        let error = Settings::load(&environment(variables)).unwrap_err();
        error.to_string()
    };
    for (name, value, words) in [
        ("SECKILL_ALERTS__WEBHOOK_URL", "ftp://a/hidden", "alerts.webhook_url"),
        (
            "SECKILL_ALERTS__WEBHOOK_SECRET",
            "whsec_hiddenhidden",
            "alerts.webhook_secret",
        ),
        ("SECKILL_ALERTS__DOWN_AFTER", "hidden", "alerts.down_after"),
    ] {
        let said = refused(&[(name, value)]);
        let is_shown = said.contains("hidden") && name != "SECKILL_ALERTS__DOWN_AFTER";
        assert!(said.contains(words) && !is_shown, "{said}");
    }
    let alerts = Settings::load(&Sources::default()).unwrap().alerts;
    assert_eq!((alerts.webhook_url, alerts.webhook_secret), (None, None));
    assert_eq!(
        (alerts.down_after, alerts.repeat_after),
        (Duration::from_secs(5), Duration::from_secs(900))
    );
}

#[test]
fn risky_but_legal_settings_warn() {
    let check = |variables: &[(&str, &str)], part: &str| {
        let warnings = Settings::load(&environment(variables)).unwrap().warnings;
        assert!(warnings.iter().any(|warning| warning.contains(part)), "{warnings:?}");
    };
    let public = ("SECKILL_SERVER__LISTEN", "0.0.0.0:8080");
    check(
        &[("SECKILL_ADMIN__LISTEN", "0.0.0.0:8081")],
        "admin.listen 0.0.0.0:8081",
    );
    check(&[public, ("SECKILL_LIMITS__USER", "off")], "limits.user is off");
    check(&[public, ("SECKILL_PAYMENTS__SANDBOX", "true")], "payments.sandbox");
    check(
        &[("SECKILL_SERVER__TRUSTED_PROXIES", "0.0.0.0/0")],
        "server.trusted_proxies",
    );
    check(
        &[("SECKILL_ALERTS__WEBHOOK_URL", "http://a:1/x")],
        "alerts.webhook_secret",
    );
    check(&[("SECKILL_SERVER__IDLE_TIMEOUT", "5s")], "server.idle_timeout");
    let gateway = [
        ("SECKILL_AUTH__MODE", "gateway"),
        ("SECKILL_SERVER__TRUSTED_PROXIES", "10.0.0.0/8,127.0.0.1"),
        ("SECKILL_AUTH__JWT_SECRET", SECRET),
    ];
    check(&gateway, "auth.mode");
}

#[cfg(unix)]
#[test]
fn settings_file_with_a_secret_that_everybody_can_read_warns() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "seckill.toml", &format!("[auth]\njwt_secret = \"{SECRET}\"\n"));
    let warnings = |mode| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        Settings::load(&with_file(&path)).unwrap().warnings
    };
    assert!(warnings(0o644)[0].contains("every user of this machine can read it"));
    assert!(warnings(0o600).is_empty());
}

#[test]
fn printed_settings_show_sources_and_mask_secrets() {
    let settings = Settings::load(&environment(&[
        ("SECKILL_AUTH__JWT_SECRET", SECRET),
        ("SECKILL_STORE__URL", "redis://:hunter2@host:6379"),
        ("SECKILL_SERVER__TRUSTED_PROXIES", "10.0.0.0/8"),
    ]))
    .unwrap();
    let (toml, json) = (settings.effective.to_toml(), settings.effective.to_json());
    for text in [toml.clone(), json.to_string(), format!("{settings:?}")] {
        assert!(!text.contains(SECRET) && !text.contains("hunter2"), "{text}");
    }
    for line in [
        "jwt_secret = \"********\" # SECKILL_AUTH__JWT_SECRET\n",
        "url = \"redis://***@host:6379\" # SECKILL_STORE__URL\n",
        "trusted_proxies = [\"10.0.0.0/8\"] # SECKILL_SERVER__TRUSTED_PROXIES\n",
        "pay_within = \"15m\" # default\n",
    ] {
        assert!(toml.contains(line), "{line}{toml}");
    }
    assert_eq!(
        json["queue.workers"],
        serde_json::json!({ "value": 2, "source": "default" })
    );
}

#[test]
fn default_file_and_printed_defaults_are_the_defaults() {
    let folder = TempDir::new().unwrap();
    let defaults = Settings::load(&Sources::default()).unwrap();
    for text in [DEFAULT_FILE, &defaults.effective.to_toml()] {
        let loaded = Settings::load(&with_file(&file(&folder, "seckill.toml", text))).unwrap();
        let values = |settings: &Settings| {
            let json = settings.effective.to_json();
            json.as_object()
                .unwrap()
                .iter()
                .map(|(key, entry)| (key.clone(), entry["value"].clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(values(&loaded), values(&defaults));
    }
}

#[test]
fn file_and_environment_write_the_same_things() {
    let folder = TempDir::new().unwrap();
    let text = "[limits]\nread = \"off\"\nexempt = [\"127.0.0.0/8\", \"::1\"]\n[dead_letters]\nafter_end = \"discard after 24h\"\n";
    let path = file(&folder, "seckill.toml", text);
    let variables = [
        ("SECKILL_LIMITS__READ", "off"),
        ("SECKILL_LIMITS__EXEMPT", "127.0.0.0/8, ::1"),
        ("SECKILL_DEAD_LETTERS__AFTER_END", "discard after 24h"),
    ];
    for sources in [with_file(&path), environment(&variables)] {
        let settings = Settings::load(&sources).unwrap();
        assert_eq!(settings.limits.read, RateLimit::Off);
        assert_eq!(
            settings.limits.exempt,
            vec!["127.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()]
        );
        assert_eq!(
            settings.dead_letters.after_end,
            AfterEnd::DiscardAfter(Duration::from_secs(86_400))
        );
    }
}

#[test]
fn variables_of_a_container_orchestrator_are_passed_over() {
    let settings = Settings::load(&environment(&[
        ("SECKILL_SERVICE_HOST", "10.0.0.1"),
        ("SECKILL_PORT", "tcp://10.0.0.1:80"),
    ]));
    assert!(settings.is_ok());
}

#[test]
fn schema_is_closed_so_that_editors_find_misspelt_keys() {
    assert_eq!(schema()["additionalProperties"], false);
    assert_eq!(schema()["properties"]["data_dir"]["default"], "./seckill-data");
}

#[test]
fn settings_file_may_begin_with_a_byte_order_mark() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "seckill.toml", "\u{feff}[queue]\nworkers = 3\n");
    assert_eq!(Settings::load(&with_file(&path)).unwrap().queue.workers, 3);
    let error = refused_file("\u{feff}[queue]\n# 秒杀秒杀\nworkers = 秒\n");
    assert!(error.contains("line 3"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn file_without_end_is_refused() {
    let error = refused(&[("SECKILL_AUTH__JWT_SECRET_FILE", "/dev/zero")]);
    assert!(error.contains("it is larger than 1048576 bytes"), "{error}");
}

#[test]
fn tables_are_brought_up_to_date_where_it_was_asked_for() {
    let check = |url: &str, migrate: &str, at_start: bool| {
        let variables = [("SECKILL_DATABASE__URL", url), ("SECKILL_DATABASE__MIGRATE", migrate)];
        let settings = Settings::load(&environment(&variables)).unwrap();
        assert_eq!(settings.database.migrate_at_start, at_start, "{url} {migrate}");
    };
    check("sqlite", "sqlite", true);
    check("sqlite", "never", false);
    check("mysql://host/shop", "sqlite", false);
    check("mysql://host/shop", "auto", true);
}
