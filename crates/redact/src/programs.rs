//! Programs that take secrets in ways of their own.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::names::{holds_secret, is_path};

/// The part of a value that is the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Behind the first of these signs: `user:password`. Without the sign there is no secret.
    Behind(char),
    /// Behind the first colon, or all of it.
    Login,
    /// Between `/` and `@`: `scott/tiger@db`.
    Oracle,
    /// `pass:X` of openssl.
    Prefixed,
    /// Cookies, unless it is the path of a file.
    Cookies,
}

/// An option of a program.
#[derive(Debug)]
pub struct Flag {
    /// The option, with its dashes.
    pub name: &'static str,
    /// Its secret.
    pub part: Part,
    /// Whether the value may follow the name without a blank.
    pub joined: bool,
    /// Whether the value may be the next word.
    pub separate: bool,
}

/// A word of a program that is the secret, by its place behind other words.
#[derive(Debug)]
pub struct Operand {
    /// Words that must come before, in this order. A longer word counts if a dot follows: `http-basic.host`.
    pub behind: &'static [&'static str],
    /// Words without a dash to skip then.
    pub skip: usize,
    /// Whether all words from there on are secrets.
    pub all: bool,
    /// The secret in it.
    pub part: Part,
}

/// What is known of a program.
#[derive(Debug)]
pub struct Program {
    /// Its names.
    pub names: &'static [&'static str],
    /// A word that must be among its arguments for its options to count.
    pub when: &'static [&'static str],
    /// Its options.
    pub flags: &'static [Flag],
    /// Its operands.
    pub operands: &'static [Operand],
    /// Whether a word that is the name of a secret has the secret behind it: `password X`.
    pub named: bool,
    /// Words of which one makes it read a secret from standard input.
    pub sinks: &'static [&'static str],
}

const NONE: Program = Program { names: &[], when: &[], flags: &[], operands: &[], named: false, sinks: &[] };

/// `-p X`, `-pX`
const fn either(name: &'static str) -> Flag {
    Flag { name, part: Part::Whole, joined: true, separate: true }
}

/// `-pX`
const fn joined(name: &'static str) -> Flag {
    Flag { name, part: Part::Whole, joined: true, separate: false }
}

/// `-p X`
const fn next(name: &'static str) -> Flag {
    Flag { name, part: Part::Whole, joined: false, separate: true }
}

/// `-u name:X`
const fn behind(name: &'static str, sign: char) -> Flag {
    Flag { name, part: Part::Behind(sign), joined: true, separate: true }
}

const fn of(name: &'static str, part: Part) -> Flag {
    Flag { name, part, joined: false, separate: true }
}

const fn operand(behind: &'static [&'static str], skip: usize) -> Operand {
    Operand { behind, skip, all: false, part: Part::Whole }
}

const fn pairs(behind: &'static [&'static str], skip: usize) -> Operand {
    Operand { behind, skip, all: true, part: Part::Behind('=') }
}

