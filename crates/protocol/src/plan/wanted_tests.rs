//! Rows, hints, and the many failures that have nothing to do with a secret.

use super::*;

const WITHHELD: [&str; 8] = [
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_URL",
    "GH_TOKEN",
    "HTTPS_PROXY",
    "NPM_TOKEN",
    "OPENAI_API_KEY",
    "PGPASSWORD",
    "X_TOKEN",
];

fn names() -> Vec<String> {
    WITHHELD.iter().map(|name| (*name).to_owned()).collect()
}

fn hint(command: &str, stdout: &str, stderr: &str) -> Vec<String> {
    find_wanted_names(&names(), command, stdout, stderr).into_iter().map(str::to_owned).collect()
}

#[test]
fn every_program_row_finds_its_names() {
    for (program, globs) in PROGRAMS {
        assert!(!globs.is_empty(), "{program}");
        for glob in *globs {
            let withheld = [glob.replace('*', "X"), "UNRELATED".to_owned()];
            for command in [
                (*program).to_owned(),
                format!("cd x && A=1 timeout 5 /usr/bin/{program} --flag 2>&1 | tail"),
                format!("bash -c \"{program} now\""),
                format!("x=$({program} now)"),
            ] {
                assert_eq!(find_wanted_names(&withheld, &command, "", ""), [&withheld[0]], "{command}: {glob}");
            }
            assert!(find_wanted_names(&withheld, &format!("grep '{program}' file; echo {program}"), "", "").is_empty());
        }
    }
}

#[test]
fn no_program_twice() {
    let mut programs: Vec<_> = PROGRAMS.iter().map(|row| row.0).collect();
    programs.sort_unstable();
    assert!(programs.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn every_complaint_is_heard() {
    for phrase in COMPLAINTS {
        assert_eq!(*phrase, phrase.to_ascii_lowercase());
        let said = format!("Error\n{}", phrase.to_ascii_uppercase());
        assert_eq!(hint("./run", &said, "").len(), WITHHELD.len(), "{phrase} in stdout");
        assert_eq!(hint("./run", "", &said).len(), WITHHELD.len(), "{phrase} in stderr");
    }
    for phrase in UNREACHED {
        assert_eq!(hint("./run", "", &format!("x: {phrase} y")), ["HTTPS_PROXY"], "{phrase}");
    }
}

#[test]
fn names_as_words() {
    assert_eq!(hint("curl -H \"x: $X_TOKEN\" host", "", ""), ["X_TOKEN"]);
    assert_eq!(hint("./run", "KeyError: 'PGPASSWORD'", ""), ["PGPASSWORD"]);
    assert_eq!(hint("./run", "", "X_TOKEN: unbound variable"), ["X_TOKEN"]);
    assert!(hint("echo MAX_TOKENS MY_X_TOKEN X_TOKENS", "", "").is_empty());
    let old = format!("X_TOKEN{}", " ".repeat(TAIL));
    assert!(hint("./run", &old, "").is_empty(), "far from the end");
}

#[test]
fn programs() {
    assert_eq!(hint("gh pr list", "", ""), ["GH_TOKEN"]);
    assert_eq!(hint("cd a && npm --silent publish", "", ""), ["NPM_TOKEN"]);
    assert_eq!(hint("psql -c 'select 1'", "", ""), ["DATABASE_URL", "PGPASSWORD"]);
    assert_eq!(hint("for i in 1; do aws s3 ls; done", "", ""), ["AWS_SECRET_ACCESS_KEY"]);
    assert_eq!(hint("echo \"$(date \"+%s\") don't; gh x\" && gh pr list", "", ""), ["GH_TOKEN"]);
    assert_eq!(hint("# don't\ngh pr list", "", ""), ["GH_TOKEN"]);
    assert!(hint("echo \"$(date) ; gh pr list\"", "", "").is_empty());
    assert!(hint("npm test # gh pr list; gh", "", "").is_empty());
    assert!(hint("npm test", "", "").is_empty());
    assert!(hint("git status", "", "").is_empty());
    assert!(hint("git commit -m 'git push'", "", "").is_empty());
}

#[test]
fn real_complaints() {
    for stderr in [
        "HTTP/1.1 401 Unauthorized",
        "HTTP/2 401 \nserver: x",
        "npm error code E401",
        "git@github.com: Permission denied (publickey).",
        "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
        "The requested URL returned error: 401",
        "Error: Incorrect API key provided: undefined",
        "remote: HTTP Basic: Access denied",
        "You are not logged into any GitHub hosts. To log in, run: gh auth login",
        "Unable to locate credentials. You can configure credentials by running \"aws configure\".",
    ] {
        assert_eq!(hint("./run", "", stderr).len(), WITHHELD.len(), "{stderr}");
    }
}

#[test]
fn plain_failures_hint_at_nothing() {
    for (command, stdout, stderr) in [
        ("false", "", ""),
        ("grep x /dev/null", "", ""),
        ("test -f x", "", ""),
        ("cat x", "", "cat: x: No such file or directory"),
        ("node a.js", "", "SyntaxError: Unexpected token '}' (a.js:401 at 1)"),
        ("node a.js", "", "Unexpected token < in JSON at position 401 of 403"),
        ("cargo test", "test a ... ok\ntest b ... FAILED\n  left: 401 \n", "error: test failed at line 401 of x.rs"),
        ("npm test", "1 failing\n  expected 1 to equal 2\n  at src/tokenizer.ts:403:5", "npm error code 1"),
        ("python -m pytest", "E  assert 1 == 2\n1 failed, 401 passed", ""),
        ("make", "", "make: *** [Makefile:2: all] Error 1"),
        ("touch /x", "", "touch: cannot touch '/x': Permission denied"),
        ("./run", "", "Error: Permission denied (os error 13)"),
        ("nosuch", "", "bash: line 1: nosuch: command not found"),
        ("tsc", "src/a.ts(401,3): error TS2304: Cannot find name 'key'.", ""),
        ("ls gh aws", "", "ls: cannot access 'gh': No such file or directory"),
    ] {
        assert_eq!(hint(command, stdout, stderr), Vec::<String>::new(), "{command}: {stdout} {stderr}");
    }
    assert!(find_wanted_names(&[], "gh pr list", "", "401 Unauthorized").is_empty());
}

#[test]
fn the_note() {
    let tail = "(pass them with env or inheritEnv)";
    assert_eq!(note_of_withheld(&[]), "");
    assert_eq!(note_of_withheld(&["A"]), "withheld from the command's environment: A (pass it with env or inheritEnv)");
    assert_eq!(note_of_withheld(&["A", "B"]), format!("withheld from the command's environment: A, B {tail}"));
    let many: Vec<&str> = std::iter::repeat_n("N", NAMED + 3).collect();
    assert!(note_of_withheld(&many).ends_with(&format!("N, N and 3 more {tail}")));
}
