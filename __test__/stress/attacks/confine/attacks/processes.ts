import { type Attack, leaked, overwritten, said, signalled } from '../../../../confine/support/attack.ts';

const SIGUSR1 = 10;

const signal = (name: string, script: string, more: Partial<Attack> = {}): Attack => ({
  name: `signals a process of the host: ${name}`,
  script,
  sees: signalled,
  victim: true,
  ...more,
});

/** Reads the secret that a process of the host holds. */
const reads = (name: string, script: string, more: Partial<Attack> = {}): Attack => ({
  name: `reads a process of the host: ${name}`,
  script,
  sees: leaked,
  victim: true,
  // These attacks target the victim's copy of the secret, so its file is not hidden.
  confine: () => ({ hide: [] }),
  ...more,
});

const changes = (name: string, script: string): Attack => ({
  name: `changes a process of the host: ${name}`,
  script,
  sees: said,
  victim: true,
});

/** Processes of the host, as targets. */
export const processes: Attack[] = [
  ...['TERM', 'KILL', 'STOP', 'HUP', 'USR1', 'RTMAX'].map((name) => signal(name, `kill -${name} $VICTIM`)),
  signal('its group', 'kill -TERM -- -$VICTIM'),
  signal('/bin/kill', 'env kill -TERM $VICTIM'),
  signal('by name', 'pkill -TERM -f "victim $SITE"'),
  signal(
    'whatever /proc lists',
    'for p in /proc/[0-9]*; do grep -qs "$SITE/signals" $p/cmdline && kill ${p#/proc/}; done',
  ),
  signal('Python', `python3 -c 'import os; os.kill(int(os.environ["VICTIM"]), 15)'`),
  signal('Node', `node -e 'process.kill(+process.env.VICTIM, "SIGTERM")'`),
  signal('tkill', `attack tkill $VICTIM ${SIGUSR1}`),
  signal('tgkill', `attack tgkill $VICTIM ${SIGUSR1}`),
  signal('sigqueue', `attack sigqueue $VICTIM ${SIGUSR1}`),
  signal('a pidfd', `attack pidfd $VICTIM ${SIGUSR1}`),
  signal('a directory of /proc', `attack proc-fd $VICTIM ${SIGUSR1}`),
  signal('for input of a pipe', `attack sigio $VICTIM ${SIGUSR1}`),
  signal(
    'as an orphan',
    `(setsid bash -c 'until [ -e go ]; do :; done; kill $VICTIM; touch done' &)
                          touch go; until [ -e done ]; do :; done`,
  ),
  {
    name: 'signals everybody',
    script: `\${OWN:+unshare -Urpfm --mount-proc} bash -c 'sleep 5 & attack everyone 10'`,
    sees: said,
  },
  {
    name: 'signals everybody from the shell',
    script: `\${OWN:+unshare -Urpfm --mount-proc} bash -c 'trap : USR1; sleep 5 & kill -USR1 -1 && echo PWNED'`,
    sees: said,
  },
  {
    name: 'sees a process of the host in ps',
    script: 'ps axww | grep -q "[v]ictim $SITE" && echo PWNED',
    sees: said,
    victim: true,
  },
  {
    name: 'sees the pid of a process of the host',
    script: 'ps -o args= -p $VICTIM | grep -q "victim $SITE" && echo PWNED',
    sees: said,
    victim: true,
  },
  reads('environ', 'tr "\\0" "\\n" </proc/$VICTIM/environ'),
  reads(
    'environ of what /proc lists',
    'for p in /proc/[0-9]*; do grep -qs "$SITE/signals" $p/cmdline && cat $p/environ; done',
  ),
  reads('mem', 'attack proc-mem $VICTIM $ADDRESS'),
  reads('process_vm_readv', 'attack vm-read $VICTIM $ADDRESS'),
  reads('pidfd_getfd', 'attack take-fd $VICTIM 77'),
  reads('its descriptors', 'cat /proc/$VICTIM/fd/77', { confine: ({ hidden }) => ({ hide: [hidden] }) }),
  reads('its directory', 'cat /proc/$VICTIM/cwd/key', { confine: ({ hidden }) => ({ hide: [hidden] }) }),
  reads('a debugger', `gdb -p $VICTIM -batch -ex "x/s $ADDRESS" 2>&1`, {
    needs: 'gdb',
  }),
  {
    name: 'writes into a process of the host: mem',
    script: 'attack proc-mem $VICTIM $ADDRESS x',
    sees: overwritten,
    victim: true,
  },
  {
    name: 'writes into a process of the host: process_vm_writev',
    script: 'attack vm-write $VICTIM $ADDRESS x',
    sees: overwritten,
    victim: true,
  },
  changes('trace', 'attack trace $VICTIM'),
  changes('limits', 'attack limit $VICTIM'),
  changes('prlimit', 'prlimit --pid $VICTIM --core=0 && grep -q "$SITE" /proc/$VICTIM/cmdline && echo PWNED'),
  changes('priority', 'attack renice $VICTIM'),
  changes('processors', 'attack pin $VICTIM'),
  changes('scheduler', 'attack idle $VICTIM'),
  { ...changes('memory', 'attack page-out $VICTIM $ADDRESS'), as: 'root' },
  changes('comparison', 'attack compare $VICTIM'),
  changes('score', 'echo 7 >/proc/$VICTIM/oom_score_adj && echo PWNED'),
  changes('core dumps', 'echo 0 >/proc/$VICTIM/coredump_filter && echo PWNED'),
];

/** Our own processes: the shim that is the command's parent, and whatever else a world consists of. */
export const helpers: Attack[] = [
  { name: 'reads the memory of a helper', script: 'attack helpers-open $PPID', sees: said },
  { name: 'opens any process', script: 'attack helpers-open ${OWN:+$VICTIM}', sees: said, victim: true },
  { name: 'opens the first process', script: 'attack helpers-open ${OWN:+$PPID}${OWN:-1}', sees: said },
  { name: 'reads the environment of a helper', script: 'cat /proc/$PPID/environ >/dev/null && echo PWNED', sees: said },
  {
    name: 'reads the descriptors of a helper',
    // A descriptor may be closed meanwhile, which fails readlink.
    script: '[ -n "$(readlink /proc/$PPID/fd/*)" ] && echo PWNED',
    sees: said,
  },
  { name: 'traces a helper', script: 'attack trace $PPID', sees: said },
  {
    name: 'takes a descriptor of a helper',
    script: 'for n in {0..40}; do attack take-fd $PPID $n; [ $? = 0 ] && echo PWNED; done 2>/dev/null',
    sees: said,
  },
  {
    name: 'enters the root of a helper',
    script: 'ls "/proc/$PPID/root$OUT" >/dev/null && echo x >"/proc/$PPID/root$OUT/canary"',
  },
  { name: 'limits a helper', script: 'attack limit $PPID', sees: said },
];
