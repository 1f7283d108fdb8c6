use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::*;

/// A program, its hash, and what it prints.
const PROGRAM: &str = "#!/bin/sh\necho started by $0\n";

fn hash(text: &str) -> String {
    let mut tool = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sha256sum");
    tool.stdin.take().expect("piped").write_all(text.as_bytes()).expect("a pipe");
    let mut said = String::new();
    tool.stdout.take().expect("piped").read_to_string(&mut said).expect("text");
    tool.wait().expect("our child");
    said[..64].to_owned()
}

fn wanted(installed: Option<String>) -> Wanted {
    let length = PROGRAM.len() as u64;
    let programs = ["x86_64", "aarch64"].map(|machine| (machine.to_owned(), hash(PROGRAM), length)).to_vec();
    Wanted { programs, installed, mark: "MARKmark1234".into() }
}

/// Runs the text in a home, with these bytes as the program. Returns its answers and what follows.
fn run(wanted: &Wanted, home: &Path, program: &str) -> (Vec<Answer>, String) {
    run_with(wanted, home, program, "/usr/bin:/bin")
}

/// Runs the text with these programs.
fn run_with(wanted: &Wanted, home: &Path, program: &str, path: &str) -> (Vec<Answer>, String) {
    // The places that all users share would be shared by the tests, too.
    let text = wanted.text().replace(" /var/tmp /tmp", "");
    let mut shell = Command::new("/bin/sh")
        .args(["-c", &text])
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    // It may not read them.
    let _unread = shell.stdin.take().expect("piped").write_all(program.as_bytes());
    let mut said = Vec::new();
    shell.stdout.take().expect("piped").read_to_end(&mut said).expect("output");
    shell.wait().expect("our child");
    let mut answers = Answers::new(&wanted.mark);
    answers.push(&said);
    let mut found = Vec::new();
    while let Found::Answer(answer) = answers.next_answer() {
        found.push(answer);
        if matches!(found.last(), Some(Answer::Run(..))) {
            break;
        }
    }
    (found, String::from_utf8(answers.into_rest()).expect("text"))
}

#[test]
fn the_text_fits_between_quotes_and_in_one_line() {
    for installed in [None, Some("/opt/a b/$host".to_owned())] {
        let text = wanted(installed.clone()).text();
        assert!(!text.contains(['\'', '!', '\n']), "{text}");
        assert!(!text.contains("MARKmark1234"));
        assert!(installed.is_some() || text.contains(" /var/tmp /tmp"));
        assert!(text.len() < 2_500, "{}", text.len());
    }
}

#[test]
fn the_program_is_sent_once_and_found_later() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join(format!(".cache/agent-bash-host-{}/{}", nix::unistd::geteuid(), hash(PROGRAM)));
    let path = path.to_str().expect("text").to_owned();
    let machine = std::env::consts::ARCH.to_owned();
    let first = run(&wanted(None), home.path(), PROGRAM);
    assert_eq!(first, (vec![Answer::Send(machine), Answer::Run(path.clone(), true)], format!("started by {path}\n")));
    let later = run(&wanted(None), home.path(), "");
    assert_eq!(later, (vec![Answer::Run(path.clone(), false)], format!("started by {path}\n")));
    // A damaged one is sent again.
    fs::write(&path, "#!/bin/sh\necho other\n").expect("our file");
    assert_eq!(run(&wanted(None), home.path(), PROGRAM).0.len(), 2);
    let names: Vec<_> = fs::read_dir(Path::new(&path).parent().expect("a parent")).expect("our directory").collect();
    assert_eq!(names.len(), 1);
}

#[test]
fn a_damaged_program_is_never_started_and_leaves_nothing() {
    let home = tempfile::tempdir().expect("a directory");
    let (answers, rest) = run(&wanted(None), home.path(), &PROGRAM.replace("started", "starten"));
    assert!(!answers.iter().any(|answer| matches!(answer, Answer::Run(..))) && rest.is_empty(), "{answers:?}");
    assert!(matches!(answers.last(), Some(Answer::None(places)) if places.contains("/.cache")));
    let ours = home.path().join(format!(".cache/agent-bash-host-{}", nix::unistd::geteuid()));
    assert_eq!(fs::read_dir(ours).expect("our directory").count(), 0);
}

