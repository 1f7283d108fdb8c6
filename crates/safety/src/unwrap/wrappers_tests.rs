//! Wrappers from the table and those with a reading of their own.

use super::testing::{check, found, input, shown};
use super::{CustomWrappers, WrapperKind};

#[test]
fn the_words_behind_a_wrapper_are_a_command() {
    check(&[
        ("sudo -u root -E A=1 rm -rf /", "", "sudo: A=1 rm -rf /"),
        ("/usr/bin/sudo -nu root -- rm x", "", "sudo: rm x"),
        ("sudo -D /srv make", "", "sudo in /srv: make"),
        ("sudo A=1 -u root rm x", "", "sudo: A=1 rm x"),
        ("sudo -l rm", "", ""),
        ("sudo -e /etc/hosts", "", ""),
        ("sudo -s 'rm x'", "", "sudo: rm x\nsudo?: {rm x}"),
        ("doas -u me rm x", "", "doas: rm x"),
        ("env -i -u HOME A=1 B=<?> git add -A", "", "env: A=1 B=<?> git add -A"),
        ("env - A=1 git push", "", "env: A=1 git push"),
        ("env -C sub git add .", "", "env in sub: git add ."),
        ("env", "", ""),
        ("env -S 'rm -rf' /", "", "env -S: env rm -rf /"),
        ("env -C / -S 'git add' .", "", "env -S: env -C / git add ."),
        ("env -vS 'A=1 rm' -rf /", "", "env -S: env A=1 rm -rf /"),
        ("nice -n 5 rm x", "", "nice: rm x"),
        ("nice -10 rm x", "", "nice: rm x"),
        ("ionice -c3 rm x", "", "ionice: rm x"),
        ("ionice -c 2 -n 7 rm x", "", "ionice: rm x"),
        ("ionice -p 12", "", ""),
        ("chrt -f 10 rm x", "", "chrt: rm x"),
        ("taskset -c 0,1 rm x", "", "taskset: rm x"),
        ("nohup rm x", "", "nohup: rm x"),
        ("timeout -k 5 -s KILL 10m rm x", "", "timeout: rm x"),
        ("timeout --signal=KILL 10 rm x", "", "timeout: rm x"),
        ("time -p rm x", "", "time: rm x"),
        ("setsid -f rm x", "", "setsid: rm x"),
        ("stdbuf -oL -e 0 rm x", "", "stdbuf: rm x"),
        ("command -p rm x", "", "command: rm x"),
        ("command -v rm", "", ""),
        ("builtin eval 'rm x'", "", "builtin: eval rm x"),
        ("exec -a name rm x", "", "exec: rm x"),
        ("busybox rm -rf /", "", "busybox: rm -rf /"),
        ("strace -f -e trace=file -o out rm x", "", "strace: rm x"),
        ("strace -p 12", "", ""),
        ("gdb -batch -ex run --args rm x", "", "gdb: rm x"),
        ("gdb -batch -ex 'shell rm x'", "", "gdb: {rm x}"),
        ("make -f - all", "all:\n\t@rm x\n\techo $$HOME $(A)\n", "make: {rm x\necho $HOME <*>\n}"),
        ("make --eval 'a: ; rm x' a", "", "make: {rm x}"),
        ("make -f Makefile", "all:\n\trm x", ""),
        ("konsole -e rm x", "", "konsole: rm x"),
        ("gdb prog core", "", ""),
        ("perf stat -r 5 -- rm x", "", "perf stat: rm x"),
        ("perf report", "", ""),
        ("systemd-run --user --scope -p CPUQuota=10% rm x", "", "systemd-run: rm x"),
        ("xvfb-run -a --server-args='-screen 0' rm x", "", "xvfb-run: rm x"),
        ("flock -n /tmp/l rm x", "", "flock: rm x"),
        ("flock /tmp/l -c 'rm x'", "", "flock -c: {rm x}"),
        ("script -qc 'rm x' /dev/null", "", "script -c: {rm x}"),
        ("script -q /dev/null rm x", "", "script: rm x"),
        ("chroot /mnt rm x", "", "chroot@: rm x"),
        ("unshare -r rm x", "", "unshare: rm x"),
        ("watch -n 5 'git add' -A", "", "watch: {git add -A}"),
        ("tmux send-keys -t 0 'git add' Space . Enter", "", "tmux send-keys?: {git add .\n}"),
        ("tmux new -d -s x 'rm x'", "", "tmux new: {rm x}"),
        ("screen -S a -X stuff 'rm x^M'", "", "screen -X?: {rm x\n}"),
        ("screen -dmS name rm x", "", "screen: rm x"),
        ("watch -x git add -A", "", "watch: git add -A"),
        ("entr -r make x", "", "entr: make x"),
        ("entr -s 'make x'", "", "entr: {make x}"),
        ("hyperfine -w 3 -p 'rm y' 'rm x' ls", "", "hyperfine -p: {rm y}\nhyperfine: {rm x}\nhyperfine: {ls}"),
        ("nodemon -w src --exec 'rm x' a.js", "", "nodemon --exec: rm x a.js"),
        ("faketime '2020-01-01 00:00' rm x", "", "faketime: rm x"),
        ("capsh --drop=all -- -c 'rm x'", "", "capsh: bash -c rm x"),
    ]);
}

