use std::collections::BTreeSet;
use std::io;

use super::*;
use crate::{PROTECT, PolicyEnvironment};

/// A host whose files are a list: directories end with a slash, links have a target.
#[derive(Default)]
struct FakeHost {
    files: BTreeSet<PathBuf>,
    directories: BTreeSet<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
    variables: Vec<(&'static str, &'static str)>,
    home: Option<PathBuf>,
}

impl FakeHost {
    fn of(entries: &[&str]) -> Self {
        let mut fake = Self {
            variables: vec![("HOME", "/home/ann")],
            home: Some("/home/ann".into()),
            directories: ["/", "/home", "/home/ann", "/proj", "/tmp", "/etc", "/proc", "/proc/1", "/dev", "/dev/shm"]
                .map(PathBuf::from)
                .into(),
            ..Self::default()
        };
        for entry in entries {
            if let Some((link, target)) = entry.split_once(" -> ") {
                fake.links.insert(link.into(), target.into());
            } else if let Some(directory) = entry.strip_suffix('/') {
                fake.directories.extend(Path::new(directory).ancestors().map(PathBuf::from));
            } else {
                fake.directories.extend(Path::new(entry).ancestors().skip(1).map(PathBuf::from));
                fake.files.insert(entry.into());
            }
        }
        fake
    }
}

impl PolicyEnvironment for FakeHost {
    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(one, _)| *one == name).map(|(_, value)| *value)
    }

    fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn user(&self) -> u32 {
        7
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let mut resolved = PathBuf::from("/");
        for component in path.components() {
            match component {
                std::path::Component::Normal(name) => resolved.push(name),
                std::path::Component::ParentDir => drop(resolved.pop()),
                _ => {}
            }
            if let Some(target) = self.links.get(&resolved) {
                resolved = self.resolve(target)?;
            } else if !self.directories.contains(&resolved) && !self.files.contains(&resolved) {
                return Err(io::Error::from_raw_os_error(libc::ENOENT));
            }
        }
        Ok(resolved)
    }

    fn read_text(&self, path: &Path) -> io::Result<String> {
        Err(io::Error::new(io::ErrorKind::NotFound, path.display().to_string()))
    }

    fn may_keep(&self, _: &Path, _: &[PathBuf]) -> bool {
        false
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.directories.contains(path)
    }
}

fn raw(json: &str) -> RawConfine {
    RawConfine::from_json(json).expect("the right types")
}

fn made(json: &str, root: &str, entries: &[&str]) -> ConfinementPolicy {
    make_policy(&raw(json), Path::new(root), &FakeHost::of(entries)).expect("valid")
}

fn refused(json: &str, root: &str, entries: &[&str]) -> String {
    make_policy(&raw(json), Path::new(root), &FakeHost::of(entries)).expect_err(json).to_string()
}

fn paths(list: &[&str]) -> Vec<PathBuf> {
    list.iter().map(PathBuf::from).collect()
}

#[test]
fn without_a_word_of_the_caller_the_root_may_be_changed_and_nothing_be_reached() {
    let policy = made("{}", "/proj", &[]);
    assert_eq!(
        (policy.profile, &*policy.root, &policy.write),
        (PolicyProfile::Workspace, Path::new("/proj"), &paths(&["/proj"]))
    );
    assert_eq!(policy.protect[..PROTECT.len()], paths(&PROTECT));
    assert_eq!(policy.protect[PROTECT.len()..], paths(&["/home/ann/.config/fish"]));
    assert!(policy.hide.contains(&"/home/ann/.ssh".into()) && policy.hide.contains(&"/tmp/agent-bash-7".into()));
    assert_eq!((policy.read, policy.network, policy.expose), (ReadScope::All, NetworkScope::None, Vec::new()));
    assert_eq!(
        (policy.tmp, policy.caches.0, policy.require),
        (TmpPlacement::Private, CacheAccess::Overlay, ConfinementPart::ALL.to_vec())
    );
    assert_eq!(made(r#"{"profile":"read-only"}"#, "/proj", &[]).write, paths(&[]));
}

#[test]
fn equal_options_are_equal_policies_whatever_their_order() {
    let one = r#"{"write":["/a","/b/c","/b"],"hide":["/x","/y"],"expose":[2,1,2],"require":["network","files"],
        "network":{"allow":["b.org","A.org.","b.org"]}}"#;
    let two = r#"{"write":["/b","/a"],"hide":["/y","/x","/x/z"],"expose":[1,2],"require":["files","network"],
        "network":{"allow":["a.org","b.org"]},"profile":"workspace","tmp":"private"}"#;
    let entries = ["/a/", "/b/c/"];
    let policy = made(one, "/proj", &entries);
    assert_eq!(policy, made(two, "/proj", &entries));
    assert_eq!(policy.write, paths(&["/a", "/b", "/proj"]));
}

