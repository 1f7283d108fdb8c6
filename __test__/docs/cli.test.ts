import { expect, test } from 'vitest';
import { Program } from '../cli/support.ts';
import { isLinux } from '../support/index.ts';
import { page, spans, table } from './examples.ts';

/** Verbs that have a row under another name. */
const ROWS: Record<string, string> = { 'draft run': 'draft -- CMD', 'draft try': 'draft --try CMD...' };

test('docs/cli.md names every command and option that the help names', async () => {
  const text = await page('cli.md');
  const program = new Program();
  const { stdout } = await program.run('--help');
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map((match) => match[1] ?? '');
  expect(commands).toEqual([
    'ps',
    'logs',
    'kill',
    'run',
    'log',
    'ui',
    'undo',
    'check',
    'mcp',
    'doctor',
    'pool',
    'uninstall',
  ]);
  const verbs = [...(await program.run('draft', '--help')).stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)];
  for (const verb of verbs) commands.push(`draft ${verb[1]}`);
  for (const command of commands) {
    const row = ROWS[command] ?? command.replace('draft ', '');
    expect(text).toContain(`\n| \`${row}`);
    const help = (await program.run(...command.split(' '), '--help')).stdout;
    const options = [...help.matchAll(/--[a-z]+/g)].map(([option]) => option);
    for (const option of options) if (option !== '--help') expect(text, `${command} ${option}`).toContain(option);
  }
});

test('docs/cli.md names every check of the doctor', async () => {
  const named = table(await page('cli.md'), 'Doctor').flatMap(([check = '']) => spans(check));
  const { checks } = await new Program().json<{ checks: { name: string }[] }>('doctor');
  const found = checks.map(({ name }) => name);
  expect(named).toEqual(expect.arrayContaining(found));
  if (isLinux) expect(found).toEqual(expect.arrayContaining(named));
});
