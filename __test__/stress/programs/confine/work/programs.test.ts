import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Ground } from '../../../../confine/support/ground.ts';
import { programs } from '../../../../confine/support/site.ts';
import { works } from '../../../../confine/support/work.ts';
import { unpacked } from '../../../../support/debian.ts';
import { hasProgram } from '../../../../support/index.ts';

const PROGRAM = `printf '#include <stdio.h>\\nint twice(int);\\nint main(void) { printf("%%d\\\\n", twice(21)); }\\n' >main.c
printf 'int twice(int n) { return 2 * n; }\\n' >twice.c`;

/** Debian's package of pytest, or undefined. */
const packaged = unpacked('python3-pytest');

/** Its modules, where every user can read them. */
function pytest(here: Ground): Record<string, string> {
  const modules = join(here.path, 'modules');
  cpSync(join(packaged ?? '', 'usr/lib/python3/dist-packages'), modules, { recursive: true });
  return { PYTHONPATH: modules };
}

/** The directory of the newest PostgreSQL. Debian has it outside of the PATH. */
function newestPostgres(): string | undefined {
  const above = '/usr/lib/postgresql';
  const newest = existsSync(above) ? readdirSync(above).sort((a, b) => Number(b) - Number(a))[0] : undefined;
  const bin = join(above, newest ?? '', 'bin');
  if (existsSync(join(bin, 'initdb'))) return bin;
  return (process.env.PATH ?? '').split(':').find((path) => existsSync(join(path, 'initdb')));
}
const postgres = newestPostgres();

/** The toolchain that `cargo` of rustup would use; rustup itself may have to write into its own directory. */
function toolchain(): string | undefined {
  const found = spawnSync('rustup', ['which', 'cargo'], { encoding: 'utf8' });
  return found.status === 0 ? dirname(found.stdout.trim()) : undefined;
}
const cargo = toolchain();

const UNITS = `cat >test_all.py <<'END'
import multiprocessing, unittest
from concurrent.futures import ProcessPoolExecutor

def square(n):
    return n * n

class All(unittest.TestCase):
    def test_pool(self):
        with multiprocessing.Pool(3) as pool:
            self.assertEqual(pool.map(square, range(9)), [n * n for n in range(9)])

    def test_spawned(self):
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            self.assertEqual(pool.map(square, [3]), [9])

    def test_forkserver(self):
        with multiprocessing.get_context("forkserver").Pool(2) as pool:
            self.assertEqual(pool.map(square, [4]), [16])

    def test_executor(self):
        with ProcessPoolExecutor(2) as pool:
            self.assertEqual(list(pool.map(square, [5])), [25])

    def test_manager(self):
        with multiprocessing.Manager() as manager:
            shared = manager.dict(a=1)
            self.assertEqual(shared["a"], 1)

    def test_shared_memory(self):
        from multiprocessing import shared_memory
        one = shared_memory.SharedMemory(create=True, size=16)
        one.buf[0] = 7
        two = shared_memory.SharedMemory(one.name)
        self.assertEqual(two.buf[0], 7)
        two.close(); one.close(); one.unlink()

    def test_queue(self):
        queue = multiprocessing.Queue()
        one = multiprocessing.Process(target=queue.put, args=(1,))
        one.start()
        self.assertEqual(queue.get(timeout=20), 1)
        one.join()

if __name__ == "__main__":
    unittest.main()
END`;

