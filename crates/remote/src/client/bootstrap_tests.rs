use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::target_programs::{ProgramEncoding, ProgramFile};
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

/// A form of the program: this file has a length alone, and the tests send the bytes.
fn form(coding: ProgramEncoding, bytes: usize) -> ProgramFile {
    ProgramFile { coding, bytes: bytes as u64, path: "/none".into() }
}

fn wanted(installed: Option<String>) -> BootstrapScript {
    offering(PROGRAM, vec![form(ProgramEncoding::Raw, PROGRAM.len())], installed)
}

fn offering(program: &str, forms: Vec<ProgramFile>, installed: Option<String>) -> BootstrapScript {
    let (sha256, bytes) = (hash(program), program.len() as u64);
    let of =
        |machine: &str| TargetProgram { machine: machine.into(), sha256: sha256.clone(), bytes, forms: forms.clone() };
    BootstrapScript { programs: ["x86_64", "aarch64"].map(of).to_vec(), installed, mark: "MARKmark1234".into() }
}

/// Runs the text in a home, with these bytes as the program. Returns its answers and what follows.
fn run(wanted: &BootstrapScript, home: &Path, program: &str) -> (Vec<BootstrapAnswer>, String) {
    run_with(wanted, home, &|_| program.into(), "/usr/bin:/bin")
}

/// Runs the text with these programs. Sends the form for each tool that it names.
fn run_with(
    wanted: &BootstrapScript,
    home: &Path,
    sent: &dyn Fn(&str) -> Vec<u8>,
    path: &str,
) -> (Vec<BootstrapAnswer>, String) {
    run_by(&["sh"], wanted, home, sent, path)
}

/// Runs the text by a shell.
fn run_by(
    shell: &[&str],
    wanted: &BootstrapScript,
    home: &Path,
    sent: &dyn Fn(&str) -> Vec<u8>,
    path: &str,
) -> (Vec<BootstrapAnswer>, String) {
    // The places that all users share would be shared by the tests, too.
    let text = wanted.text().replace(" /var/tmp /tmp", "");
    let mut shell = Command::new(located(shell[0]).expect("a shell"))
        .args(&shell[1..])
        .args(["-c", &text])
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let (mut input, mut output) = (shell.stdin.take(), shell.stdout.take().expect("piped"));
    let mut answers = BootstrapAnswerReader::new(&wanted.mark);
    let mut found = Vec::new();
    loop {
        match answers.next_answer() {
            BootstrapFinding::Answer(answer) => {
                if let (BootstrapAnswer::Send(_, tool), Some(mut pipe)) = (&answer, input.take()) {
                    let bytes = sent(tool);
                    pipe.write_all(&bytes).expect("a reader of all bytes");
                    // A link that ends has sent less.
                    let codings = wanted.programs[0].encodings();
                    let whole =
                        codings.iter().any(|(coding, length)| coding.tool() == tool && bytes.len() as u64 == *length);
                    input = whole.then_some(pipe);
                }
                found.push(answer);
                if matches!(found.last(), Some(BootstrapAnswer::Run(..))) {
                    break;
                }
            }
            BootstrapFinding::Nothing => {
                let mut bytes = [0; 4096];
                match output.read(&mut bytes).expect("output") {
                    0 => break,
                    count => answers.push(&bytes[..count]),
                }
            }
            BootstrapFinding::Noise => panic!("{found:?}"),
        }
    }
    drop(input);
    let mut rest = answers.into_rest();
    output.read_to_end(&mut rest).expect("output");
    shell.wait().expect("our child");
    (found, String::from_utf8(rest).expect("text"))
}

/// Returns a program that takes more than a pipe holds in each form, and whose forms differ in length.
fn large_program() -> String {
    let mut state = 1_u64;
    let digits = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:08x}", state >> 32)
    });
    let digits: String = digits.take(20_000).collect();
    format!("{PROGRAM}exit\n#{digits}{digits}\n")
}

/// Returns a program as the tool codes it.
fn coded(tool: &str, program: &str) -> Vec<u8> {
    if tool == "cat" {
        return program.into();
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&file, program).expect("our file");
    Command::new(tool).arg("-c").arg(file.path()).output().expect(tool).stdout
}

