import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash, warmUp } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, isLinux, WAIT } from '../support/index.ts';

/** A command that could notice a witness, and its options. */
const COMMANDS: [what: string, command: string, options?: BashOptions][] = [
  ['its own descriptors', `ls -l /proc/self/fd | sed 's/.* -> //; s/[0-9]//g'; ls /proc/$$/fd`],
  ['traps', `trap 'echo err' ERR; trap 'echo exit' EXIT; trap 'echo debug' DEBUG; false; (exit 4); kill -USR1 $$`],
  ['a program in place of the shell', 'exec env'],
  ['a shell in its place, by another name', `exec -a other bash -c 'echo "$0"; env | grep -c LD_; ls /proc/self/fd'`],
  ['a program that is not there', 'exec /no/such/program'],
  ['a low limit of descriptors', `ulimit -n 60; ls /proc/self/fd; bash -c 'ulimit -n; true | false'`],
  ['a very low limit of descriptors', 'ulimit -n 5; false | true; echo "${PIPESTATUS[@]}"'],
  ['the option for that', 'ls /proc/self/fd; false', { limits: { openFiles: 10 } }],
  ['a restricted shell', 'set -r; ls /no/such/file; cd /'],
  ['POSIX mode', `bash --posix -c 'env | grep LD_'; set -o posix; false | true; echo $?`],
  ['BASH_ENV', 'echo "$BASH_ENV $FROM"; false | true', { env: { BASH_ENV: 'start' } }],
  ['an empty environment', `env -i bash -c 'env; ls /proc/self/fd'`],
  ['closed descriptors', `for i in {3..255}; do eval "exec $i>&-"; done; false | true; echo ok`],
  ['the number of the witness', 'exec 69</dev/null; ls /proc/self/fd; cat <&69; echo ok'],
  ['a signal to itself', 'kill -TERM $$'],
  ['a fault', 'kill -SEGV $$'],
  ['jobs', 'set -m; sleep .05 & wait $!; echo $?; (exit 4) & wait -n; echo $?'],
  ['a coprocess', 'coproc cat; echo hi >&${COPROC[1]}; read -ru ${COPROC[0]} x; echo "$x"'],
  ['a script without an interpreter', './script; echo $?'],
  ['a program without the right to run', './start; echo $?'],
  ['a command longer than an argument', `false | true; echo \${#BASH_SOURCE[@]} # ${'x'.repeat(200_000)}`],
  ['more processes than the witness notes', 'for i in {1..4500}; do (exit 1); done; echo $?'],
  ['a directory that is gone', 'mkdir gone; cd gone; rmdir ../gone; false | true; echo $?'],
];

describe.runIf(isLinux)('a watched command sees the same', () => {
  test.each(COMMANDS)('%s', { timeout: 6 * WAIT }, async (_, command, options) => {
    for (const warm of [false, true]) {
      const run = async (evidence: 'off' | 'status') => {
        const cwd = folder();
        writeFileSync(join(cwd, 'start'), 'FROM=start; false | true');
        writeFileSync(join(cwd, 'script'), 'echo script; exit 7\n');
        chmodSync(join(cwd, 'script'), 0o755);
        const all = { inheritEnv: 'none', ...options, cwd, warm, evidence } as const;
        const path = { PATH: process.env.PATH, ...options?.env };
        if (warm) await warmUp({ ...all, env: path });
        const { exitCode, signal, stdout, stderr, notes, evidence: found } = await bash(command, { ...all, env: path });
        expect(found === null).toBe(evidence === 'off');
        const same = [stdout, stderr].map((text) => text.replaceAll(cwd, 'HERE').replaceAll(/AGENT_BASH_ID=\S+/g, ''));
        return { exitCode, signal, same, notes };
      };
      expect(await run('status')).toEqual(await run('off'));
    }
  });

  test('no program of the command can reach the memory of the witness', async () => {
    const looks = 'ls -l /proc/self/fd /proc/$$/fd; grep -l memfd /proc/self/maps';
    const { stdout } = await bash(looks, { evidence: 'status' });
    expect(stdout).toContain('pipe:');
    expect(stdout).not.toMatch(/memfd|maps/);
  });

  test('a process that an earlier command left writes to memory of its own', async () => {
    const cwd = folder();
    // The process ends with this file, and so with the directory.
    writeFileSync(join(cwd, 'go'), '');
    const first = await bash('(while test -e go; do (exit 5); done) >/dev/null 2>&1 &', {
      cwd,
      evidence: 'status',
    });
    expect(first.survivors).not.toEqual([]);
    try {
      for (let n = 0; n < 10; n++) {
        const { evidence } = await bash('true | cat', { cwd, evidence: 'status' });
        expect(evidence?.partsTotal).toBeLessThanOrEqual(2);
        expect(JSON.stringify(evidence)).not.toContain('exit 5');
      }
    } finally {
      rmSync(join(cwd, 'go'));
    }
  });
});