const NODE = `cat >main.mjs <<'END'
import { fork, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, watch, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { Worker } from 'node:worker_threads';
if (process.argv[2] === 'child') {
  process.on('message', (n) => { process.send(n * 2); process.disconnect(); });
} else {
  const worker = new Worker('require("node:worker_threads").parentPort.postMessage(6 * 7)', { eval: true });
  console.log('worker', (await once(worker, 'message'))[0]);
  const child = fork('main.mjs', ['child']);
  child.send(21);
  console.log('fork', (await once(child, 'message'))[0]);
  const server = createServer((socket) => socket.end('by path')).listen('sock');
  await once(server, 'listening');
  console.log((await connect('sock').setEncoding('utf8').toArray()).join(''));
  server.close();
  const temporary = mkdtempSync(tmpdir() + '/x-') + '/sock';
  const other = createServer((socket) => socket.end('by a path in /tmp')).listen(temporary);
  await once(other, 'listening');
  console.log((await connect(temporary).setEncoding('utf8').toArray()).join(''));
  other.close();
  const http = createHttp((_, response) => response.end('over http')).listen(0, '127.0.0.1');
  await once(http, 'listening');
  console.log(await (await fetch('http://127.0.0.1:' + http.address().port, { headers: { connection: 'close' } })).text());
  console.log(await (await fetch('http://localhost:' + http.address().port, { headers: { connection: 'close' } })).text());
  http.close();
  http.closeAllConnections();
  writeFileSync('watched', '');
  const watcher = watch('.');
  setTimeout(() => writeFileSync('watched', 'x'), 10);
  await once(watcher, 'change');
  watcher.close();
  console.log('watched', execFileSync('node', ['-p', '1 + 1'], { encoding: 'utf8' }).trim());
}
END`;

/** Creates files while a timer interrupts its calls. Python repeats those that fail with EINTR. */
const INTERRUPTED = `python3 -c '
import os, signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
for n in range(2000):
    file = os.open(f"t{n}", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    assert file > 2, file
    os.write(file, b"x")
    os.close(file)
signal.setitimer(signal.ITIMER_REAL, 0)
print(sum(os.path.getsize(f"t{n}") for n in range(2000)), len(os.listdir("."))) '`;