#[test]
fn so_are_those_behind_tools_of_languages() {
    check(&[
        ("npx -y rimraf dist", "", "npx: rimraf dist"),
        ("npx -c 'rm x'", "", "npx -c: {rm x}"),
        ("npm exec -- rm x", "", "npm exec: rm x"),
        ("npm --prefix web exec -c 'rm x'", "", "npm exec -c: {rm x}"),
        ("npm install git", "", ""),
        ("pnpm dlx rm x", "", "pnpm dlx: rm x"),
        ("pnpm -r exec rm x", "", "pnpm exec: rm x"),
        ("yarn exec rm x", "", "yarn exec: rm x"),
        ("bun x rm x", "", "bun x: rm x"),
        ("poetry run rm x", "", "poetry run: rm x"),
        ("uv run --with x python a.py", "", "uv run: python a.py"),
        ("uv pip install git", "", ""),
        ("uvx ruff check", "", "uvx: ruff check"),
        ("conda run -n base rm x", "", "conda run: rm x"),
        ("bundle exec rm x", "", "bundle exec: rm x"),
        ("direnv exec . rm x", "", "direnv exec: rm x"),
        ("mise exec node@20 -- rm x", "", "mise exec: rm x"),
        ("asdf exec rm x", "", "asdf exec: rm x"),
        ("just --command rm x", "", "just: rm x"),
        ("nix-shell -p git --run 'rm x'", "", "nix-shell --run: {rm x}"),
        ("nix-shell -p git", "", ""),
        ("shx rm -rf x", "", "shx: rm -rf x"),
        ("rimraf@5 x", "", "rimraf: rm -rf -- x"),
        ("tsx@latest -e 'execSync(\"rm x\")'", "", "tsx -e: {rm x}"),
        ("nix-shell --run 'rm x'", "", "nix-shell --run: {rm x}"),
        ("nix develop -c rm x", "", "nix develop: rm x"),
        ("dotenv -f .env -- rm x", "", "dotenv: rm x"),
        ("dotenv run rm x", "", "dotenv run: rm x"),
        ("cross-env A=1 rm x", "", "cross-env: A=1 rm x"),
        ("concurrently -k 'rm x' 'ls'", "", "concurrently: {rm x}\nconcurrently: {ls}"),
        ("cargo build", "", ""),
        ("cmake -E env A=1 rm x", "", "cmake env: A=1 rm x"),
        ("cmake -E rm -rf x", "", "cmake -E: rm -rf x"),
        ("rimraf dist -g", "", "rimraf: rm -rf -- dist"),
    ]);
}

