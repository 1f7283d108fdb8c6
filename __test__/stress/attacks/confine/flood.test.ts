import { readFileSync } from 'node:fs';
import { type BashOptions, type BashResult, bash } from 'agent-bash';
import { describe, expect, onTestFinished } from 'vitest';
import { childrenOf, folder, hasProgram, kill, shimsOf, supervisorOf, testNeeding } from '../../../support/index.ts';

/** The most memory that a helper may ever have had, in KiB. */
const MEMORY = 48 * 1024;

const python = (lines: string) => `python3 - <<'END'\nimport os, socket\n${lines}\nEND`;

const connects = `for i in range(3000):
  made = socket.socket()
  try: made.connect((f"10.{i % 250}.{i // 250}.1", 443))
  except OSError: pass
  made.close()`;

/** Deeds of commands that are done very often, how often, and with which confinement. */
const FLOODS: [string, number, string, BashOptions['confine']?][] = [
  ['one change', 20_000, python('for i in range(20000):\n  try: os.mkdir("/etc/x")\n  except OSError: pass')],
  ['different changes', 20_000, python('for i in range(20000):\n  try: os.mkdir(f"/etc/{i}")\n  except OSError: pass')],
  ['connections', 3000, python(connects), { network: { allow: ['registry.test:443'] } }],
  ['processes', 300, 'for i in {1..300}; do mkdir "/etc/$i" 2>/dev/null & done; wait'],
];

/** The most memory that each helper of this host has had, in KiB. */
function peaks(): number[] {
  const below = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap((child) => below(child.pid))];
  const helpers = below(supervisorOf()?.pid ?? 0);
  expect(helpers.length).toBeGreaterThan(1);
  return helpers.map((pid) => {
    try {
      return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0; // The process has ended.
    }
  });
}

describe.runIf(process.platform === 'linux')('a flood of denials', () => {
  testNeeding('python3', hasProgram('python3')).each(FLOODS)(
    'of %s is counted, and takes little memory',
    async (_, count, command, confine = 'workspace') => {
      const { exitCode, confinement }: BashResult = await bash(command, { cwd: folder(), confine });
      expect([exitCode, confinement?.deniedTotal]).toEqual([0, count]);
      expect(confinement?.denied.length).toBeLessThanOrEqual(50);
      expect(peaks().filter((peak) => peak > MEMORY)).toEqual([]);
    },
  );

  testNeeding('python3', hasProgram('python3'))('of connections that the gate has not accepted yet is', async () => {
    const options = { cwd: folder(), confine: { network: { allow: ['registry.test:443'] } } };
    await bash('true', options);
    const gates = shimsOf(supervisorOf()?.pid ?? 0).filter(({ name }) => name === 'agent-bash-gate');
    expect(gates).not.toEqual([]);
    const all = (signal: NodeJS.Signals) => {
      for (const { pid } of gates) kill(pid, signal);
    };
    onTestFinished(() => all('SIGCONT'));
    all('SIGSTOP');
    const command = `${connects.replace('3000', '300')}\nprint("done")`;
    const { stdout, confinement } = await bash(python(command), { ...options, onOutput: () => all('SIGCONT') });
    expect([stdout, confinement?.deniedTotal]).toEqual(['done\n', 300]);
  });
});
