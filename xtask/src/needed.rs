//! The programs that tests and counts call, and where they come from.

/// A program that has to be on the PATH.
pub(crate) struct Need {
    pub(crate) program: &'static str,
    /// Debian's package that has it.
    pub(crate) package: &'static str,
    /// For everybody else.
    pub(crate) elsewhere: &'static str,
}

/// What tests call.
pub(crate) const NEEDS: &[Need] = &[
    Need {
        program: "cc",
        package: "gcc libc6-dev",
        elsewhere: "a C compiler (SQLite is built from source)",
    },
    Need {
        program: "ab",
        package: "apache2-utils",
        elsewhere: "ApacheBench: httpd-tools on Fedora, apache-tools on Arch, part of macOS",
    },
    Need {
        program: "wrk",
        package: "wrk",
        elsewhere: "wrk, under that name in most package managers",
    },
    Need {
        program: "postgres",
        package: "postgresql",
        elsewhere: "the PostgreSQL server with psql",
    },
    Need {
        program: "mariadbd",
        package: "mariadb-server",
        elsewhere: "the MariaDB server with its client",
    },
    Need {
        program: "nginx",
        package: "nginx",
        elsewhere: "nginx, under that name in most package managers",
    },
    Need {
        program: "redis-server",
        package: "redis-server",
        elsewhere: "Redis 7.0 or newer: redis in most package managers",
    },
    Need {
        program: "openssl",
        package: "openssl",
        elsewhere: "OpenSSL's command, for certificates of encrypted servers",
    },
];

/// What counts instructions.
pub(crate) const VALGRIND: &[Need] = &[Need {
    program: "valgrind",
    package: "valgrind",
    elsewhere: "valgrind, under that name in most package managers; there is none for Apple silicon or Windows",
}];
