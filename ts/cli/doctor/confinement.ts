import { randomUUID } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type BashOptions, type BashResult, bash, type ConfinePart, type Target } from 'agent-bash';
import { type Check, fine, missing } from './check.ts';
import { secrets, withoutSecrets } from './secrets.ts';
import { wayOf, wayThere } from './ways.ts';

type Confinement = NonNullable<BashResult['confinement']>;

/** The limits that each part sets, and the loss without it. */
const PARTS: Record<ConfinePart, { held: string; lost: string }> = {
  files: {
    held: 'no file outside can be changed',
    lost: 'confined commands can change and read all files of this user',
  },
  network: { held: 'no host can be reached', lost: 'confined commands can reach every host' },
  processes: {
    held: 'no other process can be signalled',
    lost: 'confined commands can signal and read all processes of this user',
  },
  syscalls: {
    held: 'the system calls that only attacks need are refused',
    lost: 'confined commands can use every system call, and so every fault of the kernel',
  },
};

const NAMES = Object.keys(PARTS) as ConfinePart[];

/**
 * Prints one word for each attempt that has succeeded. `$1` is a new file, which is removed if it can be made at all,
 * `$2` a port. `$3` is the pid of this process, which receives a signal if it can be reached: a process of the confined
 * command may have the same pid, so that the exit code of `kill` proves nothing.
 */
const ATTEMPTS = `(: > "$1") 2> /dev/null && rm -f "$1" && echo files
(exec 3<> "/dev/tcp/127.0.0.1/$2") 2> /dev/null && echo network
kill -URG "$3" 2> /dev/null
unshare --user true 2> /dev/null && echo syscalls
exit 0`;

/** Checks each part of a confinement by trying an action that it prevents. */
export async function confinement(): Promise<Check[]> {
  const server = createServer((socket) => socket.destroy());
  let signalled = false;
  const onSignal = () => {
    signalled = true;
  };
  // No program uses this signal, and those without a handler ignore it.
  process.on('SIGURG', onSignal);
  try {
    const file = join(await writable(), `agent-bash-doctor-${randomUUID()}`);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as { port: number };
    const { stdout, confinement } = await bash(ATTEMPTS, {
      args: [file, String(port), String(process.pid)],
      confine: { profile: 'read-only', require: [] },
    });
    // The last checks take long enough for a signal to arrive.
    const last = [await hosts(), await secrets()];
    const succeeded = [...stdout.split('\n'), ...(signalled ? ['processes'] : [])];
    const parts = NAMES.map((part) => judged(part, confinement, succeeded.includes(part)));
    return [...(confinement ? [wayOf(confinement)] : []), ...parts, ...last];
  } catch (error) {
    const { message } = error as Error;
    return without(message);
  } finally {
    process.off('SIGURG', onSignal);
    server.close();
  }
}

/** Returns the checks of a machine on which no confined command runs. */
function without(message: string): Check[] {
  return [
    missing('confine-way', message, 'commands cannot be confined'),
    ...NAMES.map((part) => missing(`confine-${part}`, message, PARTS[part].lost)),
    missing('confine-hosts', message, WITHOUT_HOSTS),
    withoutSecrets(message),
  ];
}

/**
 * Checks the parts of a confinement on a target. The network is not tried: nothing of ours listens on its loopback. The
 * process that a signal may reach is a command of its own.
 */
export async function confinementOn(target: Target): Promise<Check[]> {
  const over = new AbortController();
  let victim: Promise<BashResult> | undefined;
  const started = new Promise<string>((resolve, reject) => {
    const onOutput: BashOptions['onOutput'] = ({ text }) => resolve(text.trim());
    const waits = 'trap "exit 9" URG; echo $$; read -r line <> <(:)';
    victim = bash(waits, { target, signal: over.signal, onOutput });
    victim.catch(reject);
  });
  try {
    const file = `${target.info.home}/agent-bash-doctor-${randomUUID()}`;
    const { stdout, confinement } = await bash(ATTEMPTS, {
      target,
      args: [file, '', await started],
      confine: { profile: 'read-only', require: [] },
    });
    const last = [await hosts(target), await secrets(target)];
    over.abort();
    const reached = (await victim)?.exitCode === 9;
    const succeeded = [...stdout.split('\n'), ...(reached ? ['processes'] : [])];
    const parts = NAMES.map((part) => judged(part, confinement, succeeded.includes(part)));
    return [...(confinement ? [wayThere(confinement)] : []), ...parts, ...last];
  } catch (error) {
    return without((error as Error).message);
  } finally {
    over.abort();
  }
}

const WITHOUT_HOSTS = 'a confinement with network.allow or expose is refused';

/** Checks that a world can have a gate to hosts, which needs devices that a kernel may lack (veth). */
export async function hosts(target?: Target): Promise<Check> {
  const name = 'confine-hosts';
  try {
    // An address of documentation, which nothing connects to.
    const network = { allow: ['192.0.2.1'] };
    const { confinement } = await bash('true', { target, confine: { profile: 'read-only', network, require: [] } });
    const without = confinement?.missing.find(({ part }) => part === 'network');
    if (without) return missing(name, without.why, `${WITHOUT_HOSTS}; ${without.remedy}`);
    return fine(name, 'hosts can be allowed, and ports exposed');
  } catch (error) {
    return missing(name, (error as Error).message, WITHOUT_HOSTS);
  }
}

/** Returns a directory in which this user can make files, and in which a confined command must make none. */
async function writable(): Promise<string> {
  for (const folder of [homedir(), process.cwd()]) {
    const can = await access(folder, constants.W_OK).then(
      () => true,
      () => false,
    );
    if (can) return folder;
  }
  return '/';
}

function judged(part: ConfinePart, confinement: Confinement | null, succeeded: boolean): Check {
  const name = `confine-${part}`;
  const { held, lost } = PARTS[part];
  const without = confinement?.missing.find((one) => one.part === part);
  if (without) return missing(name, without.why, `${lost}; ${without.remedy}`);
  if (succeeded || !confinement?.held.includes(part)) return missing(name, 'it was tried, and nothing held it', lost);
  return fine(name, held);
}