#[test]
fn links_and_dots_are_resolved() {
    let entries =
        ["/data/real/", "/data/link -> /data/real", "/work -> /proj", "/home/ann/.ssh -> /keys/ann", "/keys/ann/"];
    let json = r#"{"write":["/data/link","/data/real/../link/."],"hide":["/data/none/../secret"],"protect":["/work/x","./a/b/"]}"#;
    let policy = made(json, "/work", &entries);
    assert_eq!((&*policy.root, policy.write), (Path::new("/proj"), paths(&["/data/real", "/proj"])));
    assert!(policy.hide.contains(&"/keys/ann".into()) && policy.hide.contains(&"/data/secret".into()));
    assert_eq!(policy.protect, paths(&["/proj/x", "a/b"]));
}

#[test]
fn a_tilde_is_both_homes() {
    let entries = ["/home/ann/out/", "/users/ann/out/", "/users/ann/only/"];
    let host = FakeHost { home: Some("/users/ann".into()), ..FakeHost::of(&entries) };
    let json = r#"{"write":["~/out","~/only"],"hide":["~/secret"],"protect":["~/kept"],"read":["~/lib","/proj"]}"#;
    let policy = make_policy(&raw(json), Path::new("/proj"), &host).expect("valid");
    assert_eq!(policy.write, paths(&["/home/ann/out", "/proj", "/users/ann/only", "/users/ann/out"]));
    for path in ["/home/ann/secret", "/users/ann/secret", "/home/ann/.aws", "/users/ann/.aws"] {
        assert!(policy.hide.contains(&path.into()), "{path}");
    }
    assert_eq!(policy.protect, paths(&["/home/ann/kept", "/users/ann/kept"]));
    assert_eq!(policy.read, ReadScope::Only(paths(&["/home/ann/lib", "/proj", "/users/ann/lib"])));
    let homeless = FakeHost { home: None, variables: Vec::new(), ..FakeHost::of(&[]) };
    let message = super::make_policy(&raw(r#"{"hide":["~/x"]}"#), Path::new("/proj"), &homeless).expect_err("no home");
    let wanted = r#"confine.hide: "~/x" begins with ~, and this user has no home directory; write an absolute path"#;
    assert_eq!(message.to_string(), wanted);
}

#[test]
fn our_own_directories_are_hidden_wherever_variables_move_them() {
    let variables = vec![
        ("HOME", "/home/ann"),
        ("XDG_STATE_HOME", "/state"),
        ("XDG_CACHE_HOME", "/cache"),
        ("XDG_RUNTIME_DIR", "/runtime"),
        ("TMPDIR", "/t"),
    ];
    let host = FakeHost { variables, ..FakeHost::of(&[]) };
    let policy = make_policy(&raw("{}"), Path::new("/proj"), &host).expect("valid");
    let here = ["/state/agent-bash", "/cache/agent-bash", "/runtime/agent-bash", "/t/agent-bash-7"];
    for path in here.into_iter().chain(["/home/ann/.local/state/agent-bash", "/run/user/7/agent-bash"]) {
        assert!(policy.hide.contains(&path.into()), "{path}");
    }
}

#[test]
fn caches_are_those_that_exist() {
    let entries = ["/home/ann/.npm/", "/home/ann/.cache/pip/", "/cargo/registry/", "/cargo/git"];
    let of = |caches: &str, root: &str| {
        let host =
            FakeHost { variables: vec![("HOME", "/home/ann"), ("CARGO_HOME", "/cargo")], ..FakeHost::of(&entries) };
        make_policy(&raw(&format!(r#"{{"caches":"{caches}"}}"#)), Path::new(root), &host).expect("valid").caches
    };
    let all = paths(&["/cargo/registry", "/home/ann/.cache", "/home/ann/.npm"]);
    assert_eq!(of("overlay", "/proj"), (CacheAccess::Overlay, all.clone()));
    assert_eq!(of("shared", "/proj"), (CacheAccess::Shared, all));
    assert_eq!(of("none", "/proj"), (CacheAccess::None, paths(&[])));
    // A cache below a write root needs no layer.
    assert_eq!(of("overlay", "/home/ann"), (CacheAccess::Overlay, paths(&["/cargo/registry"])));
    let host =
        FakeHost { variables: vec![("HOME", "/home/ann"), ("XDG_CACHE_HOME", "/home")], ..FakeHost::of(&entries) };
    let odd = make_policy(&raw("{}"), Path::new("/proj"), &host).expect("valid").caches.1;
    assert!(!odd.contains(&"/home".into()), "a layer over the home itself");
}

#[test]
fn a_network_is_none_full_or_a_list() {
    let of = |network: &str| made(&format!(r#"{{"network":{network}}}"#), "/proj", &[]);
    assert_eq!(of(r#""none""#).network, NetworkScope::None);
    assert_eq!(of(r#"{"allow":[]}"#).network, NetworkScope::None);
    let full = of(r#""full""#);
    assert_eq!(
        (full.network, full.require),
        (NetworkScope::Full, vec![ConfinementPart::Files, ConfinementPart::Processes, ConfinementPart::Syscalls])
    );
    let mapped = of(r#"{"allow":["*.Local:5432"],"hosts":{"DB.local.":"127.0.0.1"}}"#);
    let entries = vec!["*.local:5432".parse().expect("valid")];
    let hosts = BTreeMap::from([("db.local".to_owned(), [127, 0, 0, 1].into())]);
    assert_eq!(mapped.network, NetworkScope::Allow { entries, hosts });
}

#[test]
fn wrong_values_name_the_option_the_value_and_a_remedy() {
    for (json, message) in [
        (r#"{"profile":"strict"}"#, r#"confine.profile: "strict" is not one of workspace, read-only"#),
        (r#"{"tmp":"mine"}"#, r#"confine.tmp: "mine" is not one of private, shared"#),
        (r#"{"caches":""}"#, r#"confine.caches: "" is not one of overlay, shared, none"#),
        (r#"{"read":"some"}"#, r#"confine.read: "some" is not one of all, an array of paths"#),
        (r#"{"network":"some"}"#, r#"confine.network: "some" is not one of none, full, an object with allow"#),
        (r#"{"require":["disk"]}"#, r#"confine.require: "disk" is not one of files, network, processes, syscalls"#),
        (r#"{"write":[""]}"#, r#"confine.write: "" is empty"#),
        (r#"{"hide":["a\u0000b"]}"#, r#"confine.hide: "a\0b" holds a NUL character, which no path has"#),
        (
            r#"{"read":["lib"]}"#,
            r#"confine.read: "lib" is relative; write an absolute path or one that begins with ~/"#,
        ),
        (r#"{"write":["~bob/x"]}"#, r#"confine.write: "~bob/x" names the home of a user; write an absolute path"#),
        (r#"{"protect":["a/../b"]}"#, r#"confine.protect: "a/../b" leads out of its directory; leave out .."#),
        (r#"{"protect":["."]}"#, r#"confine.protect: "." is empty"#),
        (r#"{"expose":[0]}"#, r#"confine.expose: "0" is not a port from 1 to 65535"#),
        (r#"{"expose":[65536]}"#, r#"confine.expose: "65536" is not a port from 1 to 65535"#),
        (r#"{"expose":[-1]}"#, r#"confine.expose: "-1" is not a port from 1 to 65535"#),
        (
            r#"{"network":{"hosts":{}}}"#,
            "confine.network.allow is missing: list the hosts that may be reached, or use 'none'",
        ),
        (
            r#"{"network":{"allow":["a b"]}}"#,
            "confine.network.allow: \"a b\" is no host; write a name, *.domain, an IP address or a CIDR, each with an \
             optional :port",
        ),
        (
            r#"{"network":{"allow":["a.org"],"hosts":{"a.org":"b.org"}}}"#,
            r#"confine.network.hosts: "b.org" is no IP address that can be connected to"#,
        ),
        (
            r#"{"network":{"allow":["localhost"],"hosts":{"LOCALHOST":"10.0.0.1"}}}"#,
            "confine.network.hosts: \"LOCALHOST\" always means the commands' own loopback; choose another name and map \
             that",
        ),
        (
            r#"{"network":"full","expose":[80]}"#,
            "confine.expose: with network 'full' every port is the host's own already; leave expose out",
        ),
        (
            r#"{"network":"full","require":["network"]}"#,
            "confine.require: \"network\" cannot be required with network 'full', which limits nothing; leave it out of \
             require",
        ),
    ] {
        assert_eq!(refused(json, "/proj", &[]), message);
    }
}

#[test]
fn lists_have_an_end() {
    let many = |count: usize| format!("[{}]", vec![r#""x.org""#; count].join(","));
    for option in ["write", "protect", "hide", "read"] {
        let message = refused(&format!(r#"{{"{option}":{}}}"#, many(257)), "/proj", &[]);
        assert_eq!(message, format!("confine.{option}: 257 entries are too many; at most 256 are possible"));
    }
    let message = refused(&format!(r#"{{"network":{{"allow":{}}}}}"#, many(257)), "/proj", &[]);
    assert_eq!(message, "confine.network.allow: 257 entries are too many; at most 256 are possible");
    let ports: Vec<i64> = (1..=65).collect();
    let message = refused(&format!(r#"{{"expose":{ports:?}}}"#), "/proj", &[]);
    assert_eq!(message, "confine.expose: 65 entries are too many; at most 64 are possible");
    made(&format!(r#"{{"network":{{"allow":{}}}}}"#, many(256)), "/proj", &[]);
}

#[test]
fn paths_that_contradict_each_other_are_refused() {
    let system = "cannot be changed as a whole; name directories of your own below it";
    let kernel = "belongs to the kernel and cannot be written to inside a confinement; leave it out";
    let workspace = "cannot be the workspace; choose a directory of your own as cwd, or the profile 'read-only'";
    let ssh = "lies in /home/ann/.ssh, which is hidden; name a path outside of it";
    let list = "give confine.protect a list without it";
    let entries = [
        "/home/ann/.ssh/keys/",
        "/secret/sub/",
        "/proj/.git/hooks/",
        "/proj/sub/.git/hooks/",
        "/proj/sub/.vscode/",
        "/proj/plain/.vscode/",
        "/proj/kept/a/",
        "/out/",
        "/proj/link -> /etc",
        "/proj/inner -> /proj/kept",
    ];
    for (json, root, message) in [
        (r#"{"write":["/"]}"#, "/proj", format!(r#"confine.write: "/" {system}"#)),
        (r#"{"write":["/proj/../"]}"#, "/proj", format!(r#"confine.write: "/proj/../" {system}"#)),
        (r#"{"write":["/proc/1"]}"#, "/proj", format!(r#"confine.write: "/proc/1" {kernel}"#)),
        ("{}", "/", format!(r#"cwd: "/" {workspace}"#)),
        ("{}", "/proc/1", format!(r#"cwd: "/proc/1" {workspace}"#)),
        (r#"{"write":["~/.ssh"]}"#, "/proj", format!(r#"confine.write: "~/.ssh" {ssh}"#)),
        (r#"{"write":["~/.ssh/keys"]}"#, "/proj", format!(r#"confine.write: "~/.ssh/keys" {ssh}"#)),
        (r#"{"read":["/proj","~/.ssh/keys"]}"#, "/proj", format!(r#"confine.read: "/home/ann/.ssh/keys" {ssh}"#)),
        ("{}", "/home/ann/.ssh/keys", format!(r#"cwd: "/home/ann/.ssh/keys" {ssh}"#)),
        (r#"{"profile":"read-only"}"#, "/home/ann/.ssh", format!(r#"cwd: "/home/ann/.ssh" {ssh}"#)),
        (
            r#"{"hide":["/secret"],"write":["/secret/sub"]}"#,
            "/proj",
            "confine.write: \"/secret/sub\" lies in /secret, which is hidden; name a path outside of it".into(),
        ),
        (
            r#"{"hide":["/"]}"#,
            "/proj",
            "confine.hide: \"/\" holds the working directory /proj; hide what lies below it, or choose another cwd"
                .into(),
        ),
        (
            r#"{"hide":["/proj"]}"#,
            "/proj",
            "confine.hide: \"/proj\" holds the working directory /proj; hide what lies below it, or choose another \
             cwd"
            .into(),
        ),
        (
            r#"{"write":["/proj/.git/hooks"]}"#,
            "/proj",
            format!("confine.write: \"/proj/.git/hooks\" is protected by the entry \".git/hooks\"; {list}"),
        ),
        (
            r#"{"write":["/proj/sub/.vscode"]}"#,
            "/proj",
            format!("confine.write: \"/proj/sub/.vscode\" is protected by the entry \".vscode\"; {list}"),
        ),
        (
            r#"{"write":["/proj/kept/a"],"protect":["/proj/kept"]}"#,
            "/out",
            format!("confine.write: \"/proj/kept/a\" is protected by the entry \"/proj/kept\"; {list}"),
        ),
        (r#"{"protect":["/"]}"#, "/out", format!("cwd: \"/out\" is protected by the entry \"/\"; {list}")),
        (
            r#"{"write":["/proj/link"]}"#,
            "/proj",
            "confine.write: \"/proj/link\" is a link to /etc, and lies in /proj, where commands may replace it; name \
             /etc itself"
                .into(),
        ),
        (
            r#"{"write":["/proj"]}"#,
            "/proj/link",
            "cwd: \"/proj/link\" is a link to /etc, and lies in /proj, where commands may replace it; name /etc itself"
                .into(),
        ),
        (
            r#"{"profile":"read-only","read":["/out"]}"#,
            "/proj",
            "cwd: \"/proj\" is the working directory, and confine.read does not have it; add it".into(),
        ),
    ] {
        assert_eq!(refused(json, root, &entries), message, "{json} in {root}");
    }
}

#[test]
fn paths_that_only_look_as_if_they_contradicted_each_other_pass() {
    let entries = ["/home/ann/.sshx/", "/proj/plain/.vscode/", "/proj/inner -> /proj/plain", "/out/", "/proj/.git/"];
    for (json, root) in [
        (r#"{"write":["~/.sshx"]}"#, "/proj"),
        // A directory without a repository has only the protected names of its write root.
        (r#"{"write":["/proj/plain/.vscode"]}"#, "/proj"),
        (r#"{"write":["/proj/.git"]}"#, "/proj"),
        (r#"{"write":["/proj/inner"]}"#, "/proj"),
        (r#"{"write":["/dev/shm"],"tmp":"shared"}"#, "/proj"),
        (r#"{"hide":["/proj/secret"]}"#, "/proj"),
        (r#"{"profile":"read-only"}"#, "/"),
        (r#"{"profile":"read-only","read":["/proj/plain"]}"#, "/proj"),
        (r#"{"profile":"read-only","read":["/out"]}"#, "/etc"),
        (r#"{"read":["/out"]}"#, "/proj"),
        ("{}", "/home/ann"),
    ] {
        make_policy(&raw(json), Path::new(root), &FakeHost::of(&entries)).expect(json);
    }
}

#[test]
fn a_write_root_that_is_missing_is_a_part_that_cannot_be_held() {
    let error =
        make_policy(&raw(r#"{"write":["/none/x"]}"#), Path::new("/proj"), &FakeHost::of(&[])).expect_err("missing");
    let PolicyError::Missing(missing) = error else { panic!("{error}") };
    assert_eq!((missing.len(), missing[0].part), (1, ConfinementPart::Files));
    assert_eq!(missing[0].why, "the write root /none/x does not exist");
    let error = make_policy(&raw("{}"), Path::new("/none"), &FakeHost::of(&[])).expect_err("missing");
    assert_eq!(error.to_string(), "Working directory does not exist: /none");
    let error = make_policy(&raw("{}"), Path::new("/file"), &FakeHost::of(&["/file"])).expect_err("a file");
    assert_eq!(error.to_string(), "Working directory is not a directory: /file");
}

#[test]
fn a_pattern_is_refused_and_a_file_of_that_name_is_not() {
    for options in [
        r#"{"hide":["~/*.pem"]}"#,
        r#"{"protect":["*.lock"]}"#,
        r#"{"protect":["/proj/?"]}"#,
        r#"{"read":["/proj/*"]}"#,
    ] {
        assert!(refused(options, "/proj", &[]).contains("is a pattern"), "{options}");
    }
    let policy = made(r#"{"hide":["/proj/a*b"],"protect":["[id]"]}"#, "/proj", &["/proj/a*b"]);
    assert!(policy.hide.contains(&"/proj/a*b".into()) && policy.protect.contains(&"[id]".into()));
}
