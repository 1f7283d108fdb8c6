//! Listeners in worlds, where mounts bound their own creations.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use nix::sys::wait::{WaitStatus, waitpid};

use super::{ListenerLink, ListenerReport, ListenerSettings, serve};
use confine_policy::{ConfinementPolicy, DenialKind, DraftedDirectory, DraftedTree, SuggestedGrant};
use confine_world::{ConfinedWorld, filter, testing::WorldTestScene, testing::end, testing::isolated, testing::users};
use sys::{ForkOutcome, SyscallArchitecture, WorldEntrance};

/// Starts the listener of a shim in a world.
fn listen(
    world: &ConfinedWorld,
    entrance: &WorldEntrance,
    settings: ListenerSettings,
) -> (ListenerLink, nix::unistd::Pid) {
    let spaces = world.namespaces.as_ref().expect("namespaces");
    let (link, ends) = ListenerLink::pair().expect("a pair");
    match sys::fork_into(spaces.user.as_fd(), spaces.processes.as_fd()).expect("forked") {
        ForkOutcome::Child => {
            drop(link);
            sys::enter_world(entrance).expect("entered");
            serve(ends, settings, None)
        }
        ForkOutcome::Parent(pid) => (link, pid),
    }
}

/// Runs a script in a world of its own, with the filter and a listener. Returns its output and its denials.
fn run(scene: &WorldTestScene, policy: &ConfinementPolicy, script: &str) -> (String, ListenerReport) {
    isolated(scene.user, || {
        let world = scene.world(policy);
        world.refresh().expect("refreshed");
        let entrance = world.entrance().expect("an entrance");
        let settings = ListenerSettings::sample(policy.clone());
        let (link, listener) = listen(&world, &entrance, settings);
        let message = link.begin_message(1, &world.name_guards()).expect("begun");
        let filter =
            filter::program(SyscallArchitecture::HERE.expect("a machine"), filter::SyscallFilterMode::Confined);
        let spaces = world.namespaces.as_ref().expect("namespaces");
        let (read, write) = sys::pipe().expect("a pipe");
        match sys::fork_into(spaces.user.as_fd(), spaces.processes.as_fd()).expect("forked") {
            ForkOutcome::Child => {
                let entered = sys::enter_world(&entrance)
                    .and_then(|()| nix::unistd::chdir(&scene.root).map_err(|errno| errno as i32))
                    .and_then(|()| sys::give_up_privileges(entrance.landlock))
                    .and_then(|()| sys::install_filter(&filter, Some((link.descriptor(), &message))));
                entered.expect("entered");
                nix::unistd::dup2_stdout(&write).expect("output");
                nix::unistd::dup2_stderr(&write).expect("output");
                let words = ["/bin/bash", "-c", script].map(|word| CString::new(word).expect("a word"));
                let _ = nix::unistd::execv(&words[0], &words);
                sys::exit_now(127)
            }
            ForkOutcome::Parent(child) => {
                drop(write);
                world.keep_for(child).expect("kept");
                let mut output = String::new();
                File::from(read).read_to_string(&mut output).expect("read");
                waitpid(child, None).expect("reaped");
                let report = link.end_command(1).expect("a report").unwrap_or_default();
                drop(link);
                assert!(matches!(waitpid(listener, None), Ok(WaitStatus::Exited(_, 0))));
                end(world);
                (output, report)
            }
        }
    })
}

/// Asserts that each line of a script has the expected exit code. Returns the denials.
fn check(scene: &WorldTestScene, policy: &ConfinementPolicy, lines: &[(&str, bool)]) -> ListenerReport {
    let script: String = lines.iter().map(|(line, _)| format!("({line}) 2>&1; echo; echo \"=$?\"\n")).collect();
    let script = script.replace("; echo; echo \"=$?\"", "; c=$?; echo; echo \"=$c\"");
    let (output, report) = run(scene, policy, &script);
    let mut parts = output.split("\n=");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for (line, succeeds) in lines {
        let (code, rest) = parts.next().expect(line).split_once('\n').expect("a line");
        assert_eq!(code == "0", *succeeds, "user {:?}: {line}: {said} {code}", scene.user);
        rest.clone_into(&mut said);
    }
    report
}

