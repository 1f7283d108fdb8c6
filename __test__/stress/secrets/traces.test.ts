import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AUTHORITY, HOST } from '../../confine/secrets/support.ts';
import { childrenOf, folder, host, processOf } from '../../support/index.ts';
import { TOKEN } from './support/forms.ts';
import { http2Host, rawHost } from './support/hosts.ts';
import { memoryHas } from './support/memory.ts';

/** Commands that use the secret. */
const COMMANDS = Number(process.env.AGENT_BASH_COMMANDS ?? 1000);
/** Sessions that run them, each in a world of its own. */
const SESSIONS = 4;

const CORES = /core/;

/** The files below a directory that have the value, or whose name has it. */
function filesWithValue(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesWithValue(path);
    if (path.includes(TOKEN)) return [path];
    try {
      return entry.isFile() && readFileSync(path).includes(TOKEN) ? [path] : [];
    } catch {
      return []; // It is gone.
    }
  });
}

/** A process and all that it has started. */
const below = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap((child) => below(child.pid))];

const textOf = (path: string) => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};

describe.runIf(process.platform === 'linux')(`after ${COMMANDS} commands with a secret`, () => {
  test('its value is in the memory of the host and of gates alone, and in no file', { timeout: 280_000 }, async () => {
    const seen = new Map();
    const [raw, h2] = [await rawHost(new Map(), seen), await http2Host(new Map(), seen)];
    const [home, temporary] = [folder(), folder()];
    const options = {
      cwd: folder(),
      safety: 'off',
      spill: true,
      confine: {
        network: { allow: [], hosts: { [HOST]: '127.0.0.1' } },
        secrets: { TOKEN: { hosts: [raw, h2].map(({ port }) => `${HOST}:${port}`) } },
      },
    };
    const running = host(
      `import { BashSession } from 'agent-bash';
       import { readFileSync } from 'node:fs';
       const options = ${JSON.stringify(options)};
       // The value is in no argument of this process.
       const value = readFileSync(process.env.VALUE_FILE, 'utf8');
       options.confine.secrets.TOKEN.value = () => value;
       let bad = 0;
       const judge = (result) => {
         if (JSON.stringify(result).includes(value) || !result.stdout.includes('X-Key: ghp_')) bad += 1;
       };
       const command = ${JSON.stringify(`curl -s -H "X-Key: $TOKEN" https://${HOST}:${raw.port}/echo`)};
       const sessions = await Promise.all(Array.from({ length: ${SESSIONS} }, async () => {
         const session = new BashSession(options);
         for (let n = 0; n < ${COMMANDS / SESSIONS - 1}; n++) judge(await session.run(command));
         judge(await bash(command, options));
         return session;
       }));
       console.log('ran, bad:', bad);
       setInterval(() => undefined, 1000);`,
      {
        env: {
          HOME: home,
          TMPDIR: temporary,
          XDG_STATE_HOME: join(home, 'state'),
          XDG_CACHE_HOME: join(home, 'cache'),
          AGENT_BASH_LEDGER: 'on',
          SSL_CERT_FILE: AUTHORITY,
          VALUE_FILE: valueFile(),
        },
      },
    );
    expect((await running.says(/ran, bad: (\d+)/, 250_000))[1]).toBe('0');
    expect(raw.heard().split(`X-Key: ${TOKEN}`).length - 1).toBe(COMMANDS);

    const ours = below(running.pid);
    const names = new Map(ours.map((pid) => [pid, processOf(pid)?.name ?? '']));
    console.log(`processes: ${[...names.values()].sort().join(', ')}`);
    expect([...names.values()].filter((name) => name === 'agent-bash-gate').length).toBeGreaterThan(0);
    for (const pid of ours) {
      for (const file of ['cmdline', 'environ', 'comm', 'mountinfo', 'maps']) {
        expect(textOf(`/proc/${pid}/${file}`).includes(TOKEN), `${file} of ${names.get(pid)}`).toBe(false);
      }
    }
    const holders = ours.filter((pid) => pid !== running.pid && memoryHas(pid, TOKEN));
    expect(holders.map((pid) => names.get(pid)).filter((name) => name !== 'agent-bash-gate')).toEqual([]);
    // The search finds it where it has to be.
    expect(memoryHas(running.pid, TOKEN)).toBe(true);
    expect(holders.length).toBeGreaterThan(0);
    // No core of a gate has it, and no page of it is written to a disk.
    for (const pid of holders) {
      expect(textOf(`/proc/${pid}/limits`)).toMatch(/Max core file size\s+0/);
    }
    expect([...filesWithValue(home), ...filesWithValue(temporary), ...filesWithValue(options.cwd)]).toEqual([]);
    expect(shared(ours)).toEqual([]);
    expect(readdirSync(options.cwd).filter((name) => CORES.test(name))).toEqual([]);
  });
});

/** A file with the value, outside of what is searched. */
function valueFile(): string {
  const path = join(folder(), 'value');
  writeFileSync(path, TOKEN);
  return path;
}

/** The open files of processes, also those without a name, that have the value. */
function shared(pids: number[]): string[] {
  return pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/fd`).flatMap((number) => {
      const path = `/proc/${pid}/fd/${number}`;
      try {
        const target = readlinkSync(path);
        if (!target.startsWith('/memfd:') && !target.endsWith('(deleted)')) return [];
        return readFileSync(path).includes(TOKEN) ? [`${pid}: ${target}`] : [];
      } catch {
        return [];
      }
    }),
  );
}
