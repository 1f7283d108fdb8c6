// The subject of the judgement: `reduceText` of the package, or a program that AGENT_BASH_TOKEN_SUBJECT names. The
// program reads one JSON object per line, { stdout, stderr, command, exitCode, level, budget }, and answers each with
// { view, us, exact }.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

/** Opens the subject. `reduce(output, level, budget)` resolves with `{ view, us }`. */
export function openSubject() {
  const program = process.env.AGENT_BASH_TOKEN_SUBJECT;
  return program ? openProgram(program) : openPackage();
}

function openPackage() {
  const { reduceText } = createRequire(import.meta.url)('agent-bash');
  const reduce = async ({ stdout, stderr, command, exitCode }, level, budgetTokens) => {
    const started = performance.now();
    const ended = exitCode === null ? {} : { exitCode };
    const budget = level === 'salient' ? { budgetTokens } : {};
    const view = reduceText(stdout, { stderr, command, level, ...ended, ...budget });
    const isWhole = view.elided.length === 0 && view.rules.length === 0;
    return { view: isWhole ? null : view, us: (performance.now() - started) * 1e3 };
  };
  return { reduce, close: () => {} };
}

function openProgram(program) {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = [];
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift().resolve(JSON.parse(line)));
  child.on('exit', (code) => {
    for (const { reject } of waiting) reject(new Error(`the subject exited with code ${code}`));
  });
  const reduce = (output, level, budget) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      child.stdin.write(`${JSON.stringify({ ...output, level, budget })}\n`);
    });
  return { reduce, close: () => child.stdin.end() };
}