#[test]
fn the_text_fits_between_quotes_and_in_one_line() {
    for installed in [None, Some("/opt/a b/$host".to_owned())] {
        let text = wanted(installed.clone()).text();
        assert!(!text.contains(['\'', '!', '\n']), "{text}");
        assert!(!text.contains("MARKmark1234"));
        assert!(installed.is_some() || text.contains(" /var/tmp /tmp"));
        assert!(text.len() < 2_800, "{}", text.len());
    }
}

#[test]
fn the_program_is_sent_once_and_found_later() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join(format!(".cache/agent-bash-host-{}/{}", nix::unistd::geteuid(), hash(PROGRAM)));
    let path = path.to_str().expect("text").to_owned();
    let machine = std::env::consts::ARCH.to_owned();
    let first = run(&wanted(None), home.path(), PROGRAM);
    assert_eq!(
        first,
        (
            vec![BootstrapAnswer::Send(machine, "cat".into()), BootstrapAnswer::Run(path.clone(), true)],
            format!("started by {path}\n")
        )
    );
    let later = run(&wanted(None), home.path(), "");
    assert_eq!(later, (vec![BootstrapAnswer::Run(path.clone(), false)], format!("started by {path}\n")));
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
    assert!(!answers.iter().any(|answer| matches!(answer, BootstrapAnswer::Run(..))) && rest.is_empty(), "{answers:?}");
    assert!(matches!(answers.last(), Some(BootstrapAnswer::None(places)) if places.contains("/.cache")));
    let ours = home.path().join(format!(".cache/agent-bash-host-{}", nix::unistd::geteuid()));
    assert_eq!(fs::read_dir(ours).expect("our directory").count(), 0);
}

/// What the text uses beside tools that hash and that decode.
const TOOLS: [&str; 12] = ["chmod", "head", "id", "ls", "mkdir", "mv", "printf", "rm", "uname", "wc", "sh", "cat"];

/// Makes a directory with these programs.
fn programs(home: &Path, names: &[&str]) -> String {
    let bin = home.join("bin");
    fs::create_dir(&bin).expect("our directory");
    for name in names {
        std::os::unix::fs::symlink(located(name).expect(name), bin.join(name)).expect("a link");
    }
    bin.to_str().expect("text").to_owned()
}

#[test]
fn without_a_tool_a_whole_program_tells_its_own_hash() {
    let length = PROGRAM.len() as u64;
    let own = |code| format!("#!/bin/sh\nif [ \"$1\" = sum ]; then exit {code}; fi\n{}", PROGRAM.split_at(10).1);
    for (sent, taken) in [(own(0), true), (own(1), false), (own(0)[..length as usize].to_owned(), false)] {
        let home = tempfile::tempdir().expect("a directory");
        let whole = own(0);
        let wanted = offering(&whole, vec![form(ProgramEncoding::Raw, whole.len())], None);
        let path = programs(home.path(), &TOOLS);
        let (answers, rest) = run_with(&wanted, home.path(), &|_| sent.clone().into_bytes(), &path);
        let (runs, started) =
            (matches!(answers.last(), Some(BootstrapAnswer::Run(_, true))), rest.starts_with("started by /"));
        assert_eq!((runs, started), (taken, taken), "{sent}: {answers:?}");
        let ours = home.path().join(format!(".cache/agent-bash-host-{}", nix::unistd::geteuid()));
        assert_eq!(fs::read_dir(ours).expect("our directory").count(), usize::from(taken));
    }
}

/// The shells that may be `/bin/sh`. Those of this machine are tried.
const SHELLS: [&[&str]; 5] = [&["sh"], &["bash", "--posix"], &["dash"], &["zsh", "--emulate", "sh"], &["mksh"]];

/// Returns the path of a program of this machine.
fn located(program: &str) -> Option<PathBuf> {
    ["/bin", "/usr/bin"].map(|place| Path::new(place).join(program)).into_iter().find(|file| file.exists())
}

fn executable(file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(file, text).expect("our file");
    fs::set_permissions(file, PermissionsExt::from_mode(0o700)).expect("our file");
}