/// The programs. Options that name their secret (`--password`) need no entry.
static PROGRAMS: &[Program] = &[
    Program {
        names: &[
            "mysql",
            "mysqladmin",
            "mysqldump",
            "mysqlimport",
            "mysqlshow",
            "mysqlcheck",
            "mysqlpump",
            "mysqlsh",
            "mysqlslap",
            "mysqlbinlog",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "mariadb-check",
            "mariadb-import",
            "mycli",
        ],
        flags: &[joined("-p")],
        ..NONE
    },
    Program {
        names: &[
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport",
            "mongostat",
            "mongotop",
            "mongofiles",
            "cqlsh",
            "rdesktop",
            "pgcli",
            "useradd",
            "usermod",
            "twine",
            "cypher-shell",
        ],
        flags: &[either("-p")],
        ..NONE
    },
    Program {
        names: &["redis-cli", "valkey-cli", "keydb-cli"],
        flags: &[next("-a")],
        named: true,
        operands: &[operand(&["auth"], 0), operand(&["AUTH"], 0), operand(&["AUTH", "default"], 0)],
        ..NONE
    },
    Program { names: &["sshpass"], flags: &[either("-p")], ..NONE },
    Program {
        names: &["docker", "podman", "nerdctl", "buildah", "helm", "crane", "oras", "oc", "az", "argocd"],
        when: &["login"],
        flags: &[either("-p")],
        sinks: &["--password-stdin"],
        ..NONE
    },
    Program {
        names: &["skopeo"],
        flags: &[behind("--creds", ':'), behind("--src-creds", ':'), behind("--dest-creds", ':'), either("-p")],
        sinks: &["--password-stdin"],
        ..NONE
    },
    Program {
        names: &["curl", "curlie"],
        flags: &[
            behind("-u", ':'),
            behind("--user", ':'),
            behind("-U", ':'),
            behind("--proxy-user", ':'),
            behind("--cert", ':'),
            behind("-E", ':'),
            of("-b", Part::Cookies),
            of("--cookie", Part::Cookies),
        ],
        ..NONE
    },
    Program {
        names: &["http", "https", "httpie", "xh", "xhs"],
        flags: &[of("-a", Part::Login), of("--auth", Part::Login)],
        ..NONE
    },
    Program { names: &["ab"], flags: &[behind("-A", ':'), behind("-P", ':'), of("-C", Part::Cookies)], ..NONE },
    Program { names: &["lftp", "ncftp", "ncftpput", "ncftpget"], flags: &[behind("-u", ',')], ..NONE },
    Program {
        names: &["smbclient", "rpcclient", "smbmap", "winexe", "wmic", "net", "smbget"],
        flags: &[behind("-U", '%'), behind("--user", '%')],
        ..NONE
    },
    Program {
        names: &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami", "ldapcompare"],
        flags: &[either("-w")],
        ..NONE
    },
    Program { names: &["ldappasswd"], flags: &[next("-s"), next("-a")], ..NONE },
    Program { names: &["sqlcmd", "bcp", "isql", "tsql", "osql", "ipmitool"], flags: &[either("-P")], ..NONE },
    Program {
        names: &["sqlplus", "rman", "exp", "imp", "expdp", "impdp", "sqlldr"],
        operands: &[Operand { behind: &[], skip: 0, all: true, part: Part::Oracle }],
        ..NONE
    },
    Program { names: &["mosquitto_pub", "mosquitto_sub", "mosquitto_rr"], flags: &[either("-P")], ..NONE },
    Program { names: &["zip", "zipcloak", "unzip"], flags: &[either("-P")], ..NONE },
    Program { names: &["7z", "7za", "7zr", "7zz", "rar", "unrar"], flags: &[joined("-p"), joined("-hp")], ..NONE },
    Program {
        names: &["openssl"],
        flags: &[
            of("-passin", Part::Prefixed),
            of("-passout", Part::Prefixed),
            of("-pass", Part::Prefixed),
            of("-password", Part::Prefixed),
            of("-passwd", Part::Prefixed),
            next("-k"),
            next("-K"),
            next("-hmac"),
        ],
        ..NONE
    },
    Program {
        names: &["apksigner", "keytool", "jarsigner"],
        flags: &[of("--ks-pass", Part::Prefixed), of("--key-pass", Part::Prefixed)],
        ..NONE
    },
    Program {
        names: &["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk", "snmptable"],
        flags: &[next("-A"), next("-X"), next("-c")],
        ..NONE
    },
    Program {
        names: &["xfreerdp", "xfreerdp3", "wlfreerdp", "sdl-freerdp"],
        flags: &[joined("/p:"), joined("/pth:")],
        ..NONE
    },
    Program {
        names: &["htpasswd"],
        when: &["-b", "-nb", "-bn", "-cb", "-bc", "-nbB", "-bnBC", "-Bb", "-bB", "-cbB", "-bcB", "-nbm"],
        operands: &[
            operand(&["-nb"], 1),
            operand(&["-bn"], 1),
            operand(&["-nbB"], 1),
            operand(&["-nbm"], 1),
            operand(&["-b"], 2),
            operand(&["-cb"], 2),
            operand(&["-bc"], 2),
            operand(&["-Bb"], 2),
            operand(&["-bB"], 2),
            operand(&["-cbB"], 2),
            operand(&["-bcB"], 2),
        ],
        ..NONE
    },
    Program {
        names: &["vault", "bao"],
        operands: &[
            operand(&["login"], 0),
            operand(&["unseal"], 0),
            operand(&["token", "lookup"], 0),
            operand(&["token", "renew"], 0),
            operand(&["token", "revoke"], 0),
            pairs(&["kv", "put"], 1),
            pairs(&["kv", "patch"], 1),
            pairs(&["write"], 1),
        ],
        sinks: &["login"],
        ..NONE
    },
    Program {
        names: &["kubectl", "oc", "k3s", "microk8s"],
        flags: &[Flag { name: "--from-literal", part: Part::Behind('='), joined: false, separate: true }],
        sinks: &["secret"],
        ..NONE
    },
    Program { names: &["aws"], flags: &[next("--secret-string"), next("--secret-binary")], ..NONE },
    Program { names: &["aws"], when: &["configure"], named: true, ..NONE },
    Program { names: &["aws"], when: &["put-parameter"], flags: &[next("--value")], ..NONE },
    Program { names: &["az"], when: &["secret"], flags: &[next("--value")], ..NONE },
    Program {
        names: &["gh"],
        when: &["secret"],
        flags: &[either("-b"), next("--body")],
        sinks: &["--with-token", "secret"],
        ..NONE
    },
    Program { names: &["glab"], flags: &[next("-t")], when: &["login"], sinks: &["--stdin"], ..NONE },
    Program { names: &["npm", "yarn", "pnpm", "git", "wp"], when: &["config"], named: true, ..NONE },
    Program { names: &["nmcli", "rclone", "set", "setenv"], named: true, ..NONE },
    Program { names: &["rclone"], operands: &[operand(&["obscure"], 0)], ..NONE },
    Program {
        names: &["poetry"],
        operands: &[operand(&["config", "pypi-token"], 0), operand(&["config", "http-basic"], 1)],
        flags: &[next("-p")],
        ..NONE
    },
    Program {
        names: &["composer"],
        operands: &[
            operand(&["config", "http-basic"], 1),
            operand(&["config", "github-oauth"], 0),
            operand(&["config", "gitlab-token"], 0),
            operand(&["config", "bearer"], 0),
        ],
        ..NONE
    },
    Program {
        names: &["bundle", "bundler"],
        operands: &[Operand { behind: &["config"], skip: 1, all: true, part: Part::Behind(':') }],
        ..NONE
    },
    Program { names: &["cargo"], operands: &[operand(&["login"], 0)], sinks: &["login"], ..NONE },
    Program { names: &["fly", "flyctl"], operands: &[pairs(&["secrets", "set"], 0)], sinks: &["import"], ..NONE },
    Program { names: &["wrangler"], sinks: &["secret"], ..NONE },
    Program { names: &["vercel"], flags: &[next("-t")], sinks: &["env"], ..NONE },
    Program { names: &["doctl"], flags: &[next("-t")], ..NONE },
    Program { names: &["netlify"], operands: &[operand(&["env:set"], 1)], ..NONE },
    Program { names: &["pulumi"], when: &["--secret"], operands: &[operand(&["config", "set"], 1)], ..NONE },
    Program {
        names: &["dotnet", "nuget"],
        operands: &[operand(&["user-secrets", "set"], 1), operand(&["setapikey"], 0)],
        flags: &[next("-k"), next("-ApiKey")],
        when: &["push", "set", "setapikey"],
        ..NONE
    },
    Program { names: &["ngrok"], operands: &[operand(&["authtoken"], 0), operand(&["add-authtoken"], 0)], ..NONE },
    Program { names: &["cloudflared"], operands: &[operand(&["service", "install"], 0)], ..NONE },
    Program {
        names: &["mc"],
        operands: &[Operand { behind: &["alias", "set"], skip: 2, all: true, part: Part::Whole }],
        ..NONE
    },
    Program { names: &["wpa_passphrase"], operands: &[operand(&[], 1)], ..NONE },
    Program { names: &["etcdctl", "influx"], flags: &[behind("--user", ':')], ..NONE },
    Program { names: &["sudo", "doas"], sinks: &["-S", "--stdin"], ..NONE },
    Program { names: &["passwd", "smbpasswd"], sinks: &["--stdin", "-s"], ..NONE },
    Program { names: &["chpasswd", "kinit", "cryptsetup"], sinks: &["chpasswd", "kinit", "cryptsetup"], ..NONE },
];

