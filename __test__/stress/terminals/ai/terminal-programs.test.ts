import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { terminals } from '../../../ai/fixtures/terminal.ts';
import { folder, hasProgram, pathWith, testNeeding } from '../../../support/index.ts';

const [vim, less, top] = [pathWith('vim'), pathWith('less'), pathWith('top')];

const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}`).join('\n');

testNeeding('vim', vim !== undefined)('vim: a file is edited with arrows, text, a paste and a command', async () => {
  const cwd = folder();
  const file = join(cwd, 'text');
  writeFileSync(file, `${lines(3)}\n`);
  const { see, until } = terminals({ cwd, env: { PATH: vim } });
  await see({ action: 'start', command: `vim -N -u NONE -i NONE --cmd 'set nomore' '${file}'`, rows: 10 });
  expect(await until('line 3')).toMatchObject({ alternate: true });
  await see({ action: 'send', keys: ['Down', 'End'] });
  const typed = await see({ action: 'send', text: 'a!', keys: ['Left', 'Up', 'Escape'], changed: true });
  expect(typed.lines[1]).toBe('line 2!');
  await see({ action: 'send', keys: ['G', 'o'] });
  await see({ action: 'send', paste: 'pasted\ntwice' });
  await until('twice');
  await see({ action: 'send', keys: ['Escape'] });
  await see({ action: 'send', text: ':wq\n' });
  expect(await see({ action: 'wait', timeout_ms: 60_000 })).toMatchObject({ end: { exitCode: 0 } });
  expect(readFileSync(file, 'utf8')).toBe('line 1\nline 2!\nline 3\npasted\ntwice\n');
});

testNeeding('less', less !== undefined)('less: arrows, pages and a search', async () => {
  const cwd = folder();
  const file = join(cwd, 'text');
  writeFileSync(file, lines(500));
  const { see, until } = terminals({ cwd, env: { PATH: less } });
  await see({ action: 'start', command: `LESS= less '${file}'`, rows: 11 });
  await until('line 10');
  await see({ action: 'send', keys: ['Down', 'Down', 'Down'] });
  expect((await until('line 13')).lines[0]).toBe('line 4');
  await see({ action: 'send', keys: ['PageDown'] });
  expect((await until('line 23')).lines[0]).toBe('line 14');
  await see({ action: 'send', keys: ['Up'] });
  expect((await until('line 13')).lines[0]).toBe('line 13');
  await see({ action: 'send', text: '/line 250\n' });
  await until('line 259');
  await see({ action: 'send', keys: ['End'] });
  await see({ action: 'send', keys: ['q'] });
  expect(await see({ action: 'wait', timeout_ms: 60_000 })).toMatchObject({ end: { exitCode: 0 }, alternate: false });
});

testNeeding('top', top !== undefined)('top: is looked at twice, and ended with q', async () => {
  const { see, until } = terminals({ env: { PATH: top } });
  await see({ action: 'start', command: 'top -d 1', cols: 100, rows: 15 });
  await until('PID');
  const seen = await see({ action: 'wait', idle_ms: 3_000, timeout_ms: 4_000, changed: true });
  expect(seen.changed?.length).toBeGreaterThan(0);
  await see({ action: 'send', keys: ['q'] });
  expect(await see({ action: 'wait', timeout_ms: 60_000 })).toMatchObject({ end: { status: 'exited', exitCode: 0 } });
});

testNeeding('python3', hasProgram('python3'))('a curses menu: arrows choose, Enter takes', async () => {
  const cwd = folder();
  const menu = join(cwd, 'menu.py');
  writeFileSync(
    menu,
    `
import curses
def main(screen):
    curses.curs_set(0)
    words, at = ["tea", "coffee", "water"], 0
    while True:
        screen.erase()
        screen.box()
        for row, word in enumerate(words):
            screen.addstr(row + 1, 2, ("> " if row == at else "  ") + word)
        key = screen.getch()
        if key == curses.KEY_DOWN: at = min(at + 1, 2)
        if key == curses.KEY_UP: at = max(at - 1, 0)
        if key == curses.KEY_F5: words.reverse()
        if key == 10: return words[at]
chosen = curses.wrapper(main)
print("chosen:", chosen)
`,
  );
  const { see, until } = terminals({ cwd });
  await see({ action: 'start', command: `python3 '${menu}'`, cols: 20, rows: 6 });
  expect((await until('> tea')).lines[0]).toBe('┌──────────────────┐');
  await see({ action: 'send', keys: ['Down', 'Down'] });
  await until('> water');
  await see({ action: 'send', keys: ['Up'] });
  await until('> coffee');
  await see({ action: 'send', keys: ['Up', 'F5'] });
  await until('> water');
  await see({ action: 'send', keys: ['Enter'] });
  await until('chosen: water');
});