/// Makes a directory with all programs that the text uses but those that hash.
fn without_hashes(home: &Path) -> String {
    let bin = home.join("bin");
    fs::create_dir(&bin).expect("our directory");
    for name in ["chmod", "head", "id", "ls", "mkdir", "mv", "rm", "uname", "wc", "sh", "cat"] {
        std::os::unix::fs::symlink(format!("/bin/{name}"), bin.join(name)).expect("a link");
    }
    bin.to_str().expect("text").to_owned()
}

#[test]
fn without_a_tool_a_whole_program_tells_its_own_hash() {
    let length = PROGRAM.len() as u64;
    let own = |code| format!("#!/bin/sh\nif [ \"$1\" = sum ]; then exit {code}; fi\n{}", PROGRAM.split_at(10).1);
    for (sent, taken) in [(own(0), true), (own(1), false), (own(0)[..length as usize].to_owned(), false)] {
        let home = tempfile::tempdir().expect("a directory");
        let bytes = own(0).len() as u64;
        let programs = wanted(None).programs.into_iter().map(|(machine, hash, _)| (machine, hash, bytes)).collect();
        let path = without_hashes(home.path());
        let (answers, rest) = run_with(&Wanted { programs, ..wanted(None) }, home.path(), &sent, &path);
        let (runs, started) = (matches!(answers.last(), Some(Answer::Run(_, true))), rest.starts_with("started by /"));
        assert_eq!((runs, started), (taken, taken), "{sent}: {answers:?}");
        let ours = home.path().join(format!(".cache/agent-bash-host-{}", nix::unistd::geteuid()));
        assert_eq!(fs::read_dir(ours).expect("our directory").count(), usize::from(taken));
    }
}

#[test]
fn a_link_in_the_place_of_our_directory_is_passed_over() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = tempfile::tempdir().expect("a directory");
    let cache = home.path().join(".cache");
    fs::create_dir(&cache).expect("our directory");
    let ours = cache.join(format!("agent-bash-host-{}", nix::unistd::geteuid()));
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("our directory");
    fs::set_permissions(&elsewhere, PermissionsExt::from_mode(0o700)).expect("our directory");
    symlink(&elsewhere, &ours).expect("a link");
    let (answers, _) = run(&wanted(None), home.path(), PROGRAM);
    assert!(matches!(&answers[..], [Answer::None(_)]), "{answers:?}");
    assert_eq!(fs::read_dir(&elsewhere).expect("our directory").count(), 0);
}

#[test]
fn an_installed_program_is_checked_and_nothing_is_sent() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("a $host");
    let path_text = path.to_str().expect("text").to_owned();
    let wanted = wanted(Some(path_text.clone()));
    assert_eq!(run(&wanted, home.path(), ""), (vec![Answer::Hash], String::new()));
    for (program, expected) in [(PROGRAM, Answer::Run(path_text, false)), ("#!/bin/sh\necho other\n", Answer::Hash)] {
        fs::write(&path, program).expect("our file");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).expect("our file");
        assert_eq!(run(&wanted, home.path(), "").0, [expected]);
    }
}

#[test]
fn a_system_without_a_program_is_told() {
    let wanted = Wanted { programs: vec![("riscv64".into(), "0".repeat(64), 1)], ..wanted(None) };
    let (answers, _) = run(&wanted, Path::new("/"), "");
    assert!(matches!(&answers[..], [Answer::Unsupported(system)] if system.starts_with("Linux ")), "{answers:?}");
}

#[test]
fn noise_before_the_mark_is_skipped_up_to_64_kib_under_any_split() {
    let noise = "Welcome!\r\n".repeat(6_000);
    let said = format!("{noise}half a line MARK run /no 0\nMARK run /the path 1\r\nframes");
    for step in [1, 7, said.len()] {
        let mut answers = Answers::new("MARK");
        let mut found = None;
        for part in said.as_bytes().chunks(step) {
            answers.push(part);
            match answers.next_answer() {
                Found::Answer(answer) => found = Some(answer),
                Found::Nothing => {}
                Found::Noise => panic!("too early"),
            }
        }
        assert_eq!(found, Some(Answer::Run("/the path".into(), true)));
        assert_eq!(answers.into_rest(), b"frames");
    }
    let mut answers = Answers::new("MARK");
    answers.push(&vec![b'x'; MAX_NOISE + 1]);
    assert_eq!(answers.next_answer(), Found::Noise);
    let mut answers = Answers::new("MARK");
    answers.push(b"MARK nonsense\n");
    assert_eq!(answers.next_answer(), Found::Noise);
}
