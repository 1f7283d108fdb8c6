//! The commands in programs that are words of a command.

use proptest::prelude::*;

use crate::simple_command_view::{CommandStdin, StdinTextSource};
use crate::unwrap::CustomWrappers;
use crate::unwrap::testing::{found, input, shown, value};

/// Checks programs on standard input or behind an option against the commands in them.
fn check(head: &str, table: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (code, expected) in table {
        let from = CommandStdin::Text(value(code), StdinTextSource::Heredoc);
        let got = shown(&found(head, &from, &CustomWrappers::new()));
        let bare: Vec<_> = got
            .lines()
            .map(|line| line.strip_prefix(&format!("{head} <<")).unwrap_or(line).trim_start_matches(": "))
            .collect();
        let got = bare.join("\n");
        if got != *expected {
            wrong.push(format!("{code}\n  expected {expected:?}\n  got      {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn python() {
    check(
        "python3",
        &[
            ("import os; os.system('rm -rf /')", "{rm -rf /}"),
            ("__import__('os').system(\"git add -A\")", "{git add -A}"),
            ("from os import system\nsystem('''rm x''')", "{rm x}"),
            ("os.popen('rm x').read()", "{rm x}"),
            ("import subprocess\nsubprocess.run(['git', 'push', '--force'], check=True)", "git push --force"),
            ("import subprocess as sp\nsp.run('rm -rf /', shell=True)", "{rm -rf /}"),
            ("import subprocess\nsubprocess.check_output('git add -A'.split())", "git add -A"),
            ("import subprocess\nsubprocess.call(['rm', '-rf', d], cwd='/srv')", " in /srv: rm -rf <?>"),
            ("subprocess.run(args=['rm', 'x'])", "rm x"),
            ("from shutil import rmtree as r; r('/')", "rm -rf -- /"),
            ("import os\nsh = os.system\nsh('rm x')", "{rm x}"),
            ("[os.system(c) for c in ['ls', 'rm x']]", "{<ls|rm x>}"),
            ("import glob\n[shutil.rmtree(p) for p in glob.glob('/*')]", "rm -rf -- /<*>"),
            ("import os\ndef go(c):\n    os.system(c)\ngo('rm x')", "{rm x}"),
            (
                "import subprocess\ndef run(cmd):\n    subprocess.run(cmd, shell=True)\nrun('rm x && ls')",
                "{rm x && ls}",
            ),
            ("import subprocess\na = ['rm']\na += ['-r']\na.append('x')\nsubprocess.run(a)", "rm -r x"),
            ("import os; getattr(os, 'system')('rm x')", "{rm x}"),
            ("os.execvp('rm', ['rm', '-rf', '/'])", "rm -rf /"),
            ("os.execlp('rm', 'rm', '-rf', '/')", "rm -rf /"),
            ("os.spawnlp(os.P_WAIT, 'rm', 'rm', '-rf', '/')", "rm -rf /"),
            ("import shutil; shutil.rmtree('/')", "rm -rf -- /"),
            ("shutil.rmtree(os.path.expanduser('~'))", "rm -rf -- /home/dev"),
            ("shutil.rmtree(Path.home() / '.cache', ignore_errors=True)", "rm -rf -- /home/dev/.cache"),
            ("shutil.rmtree(os.environ['HOME'])", "rm -rf -- /home/dev"),
            ("shutil.rmtree(os.path.join(os.getcwd(), '.git'))", "rm -rf -- /home/dev/project/.git"),
            ("shutil.rmtree(path='/')", "rm -rf -- /"),
            ("shutil.rmtree('~')", "rm -rf -- ~"),
            ("shutil.rmtree(tmp)", ""),
            ("for d in ['/', '/home']:\n    shutil.rmtree(d)", "rm -rf -- / /home"),
            ("cmd = 'rm -rf ' + '/'\nos.system(cmd)", "{rm -rf /}"),
            ("d = '/'\nos.system(f'rm -rf {d}')", "{rm -rf /}"),
            ("d = '/'\nos.system('rm -rf %s' % d)", "{rm -rf /}"),
            ("d = '/'\nos.system('rm -rf {}'.format(d))", "{rm -rf /}"),
            ("os.system('rm '\n  '-rf /')", "{rm -rf /}"),
            ("os.system('\\x72m -rf /')", "{rm -rf /}"),
            ("os.system('rm -rf <?>')", "{rm -rf <?>}"),
            ("os.system('rm -rf ' + x)", "{rm -rf <?>}"),
            ("os.system(x)", ""),
            ("shutil.rmtree(pathlib.Path.home())", "rm -rf -- /home/dev"),
            ("exec(\"import os; os.system('rm x')\")", "python3 -c import os; os.system('rm x')"),
            ("exec('import os')", "python3 -c import os"),
            ("os.chdir('/')\nshutil.rmtree('x')", " in /: rm -rf -- x"),
            ("print('os.system(\"rm -rf /\")')", ""),
            ("# os.system('rm -rf /')", ""),
            ("x = \"rm -rf /\"\nprint(x)", ""),
            ("def system(x): pass", ""),
            ("assert cmd == 'git add -A'", ""),
            ("app.run('rm -rf /')", ""),
        ],
    );
}

#[test]
fn ruby() {
    check(
        "ruby",
        &[
            ("system('rm -rf /')", "{rm -rf /}"),
            ("system 'rm', '-rf', '/'", "rm -rf /"),
            ("exec \"git push --force\" if x", "{git push --force}"),
            ("`rm -rf /`", "{rm -rf /}"),
            ("x = %x(git add -A)", "{git add -A}"),
            ("d = '/'; system \"rm -rf #{d}\"", "{rm -rf /}"),
            ("IO.popen(['rm', '-rf', '/'])", "rm -rf /"),
            ("IO.popen(%w[rm -rf /])", "rm -rf /"),
            ("require 'fileutils'; FileUtils.rm_rf('/')", "rm -rf -- /"),
            ("FileUtils.rm_r ['/', Dir.home]", "rm -rf -- / /home/dev"),
            ("Pathname.new('/').rmtree", "rm -rf -- /"),
            ("%w[/ /home].each { |d| FileUtils.rm_rf d }", "rm -rf -- / /home"),
            ("FileUtils.rm_rf(File.expand_path('~'))", "rm -rf -- /home/dev"),
            ("def go(c) = system(c)\ngo('rm x')", "{rm x}"),
            ("puts 'system(\"rm\")' # `rm x`", ""),
            ("puts \"#{`rm x`}\"", "{rm x}"),
        ],
    );
}

#[test]
fn perl() {
    check(
        "perl",
        &[
            ("system('rm -rf /');", "{rm -rf /}"),
            ("system \"rm\", \"-rf\", \"/\";", "rm -rf /"),
            ("exec {'rm'} 'rm', '-rf', '/'", "rm -rf /"),
            ("my @a = ('rm', '-rf'); push @a, '/'; system(@a)", "rm -rf /"),
            ("sub go { my ($c) = @_; system($c) } go('rm x')", "{rm x}"),
            ("system(qw(rm -rf /))", "rm -rf /"),
            ("my $d = '/'; exec \"rm -rf $d\";", "{rm -rf /}"),
            ("my $x = `git add -A`;", "{git add -A}"),
            ("print qx{rm x};", "{rm x}"),
            ("use File::Path qw(remove_tree); remove_tree('/');", "rm -rf -- /"),
            ("rmtree($ENV{HOME})", "rm -rf -- /home/dev"),
            ("open(my $f, '-|', 'rm', 'x')", "rm x"),
            ("open(F, 'rm x |')", "{rm x}"),
            ("s/a/system('rm x')/e", "{rm x}"),
            ("for my $d ('/', '/home') { rmtree($d) }", "rm -rf -- / /home"),
            ("print 'system(\"rm\")'; # system('rm')", ""),
            ("$x =~ s/system('rm')//; m{exec('rm')}", ""),
        ],
    );
}

#[test]
fn javascript() {
    check(
        "node",
        &[
            ("require('child_process').execSync('rm -rf /')", "{rm -rf /}"),
            ("const { exec } = require('node:child_process'); exec(`git add -A`)", "{git add -A}"),
            ("const cp = require('child_process'); cp.spawn('rm', ['-rf', '/'], { stdio: 'inherit' })", "rm -rf /"),
            ("require('child_process').spawnSync('rm', ['-rf', '/'], { shell: true })", "{rm -rf /}"),
            ("require('child_process').execFileSync('git', ['push', '-f'])", "git push -f"),
            ("require('fs').rmSync('/', { recursive: true, force: true })", "rm -rf -- /"),
            ("fs.rmSync('/x')", ""),
            ("import fs from 'fs/promises'; await fs.rm(os.homedir(), {recursive: true})", "rm -rf -- /home/dev"),
            ("fs.rmSync(path.join(os.homedir(), '.ssh'), { recursive: true })", "rm -rf -- /home/dev/.ssh"),
            ("fs.rmSync(process.env.HOME, { recursive: true })", "rm -rf -- /home/dev"),
            ("rimraf.sync('/')", "rm -rf -- /"),
            ("require('fs').rmSync(require('os').homedir(), { recursive: true })", "rm -rf -- /home/dev"),
            ("['/', '/home'].forEach(d => fs.rmSync(d, { recursive: true }))", "rm -rf -- / /home"),
            ("for (const d of ['/', '/home']) fs.rmSync(d, { recursive: true })", "rm -rf -- / /home"),
            ("const { execSync: x } = require('child_process'); x('rm x')", "{rm x}"),
            ("const run = require('child_process').execSync; run('rm x')", "{rm x}"),
            ("const run = util.promisify(require('child_process').exec); run('rm x')", "{rm x}"),
            ("require('child_process')['execSync']('rm x')", "{rm x}"),
            ("const go = (c) => execSync(c, { stdio: 'inherit' }); go('rm x')", "{rm x}"),
            ("const go = async c => { await execSync(c) }; go('rm x')", "{rm x}"),
            ("const d = '/'; execSync(`rm -rf ${d}`)", "{rm -rf /}"),
            ("execSync('rm -rf ' + d)", "{rm -rf <?>}"),
            ("await $`rm -rf /`", "{rm -rf /}"),
            ("Bun.spawnSync(['rm', '-rf', '/'])", "rm -rf /"),
            ("new Deno.Command('rm', { args: ['-rf', '/'] }).outputSync()", "rm -rf /"),
            ("eval(\"x\")", "node -e x"),
            ("console.log('execSync(\"rm\")') // execSync('rm x')", ""),
            ("/rm/.exec('rm -rf /')", ""),
            ("const x = a / b; const y = '/'", ""),
        ],
    );
}

#[test]
fn other_languages() {
    use crate::unwrap::testing::check;
    check(&[
        ("php -r 'system(\"rm x\"); echo \"rm y\";'", "", "php -r: {rm x}"),
        ("lua -e 'os.execute(\"rm x\")'", "", "lua -e: {rm x}"),
        ("lua -e 'os.execute [[rm x]]'", "", "lua -e: {rm x}"),
        ("awk 'BEGIN { system(\"rm -rf \" \"/\") }'", "", "awk: {rm -rf /}"),
        ("awk -v d=/ 'BEGIN { system(\"rm -rf \" d) }'", "", "awk: {rm -rf /}"),
        ("awk '{ \"rm x\" | getline y }'", "", "awk: {rm x}"),
        ("awk '{ print $1 | \"sh\" }'", "", "awk!\nawk: {sh}"),
        ("awk 'BEGIN { print \"rm x\" | \"sh\" }'", "", "awk: {rm x}\nawk: {sh}"),
        ("sed '1e git add .' f", "", "sed: {git add .}"),
        ("sed -n '1!d;e rm x' f", "", "sed: {rm x}"),
        ("awk '{ print > \"out\" }'", "", "awk: tee out"),
        ("awk -F: '$1 > \"a\" { print \"rm -rf /\" }' f", "", ""),
        ("awk -f p.awk f", "", ""),
        ("gawk -e 'BEGIN{system(\"rm x\")}'", "", "gawk -e: {rm x}"),
        ("sed 's/a/b/g;e rm x' f", "", "sed: {rm x}"),
        ("sed 's/.*/rm x/e' f", "", "sed: {rm x}"),
        ("sed -n '/a/w out' f", "", "sed: tee out"),
        ("sed -i '' -e 's/e/we/g' f", "", ""),
        ("sed '1,$s|/e/|/w/|gp; /x/d' f", "", ""),
        ("sed 'a\\\\\ne rm x' f", "", "sed: {rm x}"),
        ("vim -c '!rm x' -c q", "", "vim -c: {rm x}"),
        ("vim '+!rm x'", "", "vim +: {rm x}"),
        ("vim -es -c 'silent! %!rm x'", "", "vim -c: {rm x}"),
        ("vim -c 'call system(\"rm x\")'", "", "vim -c: {rm x}"),
        ("nvim --headless -c 'lua os.execute(\"rm x\")'", "", "nvim -c: {rm x}"),
        ("ex -s f", "%s/a/b/\n!rm x\n", "ex: {rm x}"),
        ("ed f", "!rm x\nq", "ed: {rm x}"),
        ("vim -c 's/a!/b/' f", "", ""),
    ]);
}

#[test]
fn programs_in_other_languages_are_opaque() {
    use crate::unwrap::testing::check;
    check(&[
        ("R -q -e 'system(\"rm x\")'", "", "R -e!"),
        ("Rscript -e 'print(1)'", "", "Rscript -e!"),
        ("Rscript -", "system('rm x')", "Rscript <<!"),
        ("Rscript a.R", "x", ""),
        ("julia -e 'run(`rm x`)'", "", "julia -e!"),
        ("julia a.jl", "", ""),
        ("elixir -e 'System.cmd(\"rm\", [\"x\"])'", "", "elixir -e!"),
        ("iex -S mix", "", ""),
        ("mix run -e 'System.shell(\"rm x\")'", "", "mix -e!"),
        ("osascript -e 'do shell script \"rm x\"'", "", "osascript -e!"),
        ("osascript a.scpt", "", ""),
        ("emacs --batch --eval '(shell-command \"rm x\")'", "", "emacs --eval!"),
        ("emacs -Q --batch --eval='(message \"x\")'", "", "emacs --eval!"),
        ("emacsclient -e '(delete-directory \"/\" t)'", "", "emacsclient -e!"),
        ("emacs --batch -l a.el -f go", "x", ""),
        ("emacs -nw a", "", ""),
        ("expect -c 'spawn rm x; expect eof'", "", "expect -c!"),
        ("expect", "spawn rm x", "expect <<!"),
        ("expect -f a.exp", "x", ""),
        ("tclsh", "exec rm x", "tclsh <<!"),
        ("tclsh8.6", "!", "tclsh8.6!"),
        ("tclsh a.tcl", "x", ""),
    ]);
}

#[test]
fn where_the_program_stands() {
    use crate::unwrap::testing::check;
    check(&[
        ("python3.12 -Bc 'os.system(\"rm x\")' a", "", "python3.12 -c: {rm x}"),
        ("python -m http.server", "!", ""),
        ("python a.py", "!", ""),
        ("python", "!", "python!"),
        ("python -", "!", "python!"),
        ("python /dev/fd/<?>", "", "python!"),
        ("python -c <?>", "", "python -c!"),
        ("perl -pe 's/a/b/' f", "!", ""),
        ("perl -lane 'system(\"rm x\")'", "", "perl -e: {rm x}"),
        ("perl -pi -e 's/a/b/' f", "", ""),
        ("perl -MFile::Path=rmtree -e 'rmtree(\"/\")'", "", "perl -e: rm -rf -- /"),
        ("ruby -rfileutils -e 'FileUtils.rm_rf(' -e '\"/\")'", "", "ruby -e: rm -rf -- /"),
        ("node -p 'require(\"child_process\").execSync(\"rm x\")'", "", "node -p: {rm x}"),
        ("node --eval='execSync(\"rm x\")'", "", "node --eval: {rm x}"),
        ("node server.js", "!", ""),
        ("node --test", "!", ""),
        ("deno eval 'execSync(\"rm x\")'", "", "deno eval: {rm x}"),
        ("deno test", "", ""),
        ("bun -e 'execSync(\"rm x\")'", "", "bun -e: {rm x}"),
        ("bun install", "!", ""),
        ("awk -f - f", "BEGIN{system(\"rm x\")}", "awk <<: {rm x}"),
    ]);
}

/// Pieces of programs that cause trouble together.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "`",
    "\\",
    "#{",
    "${",
    "$",
    "%w(",
    "q{",
    "qw(",
    "s/",
    "/",
    "//",
    "/*",
    "--[[",
    "[[",
    "os.system",
    "system",
    "exec",
    "rmtree",
    "for x in",
    "x=",
    "x",
    "+",
    ".",
    "%",
    "\n",
    ";",
    ",",
    "f'{",
    "'''",
    "=>",
    "|",
    "getline",
    "print",
    ">",
    "rm",
    "é",
    "\u{100000}",
    "e ",
    "w ",
    "!",
    "subprocess.run",
    "(shell=True",
    ".split(",
    ".format(",
    "r'",
    "1",
    "if",
    "each",
    ".each { |x|",
    "@",
    "=",
];

proptest! {
    #[test]
    fn any_program_is_looked_through(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40),
        head in proptest::sample::select(&["python3", "ruby", "perl", "node", "php", "lua", "awk -f -", "sed -f -", "ex"][..]),
    ) {
        let _ = found(head, &input(&format!(" {}", pieces.concat())), &CustomWrappers::new());
    }
}

#[test]
#[ignore = "stress: it takes more than a second"]
fn long_hostile_programs_are_done_soon() {
    let more = [
        "system('a',",
        "system(",
        "a=a+",
        "a=b+b;b=a+a;",
        "system 'a' + ",
        "['a'].each { |x| ",
        "x='a'*",
        "f(x=",
        "system(x.split(",
        "for x in a\n",
        "$a{",
        "print a | ",
    ];
    for piece in PIECES.iter().chain(&more) {
        let text = piece.repeat(16 * 1024 / piece.len());
        for head in ["python3", "ruby", "perl", "node", "awk -f -", "sed -f -", "ex"] {
            // A thousand times the duration of a linear reading.
            let begun = std::time::Instant::now();
            let _ = found(head, &CommandStdin::Text(value(&text), StdinTextSource::Pipe), &CustomWrappers::new());
            assert!(begun.elapsed().as_secs() < 10, "{head} {piece:?}: {:?}", begun.elapsed());
        }
    }
}
