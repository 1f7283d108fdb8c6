/** What takes its time, and waits for nobody. */
const SLOW: string[] = [
  'sleep 20',
  'sleep infinity',
  'tail -f /dev/null',
  'until [ -e never ]; do sleep .1; done',
  'for i in {1..400}; do echo $i; sleep .05; done',
  'python3 -c "import time; time.sleep(20)"',
  'python3 -c "import threading; threading.Event().wait(20)"',
  'python3 -c "import socket; s = socket.socket(); s.bind((\'127.0.0.1\', 0)); s.listen(); s.accept()"',
  'python3 -c "import select, socket; a, b = socket.socketpair(); select.select([a], [], [])"',
  'python3 -c "import signal; signal.pause()"',
  "python3 -c \"import subprocess; subprocess.run(['sleep', '20'], stdout=subprocess.PIPE)\"",
  'perl -e "sleep 20"',
  'env nice sleep 20',
  'timeout 100 sleep 20',
];

/** How commands use each other. */
const USES: ((slow: string) => string)[] = [
  (slow) => slow,
  (slow) => `x=$(${slow}); echo "$x"`,
  (slow) => `{ ${slow}; } | cat`,
  (slow) => `{ ${slow}; } | tee log | sort | tail -n 1`,
  (slow) => `{ ${slow}; } 2>&1 | while read -r line; do :; done`,
  (slow) => `cat <(${slow}; echo end)`,
  (slow) => `(${slow}; echo end)`,
  (slow) => `{ ${slow}; } & wait`,
  (slow) => `{ ${slow}; } & { ${slow}; } & wait $!`,
  (slow) => `cat > script <<'END'\n${slow}\ntrue\nEND\nbash script; true`,
  (slow) => `{ ${slow}; } > out 2>&1 < /dev/null; true`,
  (slow) => `mkfifo f; (${slow}; echo end) > f & cat f`,
  (slow) => `mkfifo f; (${slow}; echo end > f) & cat f`,
  (slow) => `coproc { ${slow}; echo end; }; mapfile -t lines <&"\${COPROC[0]}"`,
];

/** What is slow in a way of its own. */
const OTHERS: string[] = [
  'while :; do :; done',
  'yes > /dev/null',
  'printf "all:\\n\\tsleep 20\\n" | make -f -',
  'printf "all: a b\\na b:\\n\\tsleep 20\\n" | make -j2 -f -',
  'touch log; tail -f log | grep x',
  'touch log; tail -F log 2> /dev/null | while read -r line; do echo "$line"; done',
  'node -e "setTimeout(() => {}, 20000)"',
  'node -e "setInterval(() => console.log(1), 50)"',
  'node -e "require(\'http\').createServer().listen(0)"',
  "node -e \"require('fs').watch('.', () => {})\"",
  "node -e \"require('child_process').spawn('sleep', ['20'], { stdio: 'pipe' })\"",
  "node -e \"require('child_process').execSync('sleep 20')\"",
  "node -e \"new (require('worker_threads').Worker)('setTimeout(() => {}, 20000)', { eval: true })\"",
  'node -e "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"',
  'python3 -m http.server 0 --bind 127.0.0.1',
  'python3 -c "import asyncio; asyncio.run(asyncio.sleep(20))"',
  'python3 -c "import multiprocessing as m, time; p = m.Process(target=time.sleep, args=(20,)); p.start(); p.join()"',
  'python3 -c "from concurrent.futures import ThreadPoolExecutor as T; import time; list(T(4).map(time.sleep, [20] * 8))"',
  'seq 100000000 | sort -R | wc -l',
  'xargs -P 4 -I{} sh -c "sleep 20; true" < <(seq 8)',
  'trap "echo ended" TERM; sleep 20 & wait',
  'flock lock sleep 20',
  'exec 9> lock; flock 9; flock lock true',
  'dd if=/dev/zero of=/dev/null bs=1M 2> /dev/null',
  'sleep 20 | sleep 20',
  'mkfifo f; exec 3<>f; (sleep 20; echo 1 >&3) & read -r x <&3',
  'sleep 20 & kill -STOP $!; sleep 20',
  'echo "Password: "; sleep 20',
];

/** The same with a terminal, which they look at beside their work or not at all. */
const BESIDE: string[] = [
  'sleep 20',
  'x=$(sleep 20)',
  'sleep 20 | cat',
  'cat & sleep 20',
  'top',
  'top -d 1',
  'watch -n 1 date',
  'touch log; less +F log',
  'tail -f /dev/null | less -F',
  'make -f <(printf "all:\\n\\tsleep 20\\n")',
  'python3 -c "import select, sys\nwhile not select.select([sys.stdin], [], [], 0.1)[0]: print(1)"',
  'python3 -c "import threading, time; threading.Thread(target=input, daemon=True).start(); time.sleep(20)"',
  'node -e "process.stdin.resume(); require(\'http\').createServer().listen(0)"',
  "node -e \"process.stdin.resume(); require('fs').watch('.', () => {})\"",
  'node -e "process.stdin.resume(); setInterval(() => process.stdout.write(\'.\'), 100)"',
  "node -e \"process.stdin.resume(); require('child_process').spawn('sleep', ['20'])\"",
  'node -e "process.stdin.resume(); setTimeout(() => {}, 3000)"',
  'script -qc "sleep 20" /dev/null',
  'read -t 3 x; sleep 20',
];

export const PLAIN = [...SLOW.flatMap((slow) => USES.map((use) => use(slow))), ...OTHERS];
export const IN_TERMINAL = BESIDE;