#[test]
fn ordinary_work_goes_on_and_guarded_names_stay_free() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        let report = check(
            &scene,
            &scene.policy(),
            &[
                ("echo a > x && mkdir -p a/b && mv x a/b && cp -a a c && ln a/b/x d && ln -s d e && rm -r c", true),
                ("echo out > /dev/stdout; echo err > /dev/stderr; echo n > /dev/null", true),
                ("exec > file; echo a > /dev/stdout; cat <<< here", true),
                ("mkfifo f && (cat f > got & echo through > f; wait) && grep -q through got", true),
                ("cat <(echo x) > got && tee >(cat > other) < got", true),
                ("umask 077 && touch private && test \"$(stat -c %a private)\" = 600", true),
                ("python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, 2]))'", true),
                (
                    "git init -q r && cd r && git config user.email e && git config user.name n && \
                  touch a && git add a && git commit -qm m && git checkout -qb b && git gc -q",
                    true,
                ),
                ("mkdir -m 2755 g && test -g g && git init -q --shared shared && cp -a g h", true),
                ("ln -s /etc/hostname link && cp -a link copied && touch -h copied", true),
                ("echo s > /tmp/s && mktemp && touch /dev/shm/x", true),
                ("tar cf t.tar a && mkdir u && tar xf t.tar -C u && find u -name x | xargs chmod 600", true),
                (
                    "perl -e 'use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Local => \"/tmp/sock\", Listen => 1) \
                  or die; my $c = IO::Socket::UNIX->new(Peer => \"/tmp/sock\") or die; $s->accept or die'",
                    true,
                ),
            ],
        );
        assert_eq!(report, ListenerReport::default(), "{user:?}");
        let report = check(
            &scene,
            &scene.policy(),
            &[
                ("touch .envrc", false),
                ("mkdir .vscode", false),
                ("mkdir z && mv z .idea", false),
                ("ln -s /etc/passwd .mcp.json", false),
                ("mkdir sub && cd sub && touch ../.npmrc", false),
                ("python3 -c 'import os; os.open(\".envrc\", os.O_CREAT | os.O_WRONLY)'", false),
            ],
        );
        assert_eq!(report.denials.total, 6, "{report:?}");
        assert!(report.denials.listed.iter().all(|one| one.kind == DenialKind::Write && one.grant.is_none()));
        assert!(fs::symlink_metadata(scene.root.join(".envrc")).is_err());
    }
}

#[test]
fn refused_changes_outside_are_recorded_with_their_grant() {
    for user in users() {
        let scene = WorldTestScene::below(Path::new("/var"), user);
        let outside = scene.outside.clone();
        fs::write(outside.join("file"), "x").expect("written");
        std::os::unix::fs::chown(outside.join("file"), user, user).expect("given away");
        let at = |name: &str| outside.join(name).display().to_string();
        let (file, new) = (at("file"), at("new"));
        let lines = [
            format!("echo a | tee {file}"),
            format!("echo a >> {file}"),
            format!("touch {new}"),
            format!("mkdir {new}"),
            format!("rm -f {file}"),
            format!("mv {file} {new}"),
            format!("chmod 777 {file}"),
            format!("ln -s x {new}"),
            format!("python3 -c 'open(\"{file}\", \"r+\")'"),
            format!("truncate -s 0 {file}"),
        ];
        let lines: Vec<(&str, bool)> = lines.iter().map(|line| (line.as_str(), false)).collect();
        let report = check(&scene, &scene.policy(), &lines);
        let denials = &report.denials;
        assert!(denials.total >= 10, "{user:?} {report:?}");
        for one in &denials.listed {
            assert_eq!(one.kind, DenialKind::Write, "{one:?}");
            let granted =
                if Path::new(&one.target) == Path::new(&file) { file.clone() } else { outside.display().to_string() };
            assert_eq!(one.grant, Some(SuggestedGrant::Write(granted)), "{one:?}");
        }
        let tee = denials.listed.iter().find(|one| one.program == "tee").expect("tee");
        assert_eq!(tee.target, file);
    }
}

