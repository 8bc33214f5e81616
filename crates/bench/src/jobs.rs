//! The requests of a run, written out before it starts: one arena of bytes, so that sending costs a slice and no allocation.

use std::net::SocketAddr;

use crate::token::{Signer, UserIds};

/// What one request says.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `GET` or `POST`.
    pub method: &'a str,
    /// The path, beginning with `/`.
    pub path: &'a str,
    /// The bearer token, where the route wants one.
    pub token: Option<&'a str>,
    /// A JSON body, or nothing.
    pub body: &'a str,
}

/// Ready-made requests, each with the user who sends it.
#[derive(Debug, Default)]
pub struct Jobs {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    users: Vec<String>,
}

impl Jobs {
    /// Room for `count` requests; they come by [`Jobs::push`].
    pub fn with_capacity(count: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(count * 320),
            ends: Vec::with_capacity(count),
            users: Vec::with_capacity(count),
        }
    }

    /// One purchase each by `count` new users: what a sale consists of.
    pub fn purchases(target: SocketAddr, activity_id: u64, count: usize, signer: &Signer, users: &mut UserIds) -> Self {
        let path = format!("/api/seckill/{activity_id}");
        Self::posts(target, &path, count, signer, users)
    }

    /// Adds a purchase by this user.
    pub fn purchase(&mut self, target: SocketAddr, activity_id: u64, user: &str, signer: &Signer) {
        let token = signer.token(user);
        let request = Request {
            method: "POST",
            path: &format!("/api/seckill/{activity_id}"),
            token: Some(&token),
            body: "",
        };
        self.push(target, user.to_owned(), request);
    }

    /// Adds a request that is written out already, with headers of its own.
    pub fn push_bytes(&mut self, user: String, request: &[u8]) {
        self.bytes.extend_from_slice(request);
        self.ends.push(self.bytes.len());
        self.users.push(user);
    }

    /// One `POST` without a body to `path` by each of `count` new users.
    pub fn posts(target: SocketAddr, path: &str, count: usize, signer: &Signer, users: &mut UserIds) -> Self {
        let mut jobs = Self::with_capacity(count);
        for user in users.take(count) {
            let token = signer.token(&user);
            jobs.push(
                target,
                user,
                Request {
                    method: "POST",
                    path,
                    token: Some(&token),
                    body: "",
                },
            );
        }
        jobs
    }

    /// One `GET` of `path`, by nobody: to be repeated.
    pub fn page(target: SocketAddr, path: &str) -> Self {
        let mut jobs = Self::with_capacity(1);
        jobs.push(
            target,
            String::new(),
            Request {
                method: "GET",
                path,
                token: None,
                body: "",
            },
        );
        jobs
    }

    /// Adds a request.
    pub fn push(&mut self, target: SocketAddr, user: String, request: Request<'_>) {
        let Request {
            method,
            path,
            token,
            body,
        } = request;
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(token) = token {
            head.push_str("Authorization: Bearer ");
            head.push_str(token);
            head.push_str("\r\n");
        }
        if !body.is_empty() {
            head.push_str("Content-Type: application/json\r\n");
        }
        if method != "GET" {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(body.as_bytes());
        self.ends.push(self.bytes.len());
        self.users.push(user);
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of request `index`.
    pub fn request(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// Who sends request `index`.
    pub fn user(&self, index: usize) -> &str {
        &self.users[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_whole_and_apart() {
        let target = "127.0.0.1:80".parse().unwrap();
        let mut jobs = Jobs::with_capacity(2);
        jobs.push(
            target,
            "a".into(),
            Request {
                method: "POST",
                path: "/b",
                token: Some("t"),
                body: "{}",
            },
        );
        jobs.push(
            target,
            "b".into(),
            Request {
                method: "GET",
                path: "/g",
                token: None,
                body: "",
            },
        );
        let first = "POST /b HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(std::str::from_utf8(jobs.request(0)).unwrap(), first);
        assert_eq!(jobs.request(1), b"GET /g HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n");
        assert_eq!((jobs.user(1), jobs.len()), ("b", 2));
    }
}
