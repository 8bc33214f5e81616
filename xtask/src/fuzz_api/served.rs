//! A server in a folder of its own with a sale that runs, and what it says of itself in the end.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::counted::{Counted, counted};

const JWT_SECRET: &str = "of-fuzz-api-0123456789abcdef-0123456789abcdef";
const ADMIN_TOKEN: &str = "admin-of-fuzz-api-0123456789abcdef-0123456789";
const READY_WITHIN: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// The process. Dropping it ends it and removes its folder.
pub(super) struct Served {
    child: Child,
    folder: PathBuf,
    user_token: String,
    pub(super) public: SocketAddr,
    pub(super) admin: SocketAddr,
}

impl Served {
    pub(super) fn start(program: &Path, tools: &Path) -> anyhow::Result<Self> {
        let folder = tools.join(format!("fuzz-api-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let [public, admin] = free_addresses()?;
        let mut command = Command::new(program);
        settings(&mut command)
            .arg("serve")
            .arg("--data-dir")
            .arg(folder.join("data"));
        command.args(["--listen", &public.to_string(), "--admin-listen", &admin.to_string()]);
        let log = File::create(folder.join("log"))?;
        let child = command
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let mut served = Self {
            child: child.spawn().context("could not start the server")?,
            folder,
            user_token: String::new(),
            public,
            admin,
        };
        served.prepare(program)?;
        Ok(served)
    }

    /// A sale, and an order of the user who will ask.
    fn prepare(&mut self, program: &Path) -> anyhow::Result<()> {
        let end = Instant::now() + READY_WITHIN;
        while ask(self.admin, "GET", "/readyz", "", "").map_or(0, |answer| answer.0) != 200 {
            anyhow::ensure!(Instant::now() < end, "the server is not ready in time");
            thread::sleep(PAUSE);
        }
        let output = settings(&mut Command::new(program))
            .args(["token", "--user", "fuzz"])
            .current_dir(&self.folder)
            .output()?;
        self.user_token = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let product = r#"{"name":"thing","price_cents":9900,"currency":"CNY","stock":100000}"#;
        let sale = r#"{"product_id":1,"title":"sale","seckill_price_cents":100,"stock":100,
            "starts_at":"2020-01-01T00:00:00Z","ends_at":"2099-01-01T00:00:00Z"}"#;
        let steps = [
            (self.admin, "/admin/api/products", product, ADMIN_TOKEN, 201),
            (self.admin, "/admin/api/activities", sale, ADMIN_TOKEN, 201),
            (self.admin, "/admin/api/activities/1/preheat", "{}", ADMIN_TOKEN, 200),
            (self.public, "/api/seckill/1", "{}", &self.user_token, 202),
        ];
        for (address, path, body, token, expected) in steps {
            let (status, said) = ask(address, "POST", path, token, body)?;
            anyhow::ensure!(status == expected, "{path}: {status} {said}");
        }
        Ok(())
    }

    pub(super) fn user_token(&self) -> &str {
        &self.user_token
    }

    #[expect(clippy::unused_self, reason = "the token of this server")]
    pub(super) const fn admin_token(&self) -> &'static str {
        ADMIN_TOKEN
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The document of a port.
    ///
    /// # Errors
    /// It has none.
    pub(super) fn document(&self, address: SocketAddr) -> anyhow::Result<String> {
        let (status, document) = ask(address, "GET", "/openapi.json", "", "").context("the server is gone")?;
        anyhow::ensure!(status == 200, "/openapi.json: {status} {document}");
        Ok(document)
    }

    /// What the server has answered so far, on both ports.
    ///
    /// # Errors
    /// It is gone.
    pub(super) fn counted(&self) -> anyhow::Result<Counted> {
        let (_, page) = ask(self.admin, "GET", "/metrics", "", "").context("the server is gone")?;
        Ok(counted(&page))
    }

    /// How many requests were answered.
    ///
    /// # Errors
    /// One of the answers is a bug, or the server is gone, or its books don't balance.
    pub(super) fn verdict(&self) -> anyhow::Result<u64> {
        let count = self.counted()?;
        anyhow::ensure!(
            count.bugs.is_empty(),
            "answers that are bugs:\n{}",
            count.bugs.join("\n")
        );
        let (status, audit) = ask(self.admin, "GET", "/admin/api/activities/1/audit", ADMIN_TOKEN, "")?;
        anyhow::ensure!(
            status == 200 && !audit.contains("\"balanced\":false"),
            "the books do not balance: {status} {audit}"
        );
        Ok(count.answers)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The tests' own settings and no others.
fn settings(command: &mut Command) -> &mut Command {
    let others = std::env::vars().filter(|(name, _)| name.starts_with("SECKILL_"));
    others.for_each(|(name, _)| _ = command.env_remove(name));
    for limit in ["IP", "USER", "DEVICE", "READ"] {
        command.env(format!("SECKILL_LIMITS__{limit}"), "off");
    }
    command
        .env("SECKILL_AUTH__JWT_SECRET", JWT_SECRET)
        .env("SECKILL_ADMIN__TOKEN", ADMIN_TOKEN)
}

fn free_addresses() -> anyhow::Result<[SocketAddr; 2]> {
    let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    // Both at a time, so that they differ.
    let (one, other) = (free()?, free()?);
    Ok([one.local_addr()?, other.local_addr()?])
}

/// Status and body of an answer.
fn ask(address: SocketAddr, method: &str, path: &str, token: &str, body: &str) -> anyhow::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(READY_WITHIN))?;
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    if !token.is_empty() {
        request.push_str(&format!("Authorization: Bearer {token}\r\n"));
    }
    if !body.is_empty() {
        request.push_str("Content-Type: application/json\r\n");
    }
    request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let said = String::from_utf8_lossy(&bytes);
    let (head, body) = said.split_once("\r\n\r\n").context("no whole answer")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.context("no status")?, body.to_owned()))
}
