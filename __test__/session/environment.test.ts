import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, hostEnv } from '../support/index.ts';
import { session, WAYS } from './support.ts';

describe.each(WAYS)('the environment of a session, %s', (_, way) => {
  test('is that of its construction', async () => {
    hostEnv({ SESSION_TEST: 'one' });
    const one = session(way);
    process.env.SESSION_TEST = 'two';
    expect((await one.run('echo "$SESSION_TEST"')).stdout).toBe('one\n');
    await one.run('x=1');
    expect((await one.run('echo "$SESSION_TEST"; env | grep ^SESSION_TEST')).stdout).toBe('one\nSESSION_TEST=one\n');
  });

  test('`env` of the session holds for all, of a run for it alone', async () => {
    const one = session({ ...way, env: { A: 'session', B: 'session', HOME: null } });
    const shows = 'echo "$A $B ${C-none} ${HOME-none}"; env | grep -cE "^(A|B|C)="';
    expect((await one.run(shows)).stdout).toBe('session session none none\n2\n');
    expect((await one.run(shows, { env: { A: 'run', C: 'run' } })).stdout).toBe('run session run none\n3\n');
    expect((await one.run(shows)).stdout).toBe('session session none none\n2\n');
    expect((await one.run(shows, { env: { A: null, B: undefined } })).stdout).toMatch(
      /^ {1,2}session none none\n1\n$|^ {2}none none\n0\n$/,
    );
    expect((await one.run(shows)).stdout).toBe('session session none none\n2\n');
  });

  test('what a command makes of a variable that was given for it alone', async () => {
    const one = session(way);
    await one.run('plain=p; export A=before');
    await one.run('A=changed; B=changed; export C=made; unset D', { env: { A: 'given', B: 'given', D: 'given' } });
    // Changed or not, variables given to a command last for that command.
    expect((await one.run('echo "$C ${D-none} $plain"')).stdout).toBe('made none p\n');
    await one.run(':', { env: { A: 'given', E: 'given' } });
    expect((await one.run('echo "${E-none}"; env | grep -c ^E=')).stdout).toBe('none\n0\n');
  });

  test('one that was given over a variable of the session of another kind', async () => {
    const one = session(way);
    await one.run('declare -a a=(1 2); declare -A m=([k]=v); declare -i n=3; declare -n r=a; s=plain; f() { echo f; }');
    expect((await one.run('echo "$s$n"; env | grep -cE "^(s|n)="', { env: { s: 'given', n: '7' } })).stdout).toBe(
      'given7\n2\n',
    );
    expect((await one.run('declare -p a m n r s; f')).stdout).toBe(
      'declare -a a=([0]="1" [1]="2")\ndeclare -A m=([k]="v" )\ndeclare -i n="3"\ndeclare -n r="a"\ndeclare -- s="plain"\nf\n',
    );
  });

  test('over a readonly one: no error, the command runs', async () => {
    const one = session(way);
    await one.run('readonly ro=mine');
    const { exitCode, stdout } = await one.run('echo "on $ro"', { env: { ro: 'given' } });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^on (mine|given)\n$/);
    expect((await one.run('echo "$ro"')).stdout).toBe('mine\n');
  });

  test('values of every kind', async () => {
    const one = session(way);
    const value = ` a\nb\t'"\\$HOME\`x\` é🎉 * ~ \x01\x7f%s `;
    expect((await one.run('printf %s "$V"', { env: { V: value }, sanitize: false })).stdout).toBe(value);
    const two = session({ ...way, env: { V: value } });
    await two.run('x=1');
    expect((await two.run('printf %s "$V"', { sanitize: false })).stdout).toBe(value);
    await two.run('W=$V');
    expect((await two.run('printf %s "$W"', { sanitize: false })).stdout).toBe(value);
  });

  test('names that bash cannot export, and functions in the environment', async () => {
    const env = { 'a-b': '1', 'BASH_FUNC_hi%%': '() { echo hi; }', '1x': 'y' };
    const one = session({ ...way, env });
    const shows = 'hi; env | grep -E "^(a-b|1x)="';
    const plain = await bash(shows, { env, warm: false });
    expect((await one.run(shows)).stdout.split('\n').sort()).toEqual(plain.stdout.split('\n').sort());
    await one.run('x=1');
    expect((await one.run(shows)).stdout.split('\n').sort()).toEqual(plain.stdout.split('\n').sort());
  });

  test.fails('a function in the environment of one run', async () => {
    const one = session(way);
    await one.run('x=1');
    expect((await one.run('hi', { env: { 'BASH_FUNC_hi%%': '() { echo hi; }' } })).stdout).toBe('hi\n');
    expect((await one.run('type hi 2>&1')).stdout).toBe('bash: line 1: type: hi: not found\n');
  });

  test('is what a plain command has, at first and later', async () => {
    const sorted = (text: string) =>
      text
        .split('\0')
        .filter((line) => !/^(AGENT_BASH_ID|_|SHLVL)=/.test(line))
        .sort();
    const plain = sorted((await bash('env -0', { warm: false, sanitize: false })).stdout);
    const one = session(way);
    expect(sorted((await one.run('env -0', { sanitize: false })).stdout)).toEqual(plain);
    expect(sorted((await one.run('env -0', { sanitize: false })).stdout)).toEqual(plain);
    await one.run('x=1; set -f; f() { :; }');
    expect(sorted((await one.run('env -0', { sanitize: false })).stdout)).toEqual(plain);
  });

  test('AGENT_BASH_ID is each command its own', async () => {
    const one = session(way);
    const seen = new Set<string>();
    for (let n = 0; n < 10; n++)
      seen.add((await one.run('echo "$AGENT_BASH_ID"; bash -c \'echo "$AGENT_BASH_ID"\'')).stdout);
    expect(seen.size).toBe(10);
    for (const text of seen) expect(text).toMatch(/^(\S+)\n\1\n$/);
  });

  test('BASH_ENV of the caller', async () => {
    const cwd = folder();
    const file = join(cwd, 'env');
    writeFileSync(file, 'echo read; from_env=1\n');
    const env = { BASH_ENV: file };
    const plain = await bash('echo "$from_env ${BASH_ENV##*/}"', { cwd, env, warm: false });
    const one = session({ ...way, cwd, env });
    expect((await one.run('echo "$from_env ${BASH_ENV##*/}"')).stdout).toBe(plain.stdout);
    expect((await one.run('echo "$from_env ${BASH_ENV##*/}"')).stdout).toContain('1 env\n');
  });

  test('SHLVL and `$_` do not grow', async () => {
    const one = session(way);
    const plain = await bash('echo $SHLVL', { warm: false });
    for (let n = 0; n < 5; n++) expect((await one.run('echo $SHLVL')).stdout).toBe(plain.stdout);
  });

  test('that cannot be written whole is told with the next command', async () => {
    const one = session(way);
    await one.run('x=1');
    expect((await one.run('x=2; ulimit -f 1')).exitCode).toBe(0);
    const { stdout, notes } = await one.run('echo $x');
    expect(stdout).toBe('1\n');
    expect(notes).toEqual([expect.stringContaining('could not be kept')]);
    expect((await one.run('exec true')).notes).toEqual([]);
    expect((await one.run('echo $x')).notes).toEqual([]);
  });
});
