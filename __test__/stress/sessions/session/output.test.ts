import { existsSync, readFileSync } from 'node:fs';
import { BackgroundRegistry } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { session, WAYS } from '../../../session/support.ts';
import { folder, kill, mark, rejection, seq, settles, sleepers, timed, until } from '../../../support/index.ts';

describe.each(WAYS)('the output of a session, %s', (_, way) => {
  test('is whole with a slow listener, in order, before the result', async () => {
    const one = session(way);
    let text = '';
    const result = await one.run('seq 60000; x=1', {
      onOutput: async (chunk) => {
        await new Promise((resolve) => setTimeout(resolve, 2));
        text += chunk.text;
      },
    });
    expect(text).toBe(seq(1, 60_000));
    expect(result.truncation.stdout?.totalLines).toBe(60_000);
    expect((await one.run('echo $x')).stdout).toBe('1\n');
  });

  test('large, written out', async () => {
    const dir = folder();
    const one = session({ ...way, spill: { dir } });
    const { truncation } = await one.run('seq 200000; y=2');
    const path = truncation.stdout?.path ?? '';
    expect(readFileSync(path, 'utf8')).toBe(seq(1, 200_000));
    expect((await one.run('echo $y')).stdout).toBe('2\n');
  });

  test('the last bytes before the end, 100 times', async () => {
    const one = session(way);
    for (let n = 0; n < 100; n++)
      expect(await one.run(`x=${n}; printf "%5000s" ${n}; printf e >&2`)).toMatchObject({
        stdout: String(n).padStart(5_000),
        stderr: 'e',
      });
  });

  test('of a process that goes on for a moment', async () => {
    const one = session(way);
    expect((await one.run('(sleep .15; echo tail) & echo head')).stdout).toBe('head\ntail\n');
    expect((await one.run('exec > >(cat) 2>&1; echo ok')).stdout).toBe('ok\n');
  });

  test('merge, stdin, truncate, sanitize of one run', async () => {
    const one = session(way);
    expect(await one.run('echo o1; echo e1 >&2; echo o2; echo e2 >&2', { merge: true })).toMatchObject({
      stdout: 'o1\ne1\no2\ne2\n',
      stderr: '',
    });
    expect((await one.run('read a; x=$a; cat', { stdin: 'one\ntwo\n' })).stdout).toBe('two\n');
    expect((await one.run('echo $x; cat')).stdout).toBe('one\n');
    expect((await one.run('printf "\\e[1mbold\\e[0m"', { sanitize: false })).stdout).toBe('\x1b[1mbold\x1b[0m');
    expect((await one.run('seq 9', { truncate: { keep: 'tail', maxLines: 2 } })).stdout).toContain('8\n9\n');
    expect((await one.run('echo plain')).stdout).toBe('plain\n');
  });

  test('output is not held up by the state that is written', async () => {
    const one = session(way);
    await one.run('big=$(printf %3000000d 1)');
    const [result, time] = await timed(() => one.run('echo quick'));
    expect(result.stdout).toBe('quick\n');
    expect(time).toBeLessThan(3_000);
  });

  test('onSnapshot and onOutput that throw', async () => {
    const one = session(way);
    const result = await one.run('echo a; x=1; echo b', {
      onOutput: () => {
        throw new Error('listener');
      },
    });
    expect(result).toMatchObject({ status: 'exited', stdout: 'a\nb\n' });
    expect(result.notes.length).toBe(1);
    expect((await one.run('echo $x')).stdout).toBe('1\n');
  });
});

