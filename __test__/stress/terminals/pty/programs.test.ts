import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PtySession } from 'agent-bash';
import { describe, expect } from 'vitest';
import { running } from '../../../pty/support.ts';
import { folder, hasProgram, pathWith, testNeeding, until } from '../../../support/index.ts';

/** Waits until the screen holds this. */
const shows = (session: PtySession, pattern: RegExp) =>
  until(() => pattern.test(session.screen().lines.join('\n')), `the screen shows ${pattern}`).catch((error) => {
    throw new Error(`${error.message}; it shows:\n${session.screen().lines.join('\n')}`);
  });

const python = pathWith('python3');
const [less, vim, top, dialog] = ['less', 'vim', 'top', 'dialog'].map(pathWith);

describe('real programs', () => {
  testNeeding('python3', python !== undefined)('a Python REPL', async () => {
    const session = await running('python3 -q', { env: { PATH: python, PYTHONSTARTUP: null } });
    await session.wait({ pattern: '>>> $' });
    await session.write('for i in range(3):\r    print("é" * i)\r\r');
    await session.wait({ pattern: '>>> $', timeoutMs: 20_000 });
    await shows(session, /^éé$/m);
    await session.write('input("name? ")\r');
    await session.wait({ pattern: 'name\\? $' });
    await session.write('Bob\r');
    await shows(session, /^'Bob'$/m);
    await session.write('raise SystemExit(4)\r');
    expect((await session.result()).exitCode).toBe(4);
  });

  testNeeding('less', less !== undefined)('less', async () => {
    const cwd = folder();
    const file = join(cwd, 'text');
    writeFileSync(file, Array.from({ length: 500 }, (_, n) => `line ${n + 1}`).join('\n'));
    const session = await running(`less '${file}'`, { cwd, rows: 10, cols: 40, env: { PATH: less } });
    await shows(session, /^line 1$/m);
    expect(session.screen().alternate).toBe(true);
    await session.write(' ');
    await shows(session, /^line 18$/m);
    await session.write('/line 400\r');
    await shows(session, /^line 400$/m);
    await session.write('G');
    await shows(session, /^line 500$/m);
    session.resize(40, 5);
    expect(session.screen().lines.length).toBe(5);
    // The program drops a key that arrives while it redraws.
    await shows(session, /\n:$/);
    await session.write('q');
    expect((await session.result()).exitCode).toBe(0);
    expect(session.screen().alternate).toBe(false);
  });

  testNeeding('vim', vim !== undefined)('vim', async () => {
    const cwd = folder();
    const file = join(cwd, 'text');
    const session = await running(`vim -u NONE -i NONE -N '${file}'`, { cwd, rows: 12, cols: 60, env: { PATH: vim } });
    await shows(session, /"[^"]*" (\[New\]|\[New File\])/);
    expect(session.screen().alternate).toBe(true);
    await session.write('ihello\rwörld\x1b');
    await shows(session, /^hello\nwörld\n~$/m);
    await until(
      () => session.screen().cursor.row === 1 && session.screen().cursor.col === 4,
      'back on the last letter',
    );
    await session.write(':%s/hello/bye/\r');
    await shows(session, /^bye$/m);
    await session.write(':wq\r');
    expect((await session.result()).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('bye\nwörld\n');
  });

  testNeeding('top', top !== undefined)('top', async () => {
    const session = await running('top -d 0.3', { cols: 100, rows: 30, env: { PATH: top } });
    await shows(session, /PID +USER/);
    const first = session.screen().lines.join('\n');
    await until(() => session.screen().lines.join('\n') !== first, 'top draws again');
    await session.write('q');
    expect((await session.result()).exitCode).toBe(0);
  });

  testNeeding('git', hasProgram('git'))('git add -p', async () => {
    const cwd = folder();
    const git = (...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' });
    git('init', '-q');
    git('config', 'user.email', 'a@b.c');
    git('config', 'user.name', 'a');
    const text = (first: string, last: string) =>
      `${first}\n${Array.from({ length: 20 }, (_, n) => n).join('\n')}\n${last}\n`;
    writeFileSync(join(cwd, 'file'), text('one', 'two'));
    git('add', 'file');
    git('commit', '-qm', 'first');
    writeFileSync(join(cwd, 'file'), text('ONE', 'TWO'));
    const session = await running('git add -p', { cwd });
    await session.wait({ pattern: 'Stage this hunk' });
    await shows(session, /\+ONE/);
    await session.write('n\r');
    await shows(session, /\+TWO/);
    await session.wait({ pattern: '\\+TWO[^]*Stage this hunk' });
    await session.write('y\r');
    expect((await session.result()).exitCode).toBe(0);
    expect(git('diff', '--cached')).toContain('+TWO');
    expect(git('diff', '--cached')).not.toContain('+ONE');
  });

  testNeeding('npm', hasProgram('npm'))('an npm init dialogue', async () => {
    const cwd = folder();
    const session = await running('npm init', { cwd, env: { npm_config_yes: null } });
    for (const [question, answer] of [
      ['package name:.*$', 'a-package'],
      ['version:.*$', '2.0.0'],
      ['description:.*$', 'made in a terminal'],
      ['entry point:.*$', ''],
      ['test command:.*$', ''],
      ['git repository:.*$', ''],
      ['keywords:.*$', ''],
      ['author:.*$', ''],
      ['license:.*$', ''],
      ['(type:.*|Is this OK\\?.*)$', ''],
    ] as const) {
      expect([question, (await session.wait({ pattern: question, timeoutMs: 30_000 })).reason]).toEqual([
        question,
        'pattern',
      ]);
      await session.write(`${answer}\r`);
    }
    const asked = await session.wait({ pattern: 'OK\\?.*$', timeoutMs: 2_000 });
    if (asked.reason === 'pattern') await session.write('yes\r');
    expect((await session.result()).exitCode).toBe(0);
    expect(JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))).toMatchObject({
      name: 'a-package',
      version: '2.0.0',
      description: 'made in a terminal',
    });
  });

  testNeeding(
    'dialog',
    dialog !== undefined,
    'linux',
  )('a dialog with a menu and line drawing', async () => {
    const cwd = folder();
    const file = join(cwd, 'chosen');
    const menu = "dialog --title Fruit --menu 'Choose one' 12 40 3 a Apple b Banana c Cherry";
    const session = await running(`${menu} 2> '${file}'; echo "code $?"`, { cwd, env: { PATH: dialog } });
    await shows(session, /┌─+Fruit─+┐/);
    await shows(session, /│ +Choose one +│/);
    expect(session.screen().lines.join('\n')).not.toMatch(/[lqk]{5}/);
    expect(session.modes()).toEqual({ applicationCursor: true, bracketedPaste: false });
    await session.write('\x1bOB');
    await session.write('\r');
    expect((await session.result()).exitCode).toBe(0);
    expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('b');
  });
});
