//! Redaction as a whole: a table of commands with secrets, one of near misses, and bounds.

mod daily;
mod generated;
mod harmless;
mod kept;
mod places;
mod taken;
mod tokens;
mod wild;

use crate::secret_spans::MARKER;
use crate::{may_hold_secret, redact, step_count};

const RUN: &str = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cD2eF4gH6j";

/// All commands with secrets.
fn taken() -> impl Iterator<Item = &'static str> {
    taken::TAKEN.iter().chain(places::TAKEN).chain(wild::TAKEN).chain(daily::TAKEN).copied()
}

/// All commands without secrets.
fn kept() -> impl Iterator<Item = &'static str> {
    kept::KEPT.iter().chain(wild::KEPT).chain(daily::KEPT).copied()
}

/// A token in place of its name.
fn with_tokens(text: &str) -> String {
    let jwt = format!("eyJ{RUN}.eyJ{RUN}.{RUN}");
    let tokens = [
        ("{ghp}", format!("ghp_{}", &RUN[..36])),
        ("{pat}", format!("github_pat_{RUN}_{RUN}")),
        ("{sk}", format!("sk-{RUN}{RUN}")),
        ("{ant}", format!("sk-ant-api03-{RUN}-{RUN}AA")),
        ("{akia}", format!("AKIA{}", "A1B2C3D4E5F6G7H8")),
        ("{xoxb}", format!("xoxb-123456789012-{RUN}")),
        ("{jwt}", jwt),
        ("{npm}", format!("npm_{}", &RUN[..36])),
        ("{glpat}", format!("glpat-{}", &RUN[..20])),
        ("{hf}", format!("hf_{}", &RUN[..34])),
        ("{aiza}", format!("AIza{}", &RUN[..35])),
    ];
    tokens.iter().fold(text.to_owned(), |text, (name, token)| text.replace(name, token))
}

/// A command of the table, its secrets, and the command as it has to look.
fn case(marked: &str) -> (String, Vec<String>, String) {
    let marked = with_tokens(marked);
    let command = marked.replace(['«', '»'], "");
    let mut secrets = Vec::new();
    let mut wanted = String::new();
    for (at, part) in marked.split('«').enumerate() {
        match part.split_once('»') {
            Some((secret, rest)) if at > 0 => {
                secrets.push(secret.to_owned());
                wanted.push_str(MARKER);
                wanted.push_str(rest);
            }
            _ => wanted.push_str(part),
        }
    }
    (command, secrets, wanted)
}

#[test]
fn every_secret_of_the_table_is_taken_out_and_nothing_else() {
    let mut wrong = Vec::new();
    for marked in taken() {
        let (command, _, wanted) = case(marked);
        let found = redact(&command);
        // Secrets that follow each other in one word may be one place.
        let joined = |text: &str| text.replace(&format!("{MARKER}{MARKER}"), MARKER);
        let text = found.text.replace(&format!("{MARKER}'{MARKER}"), MARKER);
        if !found.redacted || (found.text != wanted && !same(&text, &joined(&wanted))) {
            wrong.push(format!("{command:?}\n  found  {:?}\n  wanted {wanted:?}", found.text));
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), taken().count(), wrong.join("\n"));
}

/// Whether two texts are equal but for quotes around markers.
fn same(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let mut text = text.replace(['\'', '"'], "");
        while text.contains(&format!("{MARKER}{MARKER}")) {
            text = text.replace(&format!("{MARKER}{MARKER}"), MARKER);
        }
        text
    };
    plain(one) == plain(other)
}

#[test]
fn every_near_miss_stays() {
    let found = kept().map(|command| (command, redact(command)));
    let wrong: Vec<_> = found.filter(|(_, found)| found.redacted).map(|(_, found)| found.text.into_owned()).collect();
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), kept().count(), wrong.join("\n"));
}

#[test]
fn the_first_look_passes_over_no_secret() {
    for marked in taken() {
        let (command, ..) = case(marked);
        assert!(may_hold_secret(&command), "{command}");
    }
    for command in ["npm run build", "git status --short", "ls -la", "go test ./...", "cd /srv && make -j4"] {
        assert!(!may_hold_secret(command), "{command}");
    }
}