#[test]
fn and_on_other_machines() {
    check(&[
        ("heroku run -a x rails db:migrate", "", "heroku run@: rails db:migrate"),
        ("heroku run -a x 'rm x; ls'", "", "heroku run@: {rm x; ls}"),
        ("heroku run -a x -- sh -c 'rm x; ls'", "", "heroku run@: sh -c rm x; ls"),
        ("ssh -p 22 me@host rm -rf /", "", "ssh@: {rm -rf /}"),
        ("ssh host -t 'rm x; ls'", "", "ssh@: {rm x; ls}"),
        ("ssh -o 'ProxyCommand=rm x' host ls", "", "ssh -o: {rm x}\nssh@: {ls}"),
        ("ssh host", "rm x", "heredoc@: {rm x}"),
        ("ssh host", "", ""),
        ("docker exec -it -w /app box rm x", "", "docker exec@: rm x"),
        ("docker compose -f a.yml exec -T web rm x", "", "docker compose exec@: rm x"),
        ("docker run --rm -v /a:/b img rm x", "", "docker run@: rm x"),
        ("docker run --rm --entrypoint rm img -rf /", "", "docker run@: rm -rf /"),
        ("docker run --entrypoint '' img rm x", "", "docker run@: rm x"),
        ("docker run --rm img --config x", "", ""),
        ("docker run -i img -", "x", ""),
        ("docker rm -f box", "", ""),
        ("docker-compose run --rm web rm x", "", "docker-compose run@: rm x"),
        ("kubectl -n a exec -it pod -c box -- rm x", "", "kubectl exec@: rm x"),
        ("kubectl exec pod rm x", "", "kubectl exec@: rm x"),
        ("kubectl delete pod x", "", ""),
        ("vagrant ssh -c 'rm x'", "", "vagrant ssh -c@: {rm x}"),
        ("adb shell rm -rf /sdcard", "", "adb shell@: {rm -rf /sdcard}"),
    ]);
}

#[test]
fn shells_take_scripts() {
    check(&[
        ("bash -c 'rm x'", "", "bash -c: {rm x}"),
        ("bash -lc 'rm $1' name x", "", "bash -c: {rm $1} name x"),
        ("bash -c -- 'rm x'", "", "bash -c: {rm x}"),
        ("bash -c -e 'rm x'", "", "bash -c: {rm x}"),
        ("bash -euo pipefail -c 'rm x'", "", "bash -c: {rm x}"),
        ("bash -oc pipefail 'rm x'", "", "bash -c: {rm x}"),
        ("bash --norc --rcfile f +x -c 'rm x'", "", "bash -c: {rm x}"),
        ("zsh -opipefail -c 'rm x'", "", "zsh -c: {rm x}"),
        ("sh -c <?>", "", "sh -c!"),
        ("sh -c 'rm <?>'", "", "sh -c: {rm <?>}"),
        ("bash <*> -c 'rm x'", "", "bash -c?: {rm x}"),
        ("bash -n -c 'rm x'", "", ""),
        ("bash --version", "", ""),
        ("bash file.sh", "rm x", ""),
        ("bash", "", ""),
        ("bash", "rm x", "heredoc: {rm x}"),
        ("bash", "!", "bash!"),
        ("bash", "<?>\n", "bash!"),
        ("bash -s a b", "rm x", "heredoc: {rm x} bash a b"),
        ("bash -", "rm x", "heredoc: {rm x}"),
        ("bash /dev/stdin a", "rm x", "heredoc: {rm x} /dev/stdin a"),
        ("bash /dev/fd/<?>", "", "bash!"),
        ("bash <?>", "", ""),
        ("fish -c 'rm x'", "", "fish -c: {rm x}"),
        ("pwsh -NoProfile -Command rm x", "", "pwsh -c: {rm x}"),
        ("eval 'rm' x", "", "eval: {rm x}"),
        ("eval <?>", "", "eval!"),
        ("eval", "", ""),
        ("trap 'rm x' EXIT INT", "", "trap: {rm x}"),
        ("trap - INT", "", ""),
        ("trap '' INT", "", ""),
        ("trap -p", "", ""),
        ("source /dev/stdin", "rm x", "heredoc: {rm x} /dev/stdin"),
        (". /dev/fd/<?>", "", "source!"),
        ("source .venv/bin/activate", "", ""),
        ("su -c 'rm x' root", "", "su -c: {rm x}"),
        ("su - root -c 'rm x'", "", "su -c: {rm x}"),
        ("su root", "rm x", "heredoc: {rm x}"),
        ("runuser dev -c 'rm x'", "", "runuser -c: {rm x}"),
        ("runuser -u dev -- rm x", "", "runuser: rm x"),
        ("runuser --group staff -u dev -- rm x", "", "runuser: rm x"),
        ("sh -c <?> '' --unattended", "", "sh -c!"),
        ("sh -c <*> '' --unattended", "", "sh -c!"),
        ("su root -- -c 'rm x'", "", "su: sh -c rm x"),
        ("sudo -i", "rm x", "heredoc: {rm x}"),
        ("sudo", "rm x", ""),
        ("at now", "rm x", "heredoc: {rm x}"),
        ("crontab -", "# c\n0 1 * * * rm x\n@daily rm y", "heredoc: {# c\nrm x\nrm y}"),
        ("crontab -l", "rm x", ""),
    ]);
}