#[test]
fn sockets_of_the_host_and_other_addresses_are_out_of_reach() {
    for user in users() {
        let scene = WorldTestScene::below(Path::new("/var"), user);
        let path = scene.outside.join("host");
        let host = UnixListener::bind(&path).expect("bound");
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("open to all");
        host.set_nonblocking(true).expect("set");
        let connect =
            format!("python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}\")'", path.display());
        let report = check(
            &scene,
            &scene.policy(),
            &[
                (&connect, false),
                ("python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 443), 2)'", false),
                ("python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)'", false),
                ("mount -t tmpfs none /mnt", false),
                ("unshare -Ur true", false),
            ],
        );
        assert_eq!(host.accept().err().map(|error| error.kind()), Some(std::io::ErrorKind::WouldBlock));
        let has = |kind, target: &str| report.denials.listed.iter().any(|one| one.kind == kind && one.target == target);
        assert!(has(DenialKind::Network, &path.display().to_string()), "{report:?}");
        assert!(has(DenialKind::Network, "192.0.2.1:443"), "{report:?}");
        assert!(has(DenialKind::Syscall, "socket") && has(DenialKind::Syscall, "unshare"), "{report:?}");
    }
}

#[test]
fn directories_of_a_draft_are_renamed_as_in_the_directory_itself() {
    let rename = |from: &str, to: &str| format!("python3 -c 'import os; os.rename(\"{from}\", \"{to}\")'");
    for user in users() {
        let scene = WorldTestScene::new(user);
        let policy = isolated(user, || {
            let room = scene.outside.join("room");
            let drafted =
                DraftedDirectory { base: scene.root.clone(), upper: room.join("upper"), work: room.join("work") };
            for path in [&drafted.upper, &drafted.work, &scene.root.join("old/in/deep"), &scene.root.join("empty")] {
                fs::create_dir_all(path).expect("a directory");
            }
            fs::create_dir_all(scene.root.join("locked/shut")).expect("a directory");
            let files = ["a", "b", "c", "x", "y", "z"].map(|name| format!("locked/{name}"));
            let files = files.iter().map(String::as_str).chain(["old/a", "old/in/b", "old/in/deep/c"]);
            for path in files {
                fs::write(scene.root.join(path), path).expect("a file");
            }
            fs::set_permissions(scene.root.join("locked/shut"), fs::Permissions::from_mode(0o000)).expect("closed");
            let draft = Some(DraftedTree { room, generation: 0, max_bytes: 1 << 30, directories: vec![drafted] });
            ConfinementPolicy { draft, ..scene.policy() }
        });
        let lines = [
            ("chmod 750 old/in; touch -d 2001-02-03 old/in; ln old/a old/hard; mkfifo old/pipe".to_owned(), true),
            (rename("old", "new"), true),
            (
                "[ ! -e old ] && [ \"$(cat new/a new/in/b new/in/deep/c)\" = old/aold/in/bold/in/deep/c ]".to_owned(),
                true,
            ),
            (
                "[ \"$(stat -c '%a %y' new/in | cut -c1-14)\" = '750 2001-02-03' ] && echo >>new/hard && cmp new/a new/hard"
                    .to_owned(),
                true,
            ),
            (rename("new", "empty"), true),
            ("mkdir full && touch full/x".to_owned(), true),
            (rename("empty", "full"), false),
            (rename("empty", "empty/below"), false),
            (rename("empty", "full/x"), false),
            (rename("empty/in", "in"), true),
            ("ls -A | tr '\\n' ' ' | grep -qx 'empty full in locked '".to_owned(), true),
        ];
        let lines: Vec<_> = lines.iter().map(|(line, succeeds)| (line.as_str(), *succeeds)).collect();
        let report = check(&scene, &policy, &lines);
        assert_eq!(report, ListenerReport::default(), "{user:?}");
        // A directory that cannot be read is moved by no copy, so everything that was moved before it goes back.
        let lines = [
            (rename("locked", "other"), false),
            ("[ ! -e other ] && [ \"$(ls locked | tr '\\n' ' ')\" = 'a b c shut x y z ' ]".to_owned(), true),
            ("ls -A | grep -q agent-bash".to_owned(), false),
        ];
        let lines: Vec<_> = lines.iter().map(|(line, succeeds)| (line.as_str(), *succeeds)).collect();
        check(&scene, &policy, &lines);
        assert!(scene.root.join("old/in/deep/c").exists() && !scene.root.join("full").exists());
    }
}
