import { text } from 'node:stream/consumers';
import { analyze, type Decision, decide, safetyRules, type Verdict } from 'agent-bash';
import { report } from './check-report.ts';
import { EXIT, Failure, paint, print, printJson } from './console.ts';

interface CheckOptions {
  json?: boolean;
  cwd?: string;
  rule?: Record<string, string>;
  allow?: string[];
  ask?: string[];
  deny?: string[];
  rules?: boolean;
}

const CODES: Record<Verdict, number> = { allow: EXIT.done, warn: EXIT.done, ask: EXIT.asks, deny: EXIT.denied };

/** `agent-bash check CMD`: judges a command without running it. */
export async function check(command: string | undefined, options: CheckOptions): Promise<void> {
  try {
    if (options.rules) return await listRules(options);
    if (command === undefined) {
      throw new Failure('ERR_BASH_INVALID_ARG', 'there is no command to check; `-` reads it from standard input');
    }
    await judge(command === '-' ? (await text(process.stdin)).replace(/\n$/, '') : command, options);
  } catch (error) {
    // Every other exit code describes the command.
    throw Failure.of(error, EXIT.notRun);
  }
}

async function judge(command: string, { cwd, rule, allow, ask, deny, json }: CheckOptions): Promise<void> {
  // The levels were checked when they were parsed.
  const analysis = analyze(command, { cwd, rules: rule as Record<string, 'ask'> | undefined });
  const decision: Decision | null = allow || ask || deny ? decide(analysis, { allow, ask, deny }) : null;
  if (json) await printJson(decision === null ? analysis : { ...analysis, decision });
  else for (const line of report(analysis, decision)) await print(line);
  process.exitCode = CODES[decision?.verdict ?? analysis.verdict];
}

async function listRules({ json }: CheckOptions): Promise<void> {
  const rules = safetyRules();
  if (json) return printJson(rules);
  const width = Math.max(...rules.map(({ id }) => id.length));
  for (const { id, level, doc } of rules) {
    await print(`${id.padEnd(width)}  ${paint(level === 'deny' ? 'red' : 'yellow', level.padEnd(4))}  ${doc}`);
  }
}
