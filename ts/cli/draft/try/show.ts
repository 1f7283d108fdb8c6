import { type Colour, Failure, paint, print, printable, remark, write } from '../../console.ts';
import { explain } from '../../run.ts';
import { briefCounts, kindsOf } from '../summary.ts';
import { printTable } from '../table.ts';
import { type Attempt, hasPassed } from './attempt.ts';

/** Shows a command that has ended: its output, and how it went. */
export async function show(attempt: Attempt): Promise<void> {
  const { number, command, result, refused, counts } = attempt;
  await print(paint('cyan', `[${number}] ${printable(command)}`));
  const output = result?.status === 'aborted' ? '' : (result?.stdout ?? '');
  await write(process.stdout, output === '' || output.endsWith('\n') ? output : `${output}\n`);
  if (refused) {
    await remark(refused.message);
    for (const { suggestion } of Failure.of(refused).findings ?? []) {
      if (suggestion !== '') await remark(`instead: ${suggestion}`);
    }
  }
  // The draft was closed, which has ended what the command had left.
  if (result) await explain({ ...result, survivors: [] }, '', {});
  const [word, colour] = outcomeOf(attempt);
  const kinds = counts ? kindsOf(counts) : [];
  const facts = result ? [timeOf(attempt), ...(kinds.length > 0 ? kinds : ['no changes'])] : [];
  await print(paint(colour, `[${number}] ${[word, ...facts].join(', ')}`));
}

const HEAD = ['#', 'RESULT', 'TIME', 'CHANGES', 'DRAFT', 'COMMAND'];

/** Prints a table of all commands. */
export async function showAll(attempts: readonly Attempt[]): Promise<void> {
  const rows = attempts.map((attempt) => [
    String(attempt.number),
    outcomeOf(attempt)[0],
    ...(attempt.result && attempt.counts ? [timeOf(attempt), briefCounts(attempt.counts)] : ['-', '-']),
    attempt.draft ?? '-',
    printable(attempt.command),
  ]);
  await printTable(HEAD, rows);
}

const timeOf = ({ result }: Attempt) => `${((result?.durationMs ?? 0) / 1_000).toFixed(1)} s`;

function outcomeOf(attempt: Attempt): [word: string, colour: Colour] {
  const { result, refused } = attempt;
  if (hasPassed(attempt)) return ['passed', 'green'];
  if (refused) return ['refused', 'red'];
  // The first that passes ends the others.
  if (result === null) return ['not run', 'dim'];
  if (result.status === 'aborted') return ['ended', 'dim'];
  return [`exit code ${result.exitCode}`, 'red'];
}