/// Runs the text by each shell, with these decoders on the PATH, and these that fail. Returns the tools for which it
/// wants the program, and whether that runs.
fn asked_for(decoders: &[&str], failing: &[&str], damaged: bool) -> (Vec<String>, bool) {
    let program = large_program();
    let [xz, gzip] = ["xz", "gzip"].map(|tool| coded(tool, &program));
    let forms = vec![form(ProgramEncoding::Gzip, gzip.len()), form(ProgramEncoding::Xz, xz.len())];
    let wanted = offering(&program, forms, None);
    let sent = |tool: &str| {
        let mut bytes = coded(tool, &program);
        let middle = bytes.len() / 2;
        bytes[middle] ^= u8::from(damaged);
        bytes
    };
    let in_shell = |shell: &&[&str]| {
        let home = tempfile::tempdir().expect("a directory");
        let path = programs(home.path(), &[&TOOLS[..], &["sha256sum"], decoders].concat());
        for name in failing {
            executable(&Path::new(&path).join(name), "#!/bin/sh\necho half\nexit 1\n");
        }
        let (answers, rest) = run_by(shell, &wanted, home.path(), &sent, &path);
        let ours = home.path().join(format!(".cache/agent-bash-host-{}", nix::unistd::geteuid()));
        let runs = matches!(answers.last(), Some(BootstrapAnswer::Run(_, true)));
        let left = fs::read_dir(ours).expect("our directory").count();
        assert_eq!((rest.starts_with("started by /"), left), (runs, usize::from(runs)), "{shell:?}");
        let tool = |answer| if let BootstrapAnswer::Send(_, tool) = answer { Some(tool) } else { None };
        (answers.into_iter().filter_map(tool).collect::<Vec<_>>(), runs)
    };
    let mut all: Vec<_> = SHELLS.iter().filter(|shell| located(shell[0]).is_some()).map(in_shell).collect();
    all.dedup();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn the_shortest_form_is_sent_whose_tool_is_there() {
    for (decoders, tool) in [(&["gzip", "xz"][..], "xz"), (&["gzip"], "gzip"), (&[], "cat")] {
        assert_eq!(asked_for(decoders, &[], false), (vec![tool.to_owned()], true));
    }
}

#[test]
fn after_a_tool_that_fails_the_next_form_is_sent() {
    for (decoders, failing, tools) in [
        (&["gzip"][..], &["xz"][..], &["xz", "gzip"][..]),
        (&[], &["xz"], &["xz", "cat"]),
        (&[], &["xz", "gzip"], &["xz", "gzip", "cat"]),
    ] {
        let tools: Vec<_> = tools.iter().map(|tool| (*tool).to_owned()).collect();
        assert_eq!(asked_for(decoders, failing, false), (tools, true));
    }
}

#[test]
fn busybox_decodes_by_programs_of_its_own() {
    if located("busybox").is_none() {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let program = large_program();
    let wanted = offering(&program, vec![form(ProgramEncoding::Xz, coded("xz", &program).len())], None);
    let path = programs(home.path(), &[]);
    std::os::unix::fs::symlink(located("busybox").expect("it"), Path::new(&path).join("sh")).expect("a link");
    let (answers, _) = run_by(&["busybox", "sh"], &wanted, home.path(), &|tool| coded(tool, &program), &path);
    assert!(matches!(answers.last(), Some(BootstrapAnswer::Run(_, true))), "{answers:?}");
}

#[test]
fn damaged_forms_are_asked_for_once_in_each_place() {
    let all = ["xz", "gzip", "cat"].map(str::to_owned).to_vec();
    assert_eq!(asked_for(&["gzip", "xz"], &[], true), (all, false));
}

#[test]
fn a_link_that_ends_within_a_form_leaves_nothing() {
    let home = tempfile::tempdir().expect("a directory");
    let program = large_program();
    let xz = coded("xz", &program);
    let wanted = offering(&program, vec![form(ProgramEncoding::Xz, xz.len())], None);
    let (answers, _) = run_with(&wanted, home.path(), &|_| xz[..xz.len() / 2].to_vec(), "/usr/bin:/bin");
    assert!(matches!(answers[..], [BootstrapAnswer::Send(..), BootstrapAnswer::None(_)]), "{answers:?}");
    let ours = home.path().join(format!(".cache/agent-bash-host-{}", nix::unistd::geteuid()));
    assert_eq!(fs::read_dir(ours).expect("our directory").count(), 0);
}

#[test]
fn a_home_that_does_not_exist_is_not_made() {
    let above = tempfile::tempdir().expect("a directory");
    let home = above.path().join("home");
    let (answers, _) = run(&wanted(None), &home, &PROGRAM.replace("started", "starten"));
    assert!(matches!(answers.last(), Some(BootstrapAnswer::None(_))), "{answers:?}");
    assert!(!home.exists());
}

#[test]
fn a_program_that_is_not_here_is_found_there_and_never_asked_for() {
    let home = tempfile::tempdir().expect("a directory");
    let absent = offering(PROGRAM, Vec::new(), None);
    let (answers, _) = run(&absent, home.path(), "");
    assert!(
        matches!(&answers[..], [BootstrapAnswer::Unsupported(system)] if system.starts_with("Linux ")),
        "{answers:?}"
    );
    run(&wanted(None), home.path(), PROGRAM);
    assert!(matches!(run(&absent, home.path(), "").0[..], [BootstrapAnswer::Run(_, false)]));
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
    assert!(matches!(&answers[..], [BootstrapAnswer::None(_)]), "{answers:?}");
    assert_eq!(fs::read_dir(&elsewhere).expect("our directory").count(), 0);
}

#[test]
fn an_installed_program_is_checked_and_nothing_is_sent() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("a $host");
    let path_text = path.to_str().expect("text").to_owned();
    let wanted = wanted(Some(path_text.clone()));
    assert_eq!(run(&wanted, home.path(), ""), (vec![BootstrapAnswer::Hash], String::new()));
    for (program, expected) in
        [(PROGRAM, BootstrapAnswer::Run(path_text, false)), ("#!/bin/sh\necho other\n", BootstrapAnswer::Hash)]
    {
        fs::write(&path, program).expect("our file");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).expect("our file");
        assert_eq!(run(&wanted, home.path(), "").0, [expected]);
    }
}