#[test]
fn items_are_what_is_known_of_them() {
    check(&[
        ("xargs -0 -r -n 1 rm -rf", "", "xargs: rm -rf <*>"),
        ("xargs rm -rf", "/ 'a b'", "xargs: rm -rf / a b"),
        ("xargs -I{} rm -rf {}/x", "a\nb c", "xargs: rm -rf a/x\nxargs: rm -rf b c/x"),
        ("xargs -I % sh -c 'rm %'", "!", "xargs: sh -c rm <?>"),
        ("xargs -I{} rm -rf a", "b", "xargs: rm -rf a"),
        ("xargs -i rm {}", "!", "xargs: rm <?>"),
        ("xargs -d , rm", "a,b", "xargs: rm a b"),
        ("xargs", "rm -rf /", ""),
        ("xargs sudo", "rm -rf /", "xargs: sudo rm -rf /"),
        ("parallel rm -rf {} ::: / 'a b'", "", "parallel: {rm -rf /}\nparallel: {rm -rf 'a b'}"),
        ("parallel -j4 rm ::: a", "", "parallel: {rm a}"),
        ("parallel -q sh -c 'rm {}' ::: x 'a b'", "", "parallel: sh -c rm x\nparallel: sh -c rm a b"),
        ("parallel --quote sh -c 'rm {2} {1}' ::: x ::: y", "", "parallel: sh -c rm y x"),
        ("parallel -q rm -rf ::: '/ x'", "", "parallel: rm -rf / x"),
        ("parallel -qS host rm {} ::: / ::: x", "", "parallel@: rm / x"),
        ("parallel -q rm {.}", "!", "parallel: rm <?>"),
        ("parallel -q ::: 'rm x'", "", "parallel: {rm x}"),
        ("parallel rm {1}{2} ::: / b ::: c", "", "parallel: {rm /c}\nparallel: {rm bc}"),
        ("parallel ::: 'rm x' ls", "", "parallel: {rm x}\nparallel: {ls}"),
        ("parallel", "rm x\nls", "parallel: {rm x}\nparallel: {ls}"),
        ("parallel rm {.}", "!", "parallel: {rm <?>}"),
        ("sem -j2 'rm x'", "", "sem: {rm x}"),
    ]);
}

