/** One that hangs: where, the command, what the note says, the program that it needs. */
export interface Case {
  terminal: boolean;
  command: string;
  /** The name and arguments of the process, as a part of its command line. */
  who: string;
  /** The text after the pid. */
  what: RegExp;
  needs?: string;
  /** ms; what starts up slowly has longer. */
  limit?: number;
}

const reads = (fd: number | string, line = '') =>
  new RegExp(`^reads its terminal on descriptor ${fd}${line && `; its last line is «${line}»`}$`);
/** A screen of its own has no line that counts. */
const draws = /^reads its terminal on descriptor \d+(;|$)/;

const asks = (command: string, who: string, what: RegExp, needs?: string, limit?: number): Case => ({
  terminal: true,
  command,
  who,
  what,
  ...(needs && { needs }),
  ...(limit && { limit }),
});
const hangs = (command: string, who: string, what: RegExp, needs?: string): Case => ({
  terminal: false,
  command,
  who,
  what,
  ...(needs && { needs }),
});
const opens = (name: string) => new RegExp(`^opens the FIFO \\S*/${name}, which nobody writes to$`);
const fifo = (name: string, fd: number) =>
  new RegExp(`^reads the FIFO \\S*/${name} on descriptor ${fd}, which nobody else writes to$`);

const repository = 'git init -q . && git config user.email a@b && git config user.name n';

