//! Files of worlds.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;

use super::super::testing::{WorldTestScene, end, isolated, run_in, users, users_and_watches};
use super::super::{WorldHostPaths, build};
use super::{check, give};
use confine_policy::{CacheAccess, ConfinementPolicy, ReadScope, TmpPlacement};

#[test]
fn a_command_changes_the_write_root_alone() {
    for user in users() {
        let scene = WorldTestScene::below(Path::new("/var"), user);
        let out = scene.outside.join("file");
        fs::write(&out, "x").expect("written");
        let own = format!("{}", out.display());
        let directory = scene.outside.display().to_string();
        check(
            &scene,
            &scene.policy(),
            &[
                ("echo a > file && test $(cat file) = a && mkdir d && mv file d/f && rm -r d", true),
                (&format!("test $(cat {own}) = x"), true),
                (&format!("echo a > {own}"), false),
                (&format!("chmod 777 {own}"), false),
                (&format!("touch {own}"), false),
                (&format!("rm -f {own}"), false),
                (&format!("touch {directory}/new"), false),
                (&format!("mv {own} ."), false),
                (&format!("ln {own} hard"), false),
                (&format!("ln -s {own} soft && echo a > soft"), false),
                ("touch /etc/new", false),
                ("touch /dev/new", false),
                ("mkdir /new", false),
                ("echo 1 > /proc/sys/kernel/core_pattern", false),
                ("echo h > /proc/sysrq-trigger", false),
                ("echo a > /sys/kernel/new", false),
                ("touch /tmp/new /var/tmp/new /dev/shm/new && rm /tmp/new /var/tmp/new /dev/shm/new", true),
                ("mknod node c 1 3", false),
                ("chroot / true", false),
                ("mount -t tmpfs none /tmp", false),
                ("umount /proc", false),
                ("echo a > /dev/null && head -c1 /dev/zero >/dev/null && head -c1 /dev/urandom >/dev/null", true),
                ("test -e /dev/vda || test -e /dev/mem || test -e /dev/kmsg", false),
                ("script -qc true /dev/null", true),
            ],
        );
        assert_eq!(fs::read_to_string(&out).expect("read"), "x");
    }
}

#[test]
fn a_write_root_below_tmp_is_visible_and_the_rest_of_tmp_is_private() {
    for user in users() {
        let scene = WorldTestScene::below(Path::new("/tmp"), user);
        let (root, outside) = (scene.root.display(), scene.outside.display());
        let script = format!(
            "pwd; echo in > file; test -e {outside} || echo private; echo t > /tmp/mine; cd /tmp && ls -A; cd {root} && cat file"
        );
        let (output, code) = scene.run(&scene.policy(), &script);
        let parent = scene.root.parent().and_then(Path::file_name).expect("a name").to_string_lossy();
        let mut listed = ["mine", &parent];
        listed.sort_unstable();
        assert_eq!(output, format!("{root}\nprivate\n{}\n{}\nin\n", listed[0], listed[1]), "{code}");
        assert!(scene.root.join("file").exists() && !Path::new("/tmp/mine").exists());
        assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0, "files of the world are left");
    }
}

#[test]
fn hidden_paths_can_be_neither_read_nor_listed() {
    for user in users() {
        let scene = WorldTestScene::below(Path::new("/var"), user);
        let (secrets, token) = (scene.outside.join("secrets"), scene.root.join("token"));
        fs::create_dir(&secrets).expect("made");
        fs::write(secrets.join("key"), "secret").expect("written");
        fs::write(&token, "secret").expect("written");
        fs::write(scene.root.join("other"), "").expect("written");
        give(&scene);
        let hide = vec![secrets.clone(), token, scene.outside.join("missing")];
        let policy = ConfinementPolicy { hide, ..scene.policy() };
        let secrets = secrets.display();
        check(
            &scene,
            &policy,
            &[
                (&format!("cat {secrets}/key"), false),
                (&format!("ls {secrets}"), false),
                (&format!("cd {secrets}"), false),
                (&format!("chmod 777 {secrets}"), false),
                (&format!("touch {secrets}/x"), false),
                ("cat token", false),
                ("chmod 777 token", false),
                ("rm -f token", false),
                ("mv token t", false),
                ("cat other", true),
                (&format!("ls {}", scene.state.display()), false),
            ],
        );
    }
}

