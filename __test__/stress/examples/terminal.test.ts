import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PtySession } from 'agent-bash';
import { expect, onTestFinished, test } from 'vitest';
import { alive, settles, until } from '../../support/index.ts';

const MAIN = join(import.meta.dirname, '../../../examples/terminal/main.mjs');

/**
 * Runs the example with this command, in a terminal that represents a person's. The title of the frame shows the
 * command too.
 */
async function start(command: string, { cols = 60, rows = 12, before = '' } = {}) {
  const person = new PtySession({ cols, rows, confine: 'off' });
  onTestFinished(() => person.kill());
  await person.start(`${before}${process.execPath} '${MAIN}' '${command}'`);
  const screen = () => person.screen().lines.join('\n');
  return { person, screen, shows: (text: string) => until(() => screen().includes(text), `the screen shows ${text}`) };
}

test('draws a command in a frame, types into it, and Escape ends it with all it has started', async () => {
  const { person, screen, shows } = await start(
    'sleep 300 & echo "child $!"; read -rp "name? " name; echo "hello $name"; wait',
  );
  await shows('│name?');
  expect(screen().split('\n')[0]).toMatch(/^┌ sleep 300 & echo .*┐$/);
  expect(screen().split('\n').at(-1)).toBe(`└${'─'.repeat(58)}┘`);
  expect(screen()).toMatch(/│name\? {53}│/);
  await person.write('ann\r');
  await shows('│hello ann');
  const child = Number(/child (\d+)/.exec(screen())?.[1]);
  await person.write('\x1b');
  const { stdout, exitCode } = await settles(person.result());
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/\[command interrupted\]\n\nchild \d+\nname\? ann\nhello ann\n\nexit code: 130\n$/);
  await until(() => !alive(child));
});

test('a terminal without a size is drawn as 80 × 24', async () => {
  const { person, shows } = await start('stty size; cat', { cols: 80, rows: 24, before: 'stty rows 0 cols 0; ' });
  await shows('│22 78');
  await person.write('\x1b');
  expect((await settles(person.result())).exitCode).toBe(0);
});

test('an arrow is no Escape, and Ctrl-C goes to the program', async () => {
  const { person, shows } = await start(
    'trap "echo; echo caught" INT; while read -rsn1 key; do printf "%q;" "$key"; done',
  );
  await shows('│');
  await person.write('\x1b[A');
  await shows(String.raw`│$'\E';\[;A;`);
  await person.write('\x03');
  await shows('│caught');
  await person.write('\x1b');
  expect((await settles(person.result())).stdout).toMatch('[command interrupted]');
});

test('the command learns of a new size', async () => {
  const { person, shows } = await start('trap "stty size" WINCH; stty size; while :; do sleep .05; done');
  await shows('│10 58');
  person.resize(40, 8);
  await shows('│6 38');
  expect(person.screen().lines[7]).toBe(`└${'─'.repeat(38)}┘`);
  await person.write('\x1b');
  await settles(person.result());
});

test('shows what the model reads when the command ends by itself, and the screen is as it was', async () => {
  const { person } = await start(String.raw`printf "\e[31mred\e[0m\n"; exit 3`);
  const { stdout } = await settles(person.result());
  expect(stdout).toMatch(/\[command failed: exit code 3\]\n\nred\n$/);
  expect(person.screen()).toMatchObject({ alternate: false });
  expect(person.screen().lines[0]).toBe('[command failed: exit code 3]');
});

test('a program of the whole screen that asks its terminal is answered by the emulator', async () => {
  const { person, shows } = await start(
    String.raw`printf "\e[?1049h\e[2;3Hat\e[6n"; IFS= read -rsdR place; printf "\e[3;1H%q" "$place"; read -r`,
  );
  await shows(String.raw`│$'\E[2;5'`);
  await person.write('\x1b');
  await settles(person.result());
});

test('in pipes it goes on until its command ends', async () => {
  const child = spawn(process.execPath, [MAIN, 'echo', 'hi'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  expect((await once(child, 'close'))[0]).toBe(0);
  // The frame is left with escape sequences, right before it.
  expect(text).toMatch(/hhi\n$/);
});