#[test]
fn where_nothing_but_a_shell_is_an_installed_program_tells_its_own_hash() {
    for (code, expected) in [(0, true), (1, false)] {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("host");
        executable(&file, &format!("#!/bin/sh\nif [ \"$1\" = sum ]; then exit {code}; fi\n{}", PROGRAM.split_at(10).1));
        let path = file.to_str().expect("text").to_owned();
        let (answers, rest) = run_with(&wanted(Some(path.clone())), home.path(), &|_| Vec::new(), "/nowhere");
        let found = if expected { BootstrapAnswer::Run(path, false) } else { BootstrapAnswer::Hash };
        assert_eq!((answers, rest.starts_with("started by /")), (vec![found], expected));
    }
}

#[test]
fn a_system_without_a_program_is_told() {
    let program = TargetProgram { machine: "riscv64".into(), sha256: "0".repeat(64), bytes: 1, forms: Vec::new() };
    let wanted = BootstrapScript { programs: vec![program], ..wanted(None) };
    let (answers, _) = run(&wanted, Path::new("/"), "");
    assert!(
        matches!(&answers[..], [BootstrapAnswer::Unsupported(system)] if system.starts_with("Linux ")),
        "{answers:?}"
    );
}

#[test]
fn noise_before_the_mark_is_skipped_up_to_64_kib_under_any_split() {
    let noise = "Welcome!\r\n".repeat(6_000);
    let said = format!("{noise}half a line MARK run /no 0\nMARK run /the path 1\r\nframes");
    for step in [1, 7, said.len()] {
        let mut answers = BootstrapAnswerReader::new("MARK");
        let mut found = None;
        for part in said.as_bytes().chunks(step) {
            answers.push(part);
            match answers.next_answer() {
                BootstrapFinding::Answer(answer) => found = Some(answer),
                BootstrapFinding::Nothing => {}
                BootstrapFinding::Noise => panic!("too early"),
            }
        }
        assert_eq!(found, Some(BootstrapAnswer::Run("/the path".into(), true)));
        assert_eq!(answers.into_rest(), b"frames");
    }
    let mut answers = BootstrapAnswerReader::new("MARK");
    answers.push(&vec![b'x'; MAX_NOISE + 1]);
    assert_eq!(answers.next_answer(), BootstrapFinding::Noise);
    // Also in lines that arrive with the mark.
    let mut answers = BootstrapAnswerReader::new("mark");
    answers.push(&[&b"y\n".repeat(MAX_NOISE / 2 + 1)[..], b"mark run /p 0\n"].concat());
    assert_eq!(answers.next_answer(), BootstrapFinding::Noise);
    let mut answers = BootstrapAnswerReader::new("MARK");
    answers.push(b"MARK nonsense\n");
    assert_eq!(answers.next_answer(), BootstrapFinding::Noise);
}