export const CASES: Case[] = [
  // A shell that asks
  asks('read -p "Name: " x', 'bash -c read -p', reads(0, 'Name: ')),
  asks('read -s -p "Password: " x', 'bash -c read -s', reads(0, 'Password: ')),
  asks('echo before; read x; echo after', 'bash -c echo before', reads(0)),
  asks('read -t 100 -p "Go on? [y/N] " x', 'bash -c read -t', reads(0, 'Go on\\? \\[y/N\\] ')),
  asks('select x in a b; do break; done', 'bash -c select', reads(0, '#\\? ')),
  asks('bash --norc', 'bash --norc', reads(0, '.*[$#] ')),
  asks('sh -i', 'sh -i', reads('\\d+', '.*[$#] ')),
  // Filters that were given no file
  asks('cat', 'cat', reads(0)),
  asks('cat | cat | wc -l', 'cat', reads(0)),
  asks('x=$(cat); echo $x', 'cat', reads(0)),
  asks('(sh -c "sh -c cat; true"; true); true', 'cat', reads(0)),
  asks('cat < /dev/tty', 'cat', reads(0)),
  asks('cat /dev/tty', 'cat /dev/tty', reads(3)),
  asks('cat /dev/tty < /dev/null; true', 'cat /dev/tty', reads(3)),
  asks('sh -c "read x < /dev/tty; true" < /dev/null; true', 'sh -c read', reads(0)),
  asks('sleep 100 & sh -c "cat /dev/tty; true" < /dev/null; true', 'cat /dev/tty', reads(3)),
  asks('env nice cat', 'cat', reads(0)),
  asks('timeout --foreground 100 cat', 'cat', reads(0)),
  asks('sleep 100 & cat', 'cat', reads(0)),
  asks('sort', 'sort', reads(0)),
  asks('grep foo', 'grep foo', reads(0)),
  asks('wc -l', 'wc -l', reads(0)),
  asks('sed s/a/b/', 'sed s/a/b/', reads(0)),
  asks('tee out', 'tee out', reads(0)),
  asks('dd of=/dev/null', 'dd of=/dev/null', reads(0)),
  asks('xargs echo', 'xargs echo', reads(0)),
  asks('perl -e "<STDIN>"', 'perl -e', reads(0), 'perl'),
  asks('make -f - all', 'make -f - all', reads(0), 'make'),
  // Questions
  asks('touch f; rm -i f', 'rm -i f', reads(0, "rm: remove regular empty file 'f'\\? ")),
  asks('touch a b; cp -i a b', 'cp -i a b', reads(0, "cp: overwrite 'b'\\? ")),
  asks('touch a b; mv -i a b', 'mv -i a b', reads(0, "mv: overwrite 'b'\\? ")),
  asks('passwd', 'passwd', draws, 'passwd'),
  asks('ssh-keygen -t ed25519 -f key', 'ssh-keygen -t', reads('\\d+', 'Enter passphrase.*'), 'ssh-keygen'),
  asks(
    'ssh-keygen -q -N secret -t ed25519 -f key; ssh-keygen -y -f key',
    'ssh-keygen -y',
    reads('\\d+', 'Enter passphrase.*'),
    'ssh-keygen',
  ),
  asks(
    'git credential fill <<< "url=https://example.org/"',
    'credential fill',
    reads('\\d+', 'Username for .*'),
    'git',
  ),
  asks(
    `${repository}; echo a > f; git add f; git commit -qm a; echo b > f; git add -p`,
    'git add -p',
    reads(0, '.*Stage this hunk .*'),
    'git',
  ),
  asks(`${repository}; touch f; git clean -i`, 'git clean -i', reads(0, 'What now> '), 'git'),
  asks('npm init', 'npm init', reads('\\d+', 'package name: .*'), 'npm', 12_000),
  asks('python3 -c "input(\'Continue? [y/N] \')"', 'python3 -c', reads(0, 'Continue\\? \\[y/N\\] ')),
  asks('python3 -c "import getpass; getpass.getpass()"', 'python3 -c', reads('\\d+', 'Password: ')),
  asks('python3 -c "import sys; sys.stdin.read()"; echo end', 'python3 -c', reads(0)),
  asks('python3 -c "import select,sys; select.select([sys.stdin],[],[])"', 'python3 -c', reads(0)),
  asks(
    'python3 -c "import threading as t; t.Thread(target=t.Event().wait, daemon=True).start(); input(1)"',
    'python3 -c',
    reads(0, '1'),
  ),
  asks(
    `node -e "require('readline').createInterface({ input: process.stdin, output: process.stdout }).question('Your name? ', () => {})"`,
    'node -e',
    reads('\\d+', 'Your name\\? '),
    'node',
    4000,
  ),
  asks('node -e "process.stdin.resume()"', 'node -e', reads('\\d+'), 'node', 4000),
  // Read-eval-print loops
  asks('python3', 'python3', reads(0, '>>> '), 'python3', 4000),
  asks('node', 'node', reads('\\d+', '> '), 'node', 4000),
  asks('bc -q', 'bc -q', reads(0), 'bc'),
  asks('sqlite3', 'sqlite3', reads(0, 'sqlite> '), 'sqlite3'),
  asks('gdb -q -nx', 'gdb -q -nx', reads(0, '\\(gdb\\) '), 'gdb', 8000),
  asks('ed', 'ed', reads(0), 'ed'),
  // Dialogues
  asks('dialog --yesno "Go on?" 8 40', 'dialog --yesno', draws, 'dialog'),
  // Pagers and editors
  asks('seq 1000 > long; less long', 'less long', draws, 'less'),
  asks('seq 100000 | less', 'less', draws, 'less'),
  asks('seq 1000 > long; more long', 'more long', draws, 'more'),
  asks(
    `${repository}; seq 1000 > s; git add s; git commit -qm s; git -c core.pager=less log -p`,
    'less',
    draws,
    'less',
    3000,
  ),
  asks('vim -u NONE -N x', 'vim', draws, 'vim'),
  asks(`${repository}; touch f; git add f; EDITOR=vim git commit`, 'vim', draws, 'vim'),
  asks('python3 -c "import curses; curses.wrapper(lambda s: s.getch())"', 'python3 -c', draws),
  // A terminal within the terminal
  asks(`script -qc "read -p 'in: ' x" /dev/null`, "read -p 'in: ' x", reads(0, 'in: '), 'script'),
  // Job control
  asks('timeout 100 cat; true', 'cat', /^was stopped by job control \(it wanted the terminal from the background\)$/),
  asks(
    'python3 -c "import subprocess; subprocess.run([\'cat\'], process_group=0)"',
    'cat',
    /^was stopped by job control \(it wanted the terminal from the background\)$/,
  ),
  asks('set -m; cat & sleep 50', 'cat', /^was stopped by job control \(it wanted the terminal from the background\)$/),
  hangs('set -m; sleep 50 & kill -STOP $!; sleep 40', 'sleep 50', /^was stopped by a signal, and nobody continues it$/),
  hangs('kill -STOP $$; echo', 'bash -c kill', /^was stopped by a signal, and nobody continues it$/),
  hangs(
    'bash -c "kill -STOP \\$\\$; true"; true',
    'bash -c kill',
    /^was stopped by a signal, and nobody continues it$/,
  ),
  hangs(
    'sleep 50 & until [ -e on ]; do touch on; done; sleep .2; kill -STOP $!; wait',
    'sleep 50',
    /^was stopped by a signal/,
  ),
  // FIFOs
  hangs('mkfifo f; cat f', 'cat f', opens('f')),
  hangs('mkfifo f; cat < f', 'bash -c mkfifo', opens('f')),
  hangs('mkfifo f; source ./f', 'bash -c mkfifo', opens('f')),
  hangs('mkfifo f; x=$(cat f)', 'cat f', opens('f')),
  hangs('mkfifo f; (cd /; cat "$OLDPWD/f") | sort', '/f', opens('f')),
  hangs('mkfifo f; grep -r foo f', 'grep -r foo f', opens('f')),
  hangs('mkfifo f; diff f /dev/null', 'diff f /dev/null', opens('f'), 'diff'),
  hangs(`mkfifo f; python3 -c "open('f').read()"`, 'python3 -c', opens('f')),
  hangs(`mkfifo f; node -e "require('fs').readFileSync('f')"`, 'node -e', opens('f'), 'node'),
  hangs('mkfifo f; while read l; do echo $l; done < f', 'bash -c mkfifo', opens('f')),
  hangs('mkfifo f; exec 3<>f; cat <&3', 'cat', fifo('f', 0)),
  hangs('mkfifo f; exec 3<>f; read -u 3 x', 'bash -c mkfifo', fifo('f', 3)),
  hangs('mkfifo f; sleep 100 > f & cat f', 'cat f', fifo('f', 3)),
  hangs(
    `mkfifo f; python3 -c "import os,select; f=os.open('f',os.O_RDWR); select.select([f],[],[])"`,
    'python3 -c',
    fifo('f', 3),
  ),
  hangs('mkfifo f; echo x > f', 'bash -c mkfifo', /^opens the FIFO \S*\/f, which nobody reads from$/),
  // Pipes
  hangs('sleep 300 | cat; true', 'cat', /^reads a pipe on descriptor 0, which nobody else writes to$/),
  hangs('sleep infinity | sort | wc -l', 'sort', /^reads a pipe on descriptor 0, which nobody else writes to$/),
  hangs('coproc cat; read -u ${COPROC[0]} x', 'cat', /^reads a pipe on descriptor 0, which nobody else writes to$/),
  hangs(
    'python3 -c "import os; r, w = os.pipe(); os.read(r, 1)"',
    'python3 -c',
    /^reads a pipe on descriptor 3, which nobody else writes to$/,
  ),
  hangs(
    'python3 -c "import subprocess as s; p = s.Popen([\'cat\'], stdin=s.PIPE, stdout=s.PIPE); p.stdout.read()"',
    'cat',
    /^reads a pipe on descriptor 0, which nobody else writes to$/,
  ),
];
