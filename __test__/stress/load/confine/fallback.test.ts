import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BashResult } from 'agent-bash';
import { describe, expect } from 'vitest';
import { lasting } from '../../../confine/support/ground.ts';
import { hostResult, testNeeding } from '../../../support/index.ts';

/** Takes the place of a shell: a process in a user namespace in which there can be no other one. */
const FORBIDDING = `unshare -Ur bash -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"' bash`;
const canForbid = spawnSync('bash', ['-c', `${FORBIDDING} true`]).status === 0;
const forbidden = testNeeding('a user namespace in which no other one can be made', canForbid);

/** Runs commands where no namespaces can be made. */
const run = (cwd: string, commands: string[], options: object) =>
  hostResult<Partial<BashResult>[]>(
    `const seen = [];
     for (const command of ${JSON.stringify(commands)}) {
       const options = { cwd: ${JSON.stringify(cwd)}, timeoutMs: 20_000, ...${JSON.stringify(options)} };
       seen.push(await bash(command, options));
     }
     console.log(JSON.stringify(seen));`,
    { before: `exec ${FORBIDDING} "$@"` },
  );

describe.runIf(process.platform === 'linux')('without user namespaces', () => {
  forbidden('a listener holds all parts', async () => {
    const cwd = lasting();
    const [result] = await run(cwd, ['touch made'], { confine: 'workspace' });
    expect(result?.confinement).toMatchObject({ way: 'listener', missing: [] });
    expect(readdirSync(cwd)).toEqual(['made']);
  });

  forbidden('changes outside are denied and told, those inside work', async () => {
    const [cwd, out] = [lasting(), lasting()];
    for (const name of ['canary', 'other']) writeFileSync(join(out, name), 'original');
    const inside =
      'echo x >made && mkdir -p a/b && mv made a/b/ && cat a/b/made && f=$(mktemp) && echo y >$f && cat $f';
    const outside = [
      ...['echo x >canary', 'echo x >>canary', 'echo x >fresh', 'truncate -s 0 canary', 'rm -f canary', 'mkdir fresh'],
      ...[
        'ln -s x fresh',
        `mv ${cwd}/a fresh`,
        'mv canary fresh',
        `mv -f ${cwd}/a/b/made other`,
        'mkdir -p .',
        'cat canary',
      ],
    ];
    const [worked, ...denied] = await run(cwd, [inside, ...outside.map((line) => `cd ${out} && ${line}`)], {
      confine: 'workspace',
    });
    expect([worked?.exitCode, worked?.stdout, worked?.confinement?.denied]).toEqual([0, 'x\ny\n', []]);
    const told = denied.map((result) => result.confinement?.denied.map(({ kind, target }) => `${kind} ${target}`));
    const [canary, fresh, other] = ['canary', 'fresh', 'other'].map((name) => `write ${out}/${name}`);
    const once = [canary, canary, fresh, canary, canary, fresh, fresh, fresh].map((one) => [one]);
    expect(told).toEqual([...once, expect.arrayContaining([canary]), expect.arrayContaining([other]), [], []]);
    expect(denied.map(({ exitCode }) => exitCode === 0)).toEqual(outside.map((_, at) => at >= outside.length - 2));
    expect(readdirSync(out).sort()).toEqual(['canary', 'other']);
    expect(readFileSync(join(out, 'canary'), 'utf8')).toBe('original');
  });

  forbidden('sockets by path are reached in write roots only, and other calls are refused', async () => {
    const cwd = lasting();
    const server = (path: string) =>
      `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("${path}"); c = socket.socket(socket.AF_UNIX); s.listen(); c.connect("${path}"); print("reached")'`;
    const [own, shared, namespace] = await run(
      cwd,
      [
        server('own'),
        `rm -f /tmp/of-${process.pid}; ${server(`/tmp/of-${process.pid}`)}; rm -f /tmp/of-${process.pid}`,
        'unshare -U true',
      ],
      { confine: { require: [] } },
    );
    expect(own?.stdout).toBe('reached\n');
    expect([shared?.stdout, shared?.confinement?.denied[0]?.kind]).toEqual(['', 'write']);
    expect(namespace?.confinement?.denied).toMatchObject([{ kind: 'syscall', target: 'unshare' }]);
  });
});
