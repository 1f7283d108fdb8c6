import { BashSession, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { mark, rejection, settles, sleepers, until } from '../support/index.ts';
import { inTurn, session, WAYS } from './support.ts';

describe.each(WAYS)('a session, %s', (_, way) => {
  test('100 runs at once are one after another in the order of the calls', async () => {
    const one = session(way);
    await one.run('n=0');
    const runs = Array.from({ length: 100 }, (_, n) => one.run(`n=$((n + 1)); echo ${n} $n; exit ${n}`));
    for (const [n, { stdout, exitCode }] of (await Promise.all(runs)).entries())
      expect([stdout, exitCode]).toEqual([`${n} ${n + 1}\n`, n]);
  });

  test('a second one starts when the first has ended', async () => {
    const one = session(way);
    const ends: string[] = [];
    const first = one.run('sleep .3; x=1').then(() => ends.push('first'));
    const second = one.run('echo $x').then(({ stdout }) => ends.push(`second ${stdout}`));
    await Promise.all([first, second]);
    expect(ends).toEqual(['first', 'second 1\n']);
  });

  test('50 sessions at once, each with its own', async () => {
    const all = Array.from({ length: 50 }, () => session(way));
    const last = await Promise.all(all.map((one, n) => inTurn(one, `x=${n}; cd /usr`, 'y=$x$x', 'echo "$x $y"; pwd')));
    for (const [n, { stdout }] of last.entries()) expect(stdout).toBe(`${n} ${n}${n}\n/usr\n`);
  });

  test('does not hold up others', async () => {
    const [one, two] = [session(way), session(way)];
    const seconds = mark();
    const running = one.run(`sleep ${seconds}; :`);
    expect((await settles(two.run('echo two'))).stdout).toBe('two\n');
    expect((await settles(bash('echo plain', way))).stdout).toBe('plain\n');
    await one.close();
    expect((await settles(running)).status).toBe('aborted');
  });

  test('`reset` forgets all of it', async () => {
    const one = session({ ...way, cwd: '/usr' });
    await one.run(
      "x=1; cd /etc; f() { :; }; alias a=b; set -f; umask 077; trap 'echo t' USR1; unset HOME; export NEW=1; readonly ro=1",
    );
    await one.reset();
    expect(one.cwd).toBe('/usr');
    const shows = 'pwd; echo "${x-none}${NEW-none}${ro-none}$-"; alias; umask; trap -p; type f 2>&1; echo ${HOME+home}';
    const plain = await bash(shows, { cwd: '/usr', warm: false });
    expect((await one.run(shows)).stdout).toBe(plain.stdout);
  });

  test('`reset` waits for its turn', async () => {
    const one = session(way);
    const first = one.run('x=1; sleep .2; echo first');
    const reset = one.reset();
    const second = one.run('echo "${x-none}"; x=2');
    const third = one.run('echo "$x"');
    await settles(reset);
    expect((await first).stdout).toBe('first\n');
    expect((await second).stdout).toBe('none\n');
    expect((await third).stdout).toBe('2\n');
  });

  test('`close` while one runs and others wait', async () => {
    const one = new BashSession(way);
    await one.run('x=1');
    const seconds = mark();
    const running = one.run(`sleep ${seconds}; :`);
    const waiting = [one.run('echo a'), one.run('echo b'), one.reset()].map((run) =>
      run.then(
        () => 'resolved',
        (error) => error.code,
      ),
    );
    await until(() => sleepers(seconds).length === 1);
    const closing = [one.close(), one.close()];
    expect(await settles(running)).toMatchObject({ status: 'aborted', exitCode: 130 });
    const answers = await settles(Promise.all(waiting));
    expect(answers.slice(0, 2)).toEqual(['ERR_BASH_CLOSED', 'ERR_BASH_CLOSED']);
    expect(answers[2]).toMatch(/^(ERR_BASH_CLOSED|resolved)$/);
    await settles(Promise.all(closing));
    expect(sleepers(seconds)).toEqual([]);
    expect((await rejection(() => one.run('echo later'))).code).toBe('ERR_BASH_CLOSED');
    expect((await rejection(() => one.reset())).code).toBe('ERR_BASH_CLOSED');
    await settles(one.close());
  });

  test('`close` of one that ran nothing, at once, and `await using`', async () => {
    await settles(new BashSession(way).close());
    let kept: BashSession;
    {
      await using one = new BashSession(way);
      await one.run('x=1');
      kept = one;
    }
    expect((await rejection(() => kept.run('echo'))).code).toBe('ERR_BASH_CLOSED');
  });

  test('`close` right after a run', async () => {
    for (let n = 0; n < 20; n++) {
      const one = new BashSession(way);
      const running = one.run('sleep 30; :');
      await settles(one.close());
      expect((await settles(running)).status).toBe('aborted');
    }
  });

  test('`close` while the state of the last command is still written', async () => {
    for (let n = 0; n < 20; n++) {
      const one = new BashSession(way);
      await one.run(`x=$(printf %500000d 1)`);
      await settles(one.close());
    }
  });

  test('wrong options', async () => {
    expect(() => new BashSession({ timeoutMs: -1 })).not.toThrow(TypeError);
    for (const options of [{ cwd: 1 }, { env: [] }, { warm: 'x' }, 3, 'x', null])
      expect(() => new BashSession(options as never)).toThrow(
        expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
      );
    const one = session(way);
    for (const command of [1, null, undefined, {}])
      expect((await rejection(() => one.run(command as never))).code).toBe('ERR_BASH_INVALID_ARG');
    expect((await one.run('echo on')).stdout).toBe('on\n');
  });
});

test('results are plain data', async () => {
  const one = session();
  const result = await one.run('echo hi >&2; cd /usr');
  expect(structuredClone(result)).toEqual(result);
  expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  expect(Object.keys(result).sort()).toEqual([...Object.keys(await bash('true')), 'cwd'].sort());
});