describe.each(WAYS)('safety in a session, %s', (_, way) => {
  test('a denied command is refused, and the session goes on', async () => {
    const one = session(way);
    await one.run('x=1');
    expect((await rejection(() => one.run('rm -rf /'))).code).toBe('ERR_BASH_BLOCKED');
    expect((await one.run('echo $x')).stdout).toBe('1\n');
  });

  test('the directory of the session counts', async () => {
    const one = session(way);
    await one.run('cd /');
    expect((await rejection(() => one.run('rm -rf *'))).code).toBe('ERR_BASH_BLOCKED');
    expect((await rejection(() => one.run('rm -rf ./*'))).code).toBe('ERR_BASH_BLOCKED');
  });

  test('functions and aliases that an earlier command has left do not hide one', async () => {
    const one = session({ ...way, safety: { onAsk: 'deny' } });
    const at = folder();
    await one.run(`cd ${at}; x=/`);
    const answers = await Promise.allSettled([one.run('rm -rf "$x"')]);
    expect(answers[0]?.status).toBe('rejected');
    expect(existsSync(at)).toBe(true);
  });
});

describe.each(WAYS)('tasks of a session, %s', (_, way) => {
  const registry = () => {
    const made = new BackgroundRegistry();
    onTestFinished(() => made.close());
    return made;
  };

  test('survivors are adopted', async () => {
    const tasks = registry();
    const one = session({ ...way, registry: tasks });
    const result = await one.run('x=1; (sleep 3; echo later) & echo now');
    expect(result.stdout).toBe('now\n');
    expect((await one.run('echo $x')).stdout).toBe('1\n');
    const { output, task } = await tasks.wait(result.survivors[0]?.taskId ?? '', { timeoutMs: 10_000 });
    expect(output).toContain('later');
    expect(task.state).toBe('exited');
  });

  test('moved at its limit: the state is that before it, the next command need not wait', async () => {
    const [tasks, seconds] = [registry(), mark()];
    const one = session({ ...way, registry: tasks });
    await one.run('x=before; cd /usr; f() { echo f; }');
    const result = await one.run(`x=after; echo "in $PWD"; f; sleep ${seconds} || :; echo done $x`, {
      timeoutMs: 2_000,
    });
    expect(result).toMatchObject({ status: 'backgrounded', exitCode: null, stdout: 'in /usr\nf\n' });
    expect((await settles(one.run('echo $x; pwd'), 5_000)).stdout).toBe('before\n/usr\n');
    await until(() => sleepers(seconds).length === 1);
    for (const pid of sleepers(seconds)) kill(pid, 'SIGTERM');
    const { output, task } = await tasks.wait(result.background?.id ?? '', { timeoutMs: 10_000 });
    expect(output).toContain('done after');
    expect(output).not.toMatch(/\/proc\//);
    expect(task).toMatchObject({ state: 'exited', exitCode: 0 });
    expect((await one.run('echo $x')).stdout).toBe('before\n');
  });

  test('mode background: begins with the state, leaves none', async () => {
    const tasks = registry();
    const one = session({ ...way, registry: tasks });
    await one.run('x=before; cd /usr; f() { echo "f $x"; }; declare -A m=([k]=v)');
    const result = await one.run('pwd; f; echo "${m[k]}"; x=after; cd /; exit 5', { mode: 'background' });
    expect(result.status).toBe('backgrounded');
    const { output, task } = await tasks.wait(result.background?.id ?? '', { timeoutMs: 10_000 });
    expect(output).toBe('/usr\nf before\nv\n');
    expect(task).toMatchObject({ state: 'exited', exitCode: 5, cwd: '/usr' });
    expect((await one.run('echo $x; pwd')).stdout).toBe('before\n/usr\n');
  });

  test('a server in the background while the session goes on', async () => {
    const [tasks, seconds] = [registry(), mark()];
    const one = session({ ...way, registry: tasks });
    await one.run('export PORT=1');
    const { background } = await one.run(`echo "at $PORT"; sleep ${seconds}; :`, { mode: 'background' });
    for (let n = 0; n < 10; n++) expect((await one.run('echo $PORT')).stdout).toBe('1\n');
    await until(() => sleepers(seconds).length === 1);
    const { task } = await tasks.kill(background?.id ?? '');
    expect(task.state).toBe('killed');
    await one.close();
  });
});
