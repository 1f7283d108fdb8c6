import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../../../cli/support.ts';
import { blocks, examples, page, printed, promised, source, table } from '../../../docs/examples.ts';
import { folder, hostEnv } from '../../../support/index.ts';
import { sshHost, sshTest } from '../../../support/ssh.ts';

const text = await page('remote.md');
const readme = await source('README.md');
const sandboxes = await page('sandbox.md');
const found = blocks(text);
const of = (kind: string) => found.filter((one) => one.kind === kind).map((one) => one.text);

/** Puts ssh with a config in which `build1` is a host of this test on the PATH. Returns the home there. */
function client(): string {
  const { config, home } = sshHost();
  const bin = folder();
  const own = join(bin, 'ssh_config');
  writeFileSync(own, readFileSync(config, 'utf8').replace('Host box', 'Host build1'), { mode: 0o600 });
  const path = process.env.PATH;
  writeFileSync(join(bin, 'ssh'), `#!/bin/bash\nPATH='${path}' exec ssh -F '${own}' "$@"\n`, { mode: 0o755 });
  hostEnv({ PATH: `${bin}:${path}` });
  return home;
}

describe('docs/remote.md', () => {
  const ofReadme = examples(readme).filter((example) => example.includes('connect('));
  const all = [...examples(text), ...examples(sandboxes), ...ofReadme].map((example, index) => ({
    example,
    number: index + 1,
  }));

  test('has examples, and each shows something', () => {
    expect(all.length).toBeGreaterThan(2);
    for (const { example } of all) expect(promised(example), example).not.toEqual([]);
  });

  for (const { example, number } of all) {
    sshTest(`example ${number}`, async () => {
      const project = join(client(), 'project');
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), '{}');
      expect(await printed(example, folder())).toEqual(promised(example));
    });
  }

  test('names all reasons', async () => {
    const reasons = /export type TargetReason =\n(.*?);/s.exec(await source('ts/errors.ts'))?.[1] ?? '';
    const named = table(text, 'Errors').map(([reason = '']) => reason.replaceAll('`', ''));
    expect(named).toEqual([...reasons.matchAll(/'([a-z-]+)'/g)].map(([, reason]) => reason));
  });

  test('names all options with their defaults', async () => {
    const types = await source('ts/target/types.ts');
    const options = /^export interface ConnectOptions \{\n(.*?)^\}/ms.exec(types)?.[1] ?? '';
    const names = [...options.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(text).toContain(`\n| \`${name}\` | `);
    const numbers = [...options.matchAll(/@default ([\d_]+)\n.*\n.*\n {2}(\w+)\?:/g)];
    expect(numbers.length).toBeGreaterThan(2);
    for (const [, value = '', name] of numbers) {
      expect(text).toMatch(new RegExp(`^\\| \`${name}\` \\|.*\\| ${value.replaceAll('_', ',')} \\|$`, 'm'));
    }
  });

  sshTest('the job runs, with the keys and the host of this test', async () => {
    const [install = '', script = '', ...more] = of('sh');
    expect([install.trim(), ...more]).toEqual(['npm install agent-bash agent-bash-host']);
    const { config, home } = sshHost();
    const cwd = folder();
    mkdirSync(join(home, 'project'));
    writeFileSync(join(home, 'project', 'package.json'), JSON.stringify({ scripts: { test: 'echo tested' } }));
    // The config of the job is written by its second line; the rest of the way to the host is behind it.
    const lines = script.trim().split('\n');
    lines.splice(2, 0, `sed 's/Host box/Host build1/' '${config}' | cat - ssh_config > both; mv both ssh_config`);
    const program = lines.join('\n').replaceAll('npx agent-bash', `'${process.execPath}' '${PROGRAM}'`);
    const { exitCode, stdout } = await bash(program, { cwd, env: { DEPLOY_KEY: 'a key' }, timeoutMs: 60_000 });
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^agent-bash [^\n]*: commands run\n.*\ntested\n$/s)]);
  });
});