works('programs', [
  {
    name: 'children that exit while files are made',
    steps: [
      'for n in {1..600}; do (sleep 0 &); echo $n >f$n; done; ls | wc -l; for n in {1..600}; do [ "$(<f$n)" = $n ]; done',
    ],
  },
  { name: 'a timer that interrupts calls', steps: [INTERRUPTED] },
  {
    name: 'gcc',
    steps: [
      `${PROGRAM}; gcc -O2 -pipe main.c twice.c -o out; ./out; gcc -c twice.c; ar rcs libtwice.a twice.o; gcc main.c -L. -ltwice -o out2; ./out2`,
    ],
    files: ['libtwice.a', 'main.c'],
  },
  {
    name: 'make',
    steps: [
      `${PROGRAM}; printf 'out: main.o twice.o\\n\\tgcc -o $@ $^\\n%%.o: %%.c\\n\\tgcc -c $<\\n' >Makefile; make -j4 | sort; ./out`,
    ],
    needs: 'make',
    there: hasProgram('make'),
  },
  { name: 'unit tests in Python with processes', steps: [`${UNITS}\npython3 test_all.py 2>&1 | sed 's/ in .*s$//'`] },
  {
    name: 'pytest with processes',
    steps: [`${UNITS}\npython3 -m pytest -q test_all.py | sed 's/ in .*s$//'`],
    env: pytest,
    needs: 'pytest',
    there: packaged !== undefined,
  },
  {
    name: 'a virtual environment',
    steps: ['python3 -m venv --without-pip e; e/bin/python -c "import sys; print(sys.prefix)"'],
    needs: 'venv',
    there: spawnSync('/usr/bin/python3', ['-c', 'import venv']).status === 0,
  },
  { name: 'Node with workers, processes and servers', steps: [`${NODE}\nnode main.mjs`] },
  {
    name: 'cargo',
    as: 'root',
    steps: [
      'mkdir -p src; printf \'[package]\\nname = "x"\\nversion = "0.1.0"\\nedition = "2021"\\n\' >Cargo.toml; echo \'fn main() { println!("built"); } #[test] fn works() { assert_eq!(1 + 1, 2); }\' >src/main.rs; cargo build -q --offline; ./target/debug/x; cargo test -q --offline 2>&1 | grep -c "1 passed"',
    ],
    env: () => ({ PATH: `${cargo}:${process.env.PATH}` }),
    files: ['Cargo.lock'],
    needs: 'cargo of rustup',
    there: cargo !== undefined,
    timeoutMs: 120_000,
  },
  {
    name: 'a terminal',
    steps: [
      `python3 -c 'import pty; pty.spawn(["bash", "-c", "tty | sed s/[0-9]*$//; stty rows 20 cols 40; stty size; read -t 0 x; echo $TERM"])' </dev/null`,
      `script -qec 'test -t 1 && echo terminal' /dev/null </dev/null`,
    ],
  },
  {
    name: 'files of every kind',
    steps: [
      'mkdir d; mkfifo d/f; ln -s x d/l; echo a >d/a; ln d/a d/b; touch -d 2001-01-01 d/a; chmod 640 d/a; (echo x >d/f &); cat d/f; stat -c "%a %h %Y" d/a; find d | sort; mv d e; rm -r e; ls',
    ],
  },
  {
    name: 'files in /tmp',
    steps: [
      'f=$(mktemp); echo x >"$f"; cat "$f"; d=$(mktemp -d); cd "$d"; touch a; ls; python3 -c "import tempfile; tempfile.TemporaryFile().write(b\'x\')"; echo x >/dev/shm/x-$$; rm /dev/shm/x-$$',
      'echo a >/tmp/of-this-test-$PPID-a || true; rm -f /tmp/of-this-test-*-a',
    ],
  },
  {
    name: 'devices',
    steps: [
      'head -c 8 /dev/urandom | wc -c; echo x >/dev/null; head -c 3 /dev/zero | wc -c; echo x 2>/dev/null >/dev/full || echo full; cat </dev/null; echo out >/dev/stdout; cat <(echo substituted); [ -c /dev/tty ] && echo tty',
    ],
  },
  {
    name: 'processes',
    steps: [
      'sleep 30 & kill $!; wait $! || echo $?; (exit 3) || echo $?; sh -c "kill -9 \\$\\$" || echo $?; trap "echo trapped" USR1; kill -USR1 $$; nproc >/dev/null; ps -o comm= -p $$; timeout 0.1 sleep 5 || echo $?; ulimit -n >/dev/null; nice true; pgrep -P $$ || true; cat /proc/self/comm',
    ],
  },
  {
    name: 'what one command left, the next one ends',
    steps: [
      'setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $! >pid; disown',
      'kill -0 $(cat pid); kill $(cat pid); while kill -0 $(cat pid) 2>/dev/null; do sleep .05; done; echo ended',
    ],
  },
  {
    name: 'a server of one command, asked by the next',
    steps: [
      '(setsid python3 -u -c \'import http.server as h; s = h.HTTPServer(("127.0.0.1", 0), h.SimpleHTTPRequestHandler); open("port", "w").write(str(s.server_port)); s.serve_forever()\' </dev/null >/dev/null 2>&1 & echo $! >pid); until [ -s port ]; do sleep .05; done',
      'echo hi >x; curl -s http://127.0.0.1:$(cat port)/x; curl -s http://localhost:$(cat port)/x',
      'kill $(cat pid)',
    ],
  },
  {
    name: 'archives',
    steps: [
      'mkdir d; seq 1000 >d/a; tar -czf d.tgz d; rm -r d; tar -xzf d.tgz; tail -1 d/a; python3 -m zipfile -c d.zip d/; python3 -m zipfile -l d.zip | wc -l',
    ],
  },
  {
    name: 'SQLite',
    steps: [
      'sqlite3 x.db "pragma journal_mode=wal; create table t(n); insert into t values (1),(2); select sum(n) from t"',
      'sqlite3 x.db "select count(*) from t"',
    ],
    needs: 'sqlite3',
    there: hasProgram('sqlite3'),
  },
  {
    name: 'names of the machine',
    steps: [
      'hostname; id -u; id -un; whoami; getent passwd $(id -u) | cut -d: -f1; getent hosts localhost | wc -l; date +%Z; locale charmap',
    ],
  },
  {
    name: 'PostgreSQL',
    as: 'ordinary',
    steps: [
      'initdb -D db -A trust -U me >/dev/null; pg_ctl -D db -w -l log -o "-k $PWD -c listen_addresses=" start >/dev/null',
      'psql -h "$PWD" -U me -d postgres -Atc "create table t(n int); insert into t select generate_series(1, 1000); select sum(n) from t"',
      'pg_ctl -D db -w -m fast stop',
    ],
    env: (here) => ({ PATH: `${postgres}:${programs(here)}` }),
    needs: 'PostgreSQL',
    there: postgres !== undefined,
  },
]);