#[test]
fn find_runs_a_command_for_what_it_finds() {
    check(&[
        ("find . -exec rm -rf {} +", "", "find -exec: rm -rf ."),
        ("find -exec rm -rf {} ;", "", "find -exec: rm -rf ."),
        ("find a b -exec rm -rf {} ;", "", "find -exec: rm -rf a\nfind -exec: rm -rf b"),
        ("find . -type d -exec rm -rf {} +", "", "find -exec: rm -rf ."),
        ("find . -type f -exec rm -rf {} +", "", "find -exec: rm -rf ./<*>"),
        ("find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +", "", "find -exec: rm -rf ./<*>"),
        ("find . -mtime +7 -exec rm -rf {} +", "", "find -exec: rm -rf ./<?>"),
        ("find . -name a -exec rm -rf {} +", "", "find -exec: rm -rf ./a\nfind -exec: rm -rf ./<?>/a"),
        ("find / -name a -exec rm -rf {} +", "", "find -exec: rm -rf /<?>/a"),
        ("find . -path './.git/*' -exec rm {} +", "", "find -exec: rm ./.git/<*>"),
        ("find . ! -name a -exec rm {} +", "", "find -exec: rm ."),
        ("find . -name a -prune -o -exec rm {} +", "", "find -exec: rm ."),
        ("find . ( -size 1 -o -empty ) -exec rm {} +", "", "find -exec: rm ./<?>"),
        ("find . -exec sh -c 'rm \"$1\"' _ {} ;", "", "find -exec: sh -c rm \"$1\" _ ."),
        ("find . -execdir git add -A ;", "", "find -execdir: git add -A"),
        ("find . -size 1 -execdir rm {} ;", "", "find -execdir in ./: rm ./<?>"),
        (
            "find . -name x -exec ls {} ; -exec rm y ;",
            "",
            "find -exec: ls ./x\nfind -exec: ls ./<?>/x\nfind -exec: rm y",
        ),
        ("find . -name x", "", ""),
        ("fd -x rm -rf {}", "", "fd -x: rm -rf ./<*>"),
        ("fd '\\.o$' -X rm", "", "fd -X: rm ./<?>"),
    ]);
}

#[test]
fn git_runs_commands() {
    check(&[
        ("git submodule foreach --recursive 'git add -A'", "", "git submodule foreach: {git add -A}"),
        ("git submodule foreach git add -A", "", "git submodule foreach: git add -A"),
        ("git bisect run make test", "", "git bisect run: make test"),
        ("git rebase -i --exec 'rm x' main", "", "git rebase --exec: {rm x}"),
        ("git -c alias.p='push --force' p origin", "", "git -c alias: git push --force origin"),
        ("git -c alias.p='!rm -rf' p /", "", "git -c alias: {rm -rf /}"),
        ("git -c core.sshCommand='rm x' fetch", "", "git -c: {rm x}"),
        ("GIT_SSH_COMMAND='rm x' git fetch", "", "GIT_SSH_COMMAND: {rm x}"),
        ("git filter-branch --tree-filter 'rm x' HEAD", "", "git filter-branch: {rm x}"),
        ("git commit -m 'rm -rf /'", "", ""),
        ("git add reset --hard", "", ""),
    ]);
}

#[test]
fn programs_that_nobody_knows_may_run_their_words() {
    check(&[
        ("mytool git push --force", "", "mytool?: git push --force"),
        ("mytool --x /bin/rm -rf /", "", "mytool?: /bin/rm -rf /"),
        ("mytool bash -c 'rm x'", "", "mytool?: bash -c rm x"),
        ("<?> git push --force", "", "?: git push --force"),
        ("mytool git", "", ""),
        ("echo git add .", "", ""),
        ("apt-get install git rm", "", ""),
        ("my-git reset --hard", "", ""),
        ("asdf install python 3.11", "", ""),
        ("rsync -e 'rm x' a b", "", "rsync -e: {rm x}"),
        ("tar cf a.tar --checkpoint=1 --checkpoint-action=exec='rm x' .", "", "tar --checkpoint-action: {rm x}"),
    ]);
}

#[test]
fn hosts_name_wrappers_of_their_own() {
    let custom: CustomWrappers = [
        ("run".to_owned(), WrapperKind::ExecRest),
        ("say".to_owned(), WrapperKind::ShellString),
        ("feed".to_owned(), WrapperKind::StdinScript),
        ("each".to_owned(), WrapperKind::PerItem),
    ]
    .into();
    let got = |line, from| shown(&found(line, &input(from), &custom));
    assert_eq!(got("run -v A=1 rm x", ""), "run: A=1 rm x");
    assert_eq!(got("run --user me -- rm x", ""), "run: rm x");
    assert_eq!(got("run --user me rm x", ""), "run: me rm x\nrun?: rm x");
    assert_eq!(got("say rm x", ""), "say: {rm x}");
    assert_eq!(got("say -c 'rm x'", ""), "say -c: {rm x}");
    assert_eq!(got("feed", "rm x"), "heredoc: {rm x}");
    assert_eq!(got("each rm", ""), "each: rm <?>");
    assert_eq!(got("each rm", "a b"), "each: rm a b");
}