/// The names of all programs whose secrets nothing else may announce.
pub fn names() -> impl Iterator<Item = &'static str> {
    let is_silent =
        |program: &&Program| !program.flags.is_empty() || !program.operands.is_empty() || !program.sinks.is_empty();
    PROGRAMS.iter().filter(is_silent).flat_map(|program| program.names).copied()
}

static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Program>>> = LazyLock::new(|| {
    let mut all: HashMap<_, Vec<_>> = HashMap::new();
    for program in PROGRAMS {
        program.names.iter().for_each(|name| all.entry(*name).or_default().push(program));
    }
    all
});

/// What is known of the program with this name, each of its forms.
pub fn find(name: &str) -> &'static [&'static Program] {
    BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// The secret in a value.
pub fn secret_in(part: Part, value: &str) -> Option<std::ops::Range<usize>> {
    let from = match part {
        Part::Whole => 0,
        // `C:\cert` and `/dir:x` are paths.
        Part::Behind(_) if is_path(value) => return None,
        Part::Behind(sign) => value.find(sign)? + sign.len_utf8(),
        Part::Oracle => {
            let from = value.find('/')? + 1;
            let end = value[from..].find('@').map_or(value.len(), |at| from + at);
            let is_login = from > 1 && !value[..from].contains(['.', '@', '=']) && value.matches('/').count() == 1;
            return (is_login && from < end).then_some(from..end);
        }
        Part::Login => value.find(':').map_or(0, |colon| colon + 1),
        Part::Prefixed => value.strip_prefix("pass:").map(|_| 5)?,
        Part::Cookies if value.contains('=') => 0,
        Part::Cookies => return None,
    };
    (from < value.len()).then_some(from..value.len())
}

/// Whether a word is the name of a secret whose value is the next word.
pub fn names_next(word: &str) -> bool {
    let name = word.rsplit([':', '.']).next().unwrap_or(word);
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    is_name && !is_path(word.trim_start_matches('/')) && holds_secret(name, "a plain value")
}