#[test]
fn only_listed_paths_can_be_read() {
    for user in users() {
        let scene = WorldTestScene::below(Path::new("/var"), user);
        let shown = scene.outside.join("shown");
        fs::create_dir(&shown).expect("made");
        fs::write(shown.join("file"), "").expect("written");
        fs::write(scene.outside.join("file"), "").expect("written");
        let policy = ConfinementPolicy { read: ReadScope::Only(vec![shown.clone()]), ..scene.policy() };
        let (shown, outside) = (shown.display(), scene.outside.display());
        check(
            &scene,
            &policy,
            &[
                (&format!("cat {shown}/file"), true),
                (&format!("cat {outside}/file"), false),
                (&format!("test -e {outside}/file"), false),
                (&format!("touch {shown}/new"), false),
                ("ls /root /home /srv", false),
                ("ls /usr && cat /etc/hostname && ls -la / && ls /proc/self", true),
                ("echo a > file && cat file && mkdir -p a/b", true),
                ("touch /tmp/a && rm /tmp/a", true),
            ],
        );
    }
}

#[test]
fn files_of_results_can_be_read_at_their_path() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        let (kept, other) = (scene.outside.join("kept"), scene.outside.join("other"));
        [&kept, &other].into_iter().for_each(|path| fs::create_dir(path).expect("made"));
        fs::write(kept.join("log"), "text").expect("written");
        let policy = ConfinementPolicy { hide: vec![scene.outside.clone()], ..scene.policy() };
        let script = format!("cat {0}/log; touch {0}/log; ls {1}", kept.display(), other.display());
        let (output, _) = isolated(user, || {
            let place = WorldHostPaths { state: &scene.state, readable: std::slice::from_ref(&kept), watches: true };
            let world = build(&policy, &place).expect("a world");
            let result = run_in(&world, &scene.root, &script);
            end(world);
            result
        });
        assert!(output.starts_with("text") && output.matches("annot").count() == 2, "{output}");
    }
}

#[test]
fn caches_are_readable_and_changes_end_with_the_world() {
    for user in users() {
        let scene = WorldTestScene::below(Path::new("/var"), user);
        let cache = scene.outside.join("ca,c:he");
        fs::create_dir(&cache).expect("made");
        fs::write(cache.join("old"), "old").expect("written");
        chown(&cache, user, user).expect("given");
        chown(cache.join("old"), user, user).expect("given");
        let policy = |kind| ConfinementPolicy { caches: (kind, vec![cache.clone()]), ..scene.policy() };
        let script = format!(
            "cd {} && cat old && echo new > new && echo more >> old && cat old new && rm old && ls",
            cache.display()
        );
        let (output, code) = scene.run(&policy(CacheAccess::Overlay), &script);
        assert_eq!((output.as_str(), code), ("oldoldmore\nnew\nnew\n", 0));
        assert_eq!(fs::read_to_string(cache.join("old")).expect("read"), "old");
        assert!(!cache.join("new").exists());
        assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0, "files of the world are left");
        check(&scene, &policy(CacheAccess::None), &[(&format!("touch {}/new", cache.display()), false)]);
        check(&scene, &policy(CacheAccess::Shared), &[(&format!("touch {}/new", cache.display()), true)]);
        assert!(cache.join("new").exists());
    }
}

#[test]
fn a_write_root_may_be_a_file_and_tmp_may_be_shared() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        let file = scene.outside.join("file");
        fs::write(&file, "").expect("written");
        chown(&file, user, user).expect("given");
        let policy = ConfinementPolicy { write: vec![file.clone()], tmp: TmpPlacement::Shared, ..scene.policy() };
        let script = format!("echo a > {} && cat {0}; touch {}/x", file.display(), scene.outside.display());
        let (output, code) = scene.run(&policy, &script);
        assert_eq!((output.as_str(), code), ("a\n", 0), "everything in /tmp may be changed");
        assert_eq!(fs::read_to_string(&file).expect("read"), "a\n");
        let policy = ConfinementPolicy { write: vec![file], ..scene.policy() };
        let (output, code) = scene.run(&policy, &script);
        assert_eq!((output.as_str(), code), ("a\n", 0), "the rest of /tmp is private");
        assert!(fs::remove_file(scene.outside.join("x")).is_ok());
        assert!(!scene.outside.join("x").exists());
    }
}

#[test]
fn a_hidden_file_stays_hidden_when_the_host_replaces_it() {
    for (user, watches) in users_and_watches() {
        let scene = WorldTestScene::below(Path::new("/var"), user).with_watches(watches);
        let (token, later) = (scene.outside.join("token"), scene.outside.join("a/later"));
        fs::write(&token, "secret").expect("written");
        let policy = ConfinementPolicy { hide: vec![token.clone(), later.clone()], ..scene.policy() };
        let script = format!("cat {} {}", token.display(), later.display());
        let output = isolated(user, || {
            let world = scene.world(&policy);
            let new = scene.outside.join("new");
            fs::write(&new, "secret").expect("written");
            fs::rename(&new, &token).expect("replaced");
            fs::create_dir(scene.outside.join("a")).expect("made");
            run_in(&world, &scene.root, "true");
            fs::write(&later, "secret").expect("written");
            let (output, _) = run_in(&world, &scene.root, &script);
            end(world);
            output
        });
        assert!(!output.contains("secret"), "{output}");
    }
}
