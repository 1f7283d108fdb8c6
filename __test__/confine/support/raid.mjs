/**
 * Runs commands with `bash()` in a process of the attacker's user, a few at a time. Reads JSON from standard input, and
 * prints one line of JSON per command.
 */
import { text } from 'node:stream/consumers';
import { bash, openDraft } from 'agent-bash';

const { raids, atOnce } = JSON.parse(await text(process.stdin));
const waiting = raids.values();

/** Runs a command. `draft`: the options of a draft in which it runs, which is gone afterwards. */
async function run(command, { draft, ...options }) {
  if (!draft) return bash(command, options);
  const opened = await openDraft({ keep: 'process', ...draft });
  try {
    return await bash(command, { ...options, draft: opened });
  } finally {
    await opened.close();
  }
}

async function work() {
  for (const { id, command, options } of waiting) {
    let line;
    try {
      const { stdout, stderr, status, exitCode, confinement } = await run(command, options);
      line = { id, stdout, stderr, status, exitCode, confinement };
    } catch (error) {
      line = { id, stdout: '', stderr: `${error.code}: ${error.message}`, status: 'rejected', exitCode: null };
    }
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}

await Promise.all(Array.from({ length: atOnce }, work));
