import { expect, test } from 'vitest';
import { Program } from '../cli/support.ts';
import { page } from './examples.ts';

test('docs/cli.md names every command and option that the help names', async () => {
  const text = await page('cli.md');
  const program = new Program();
  const { stdout } = await program.run('--help');
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map((match) => match[1] ?? '');
  expect(commands).toEqual(['ps', 'logs', 'kill', 'run', 'check']);
  for (const command of commands) {
    expect(text).toContain(`\n| \`${command} `);
    const help = (await program.run(command, '--help')).stdout;
    const options = [...help.matchAll(/--[a-z]+/g)].map(([option]) => option);
    for (const option of options) if (option !== '--help') expect(text, `${command} ${option}`).toContain(option);
  }
});