#[test]
fn secrets_are_taken_out_behind_every_wrapper() {
    let wrap: &[fn(&str) -> String] = &[
        |command| format!("cd x && {command}"),
        |command| format!("({command})"),
        |command| format!("x=$({command})"),
        |command| format!("if true; then {command}\nfi"),
        |command| format!("true\n{command}\ntrue"),
        |command| format!("f() {{ {command}\n}}"),
        |command| format!("{command} # done"),
        |command| format!("{command} > out 2>&1"),
        |command| format!("bash -c {}", quoted(command)),
        |command| format!("sudo sh -c {}", quoted(command)),
        |command| format!("ssh h {}", quoted(command)),
        |command| format!("bash -c {}", quoted(&format!("bash -c {}", quoted(command)))),
        |command| format!("bash <<'END_OF_IT'\n{command}\nEND_OF_IT\n"),
    ];
    let mut wrong = Vec::new();
    for marked in taken() {
        let (command, secrets, _) = case(marked);
        let is_whole = safety::parse::read(&command).script.fault.is_none();
        let ends_open = command.contains("<<");
        for wrap in wrap {
            let wrapped = wrap(&command);
            // A heredoc ends with its line.
            if !is_whole || ends_open && !wrapped.starts_with("true") && !wrapped.contains("-c ") {
                continue;
            }
            let text = redact(&wrapped).text.into_owned();
            wrong.extend(
                secrets.iter().filter(|secret| secret.len() > 4 && text.contains(*secret)).map(|_| wrapped.clone()),
            );
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_a_marker_turns_into_a_header_is_no_secret() {
    let once = redact("Authorization:-|\"Bearer \\Bearer \\--password $'\\x(").text;
    assert_eq!(once, "Authorization:[redacted]\"Bearer \\Bearer \\--password $'\\x(");
    assert_eq!(redact(&once).text, once);
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn a_redacted_command_stays_as_it_is() {
    for marked in taken() {
        let (command, ..) = case(marked);
        let once = redact(&command).text.into_owned();
        let twice = redact(&once);
        assert_eq!(twice.text, once, "{command}");
    }
}

/// Parts of hostile texts.
const UNITS: &[&str] = &[
    "password=",
    "password='",
    "password=\"",
    "password=$(",
    "password: ",
    "Authorization: ",
    "Authorization: $a ",
    "x=",
    "a:b ",
    "://a:b",
    "a://b:c@",
    "@tcp(",
    "sk-",
    "eyJ-",
    "-----BEGIN ",
    "bot1234567:",
    "--token ",
    "--token=$x ",
    "xargs mysql ",
    "mysql -p",
    "`a` ",
    "`\\$a` ",
    "$(",
    "\"$(",
    "'",
    "\"",
    "\\",
    "<<E\n",
    "bash -c '",
    "bash -c \"",
    "(",
    "{ ",
    "if ",
    "PASSWORD '",
    "by ",
    "identified by \"",
    "machine password x ",
    "é",
    "sudo -S <<< x ",
    "echo x | sudo -S a; ",
    "${A:-",
    "${TOKEN:-x} ",
    "<password>",
    "\"--password\",",
    "name: X_TOKEN value: ",
    "name ",
    "ENV ",
    "cat <<E | docker login --password-stdin\nx\nE\n",
    "cat > x.sh <<E\n",
    "printf '%s%s' ",
    "%",
    "a'b",
    "x=(--token ",
    "curl -x a:b@",
    "{a",
    "Authorization\", \"",
    "f() { curl -u a:$1 x; }; f b; ",
    "f(){ :; };mysql -p$1;",
    "p=x; mysql -p$p; ",
    "login('",
    "auth=('a','",
    "into t(password) values (",
    "into t(password,",
    "kind: Secret\ndata:\n a: b\n",
    "\"Secret\" data\":{\"a\":\"",
    "assword send \"",
    "name=\"password\" value=\"",
    "<key>password</key>",
    ".pgpass a:1:",
    "Private-Lines: 1\n",
    "secret \"",
    "password for a",
    "$1 $2 $3 mysql -p$4 ",
    "read a b <<< x; mysql -p$a; ",
    "ghp_",
    "MT.",
    "1:AA",
    "abcdefghijklmn.atlasv1.",
    "# password: ",
    "bash -c 'mysql -p$1' _ x; ",
    "A=$B$A; mysql -p$A; ",
];

/// Returns the steps that a text of one part takes.
fn steps_of(unit: &str, length: usize) -> usize {
    let text: String = unit.repeat(length / unit.len() + 1);
    let text = format!("mysql {}", &text[..text.floor_char_boundary(length)]);
    step_count::of(|| drop(redact(&text)))
}

#[test]
fn the_work_on_long_and_hostile_texts_grows_with_their_length() {
    let wrong: Vec<_> = UNITS
        .iter()
        .map(|unit| (unit, steps_of(unit, 16 * 1024), steps_of(unit, 64 * 1024)))
        .filter(|(_, short, long)| *long > 10 * short || *long > MAX_STEPS * 64 * 1024)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Most steps for a byte: a place reads up to 8 KiB to learn whether it has a header.
const MAX_STEPS: usize = 1_000;
