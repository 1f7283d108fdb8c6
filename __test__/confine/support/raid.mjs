/**
 * Runs commands with `bash()` in a process of the attacker's user, a few at a time. Reads JSON from standard input, and
 * prints one line of JSON per command.
 */
import { text } from 'node:stream/consumers';
import { bash } from 'agent-bash';

const { raids, atOnce } = JSON.parse(await text(process.stdin));
const waiting = raids.values();

async function work() {
  for (const { id, command, options } of waiting) {
    let line;
    try {
      const { stdout, stderr, status, exitCode, confinement } = await bash(command, options);
      line = { id, stdout, stderr, status, exitCode, confinement };
    } catch (error) {
      line = { id, stdout: '', stderr: `${error.code}: ${error.message}`, status: 'rejected', exitCode: null };
    }
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}

await Promise.all(Array.from({ length: atOnce }, work));
