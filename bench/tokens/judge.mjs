// Judges the reduction of every output: nothing is lost, no failure is hidden, and how many tokens that saves.
import { inject } from './injected.mjs';
import { checkComplete, linesOf, readView } from './inverse.mjs';
import { guarded, template } from './oracle.mjs';

/** The levels that are judged. */
export const LEVELS = [
  { name: 'lossless', level: 'lossless', budget: 0 },
  { name: 'salient 1000', level: 'salient', budget: 1_000 },
  { name: 'salient 500', level: 'salient', budget: 500 },
];

/** Tokens of the closing line that says where the whole is. */
const CLOSING = 32;

/** The text that a model reads of a result without a reduction. */
function plainText({ stdout, stderr, exitCode }) {
  const streams = [
    stdout && `stdout:\n${stdout.replace(/\n$/, '')}`,
    stderr && `stderr:\n${stderr.replace(/\n$/, '')}`,
  ];
  return [...streams, exitCode === null ? '' : `exit code: ${exitCode}`].filter((part) => part !== '').join('\n\n');
}

/** The text that a model reads of a result with a reduction. */
function reducedText({ stdout, stderr, exitCode }, view) {
  const both = stdout !== '' && stderr !== '';
  const plain = both
    ? `stdout:\n${stdout.replace(/\n$/, '')}\n\nstderr:\n${stderr.replace(/\n$/, '')}`
    : stdout || `stderr:\n${stderr}`;
  const text = (view?.text ?? plain).replace(/\n$/, '');
  return exitCode === null || exitCode === 0 ? text : `${text}\n\nexit code: ${exitCode}`;
}

/** Reads a view that must be complete. Returns its streams, or the fault. */
function readWhole(view, output) {
  try {
    const read = readView(view, output);
    checkComplete(read, output);
    return { read };
  } catch (error) {
    return { fault: { kind: 'incomplete', text: error.message } };
  }
}

/** Faults of one view, as sentences. */
function faultsOf(view, output) {
  if (!view) return [];
  const { read, fault } = readWhole(view, output);
  if (fault) return [fault];
  return ['stdout', 'stderr'].flatMap((stream) =>
    hiddenLines(read[stream], linesOf(output[stream]), guarded(output[stream])),
  );
}

/** Guarded lines that are neither shown nor a repeat of a shown one. */
function hiddenLines(read, originals, numbers) {
  const shown = new Set();
  const templates = new Set();
  for (const { text, verbatim, heading } of read) {
    if (text === undefined || (verbatim !== text && !/^\S*$/.test(heading))) continue;
    shown.add(text);
    templates.add(template(text));
  }
  return numbers
    .map((number) => originals[number - 1])
    .filter((line) => line !== undefined && !shown.has(line) && !templates.has(template(line)))
    .map((line) => ({ kind: 'hidden', text: line }));
}

/** The classes of the tables, apart from those of the reduction. */
export function kindOf({ command, stdout }) {
  if (
    /(?:^|[;&|(]\s*|\bdo\s+)(?:cat|sed -n|nl|head|tail|jq|diff|git (?:-C \S+ )?(?:diff|show))\b(?![^|;&]*--stat)/.test(
      command,
    )
  )
    return 'contents';
  if (
    /\b(?:test|pytest|jest|vitest|mocha|tox|build|make|tsc|eslint|clippy|lint|check|vet|compile|eval\.sh)\b/.test(
      command,
    )
  )
    return 'build, test';
  if (/\b(?:npm|pnpm|yarn|pip3?|uv|apt(?:-get)?|brew|go get|go mod|cargo add|docker)\b/.test(command)) return 'install';
  if (/\b(?:grep|rg|find|ls|tree|fd|wc|git (?:log|status|ls-files|branch))\b/.test(command)) return 'search, lists';
  return stdout.length > 4_000 ? 'other, long' : 'other';
}

/** Judges one record at each level. Returns its figures and its faults. */
export async function judgeRecord(record, { subject, count, seed, injects, follow }) {
  const output = {
    stdout: record.output,
    stderr: record.stderr ?? '',
    command: record.command,
    exitCode: record.exitCode,
  };
  const before = count(plainText(output));
  const bytes = Buffer.byteLength(output.stdout) + Buffer.byteLength(output.stderr);
  const rows = [];
  for (const { name, level, budget } of LEVELS) {
    const { view, us } = await subject.reduce(output, level, budget);
    const after = count(reducedText(output, view)) + (view && view.elided.length > 0 ? CLOSING : 0);
    const faults = faultsOf(view, output);
    follow?.(name)?.add({ output, view, before, after });
    if (injects) faults.push(...(await judgeInjected(output, { subject, level, budget, seed })));
    rows.push({ level: name, after, us, class: view?.class ?? null, rules: view?.rules ?? [], faults });
  }
  return { set: record.set, kind: kindOf(output), command: record.command, bytes, before, rows };
}

/** Whether failures that were put into an output are shown. */
async function judgeInjected(output, { subject, level, budget, seed }) {
  const { text, injected } = inject(output.stdout, seed);
  const failed = { ...output, stdout: text, exitCode: output.exitCode || 1 };
  const { view } = await subject.reduce(failed, level, budget);
  if (!view) return [];
  const { read, fault } = readWhole(view, failed);
  if (fault) return [fault];
  const shown = new Set();
  for (const { text: line, verbatim, heading } of read.stdout) {
    if (line !== undefined && (line === verbatim || /^\S*$/.test(heading))) shown.add(line);
  }
  return injected.filter((line) => !shown.has(line)).map((line) => ({ kind: 'injected', text: line }));
}
