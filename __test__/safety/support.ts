import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Analysis, type AnalyzeOptions, analyze, safetyRules } from 'agent-bash';
import { expect } from 'vitest';

/** The directory in which all commands of the corpus run. It need not exist: `analyze` reads no file. */
export const where = {
  cwd: '/home/dev/project',
  home: '/home/dev',
  env: { HOME: '/home/dev', USER: 'dev', PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' },
} satisfies AnalyzeOptions;

export function judge(command: string, options?: AnalyzeOptions): Analysis {
  return analyze(command, { ...where, ...options });
}

/** `stop`: has to be denied or asked about, and both are right. */
export type Expected = 'deny' | 'ask' | 'allow' | 'stop';

export interface Line {
  verdict: Expected;
  /** Rules of which one has to be among the findings; empty where none is asked for. */
  rules: string[];
  command: string;
  why: string;
}

const here = fileURLToPath(new URL('corpus/', import.meta.url));

const rules = new Set(safetyRules().map(({ id }) => id));

/** The files of the corpus. `outside/` has one for each rule, written before the rule. */
export const files = [
  ...readdirSync(here).filter((name) => name.endsWith('.jsonl')),
  ...readdirSync(`${here}/outside`)
    .filter((name) => rules.has(name.replace(/\.jsonl$/, '')))
    .map((name) => `outside/${name}`),
].sort();

/** The lines of a file of the corpus: `[verdict, rule, command, why]`, where `a|b` means that either rule answers. */
export function lines(file: string): Line[] {
  return readFileSync(`${here}/${file}`, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [verdict, rule, command, why] = JSON.parse(line) as [Expected, string | null, string, string];
      const dangerous = verdict === 'deny' || verdict === 'ask';
      return { verdict, rules: dangerous && rule !== null ? rule.split('|') : [], command, why };
    });
}

/** An analysis in a few words, for a list of misses. */
export function told({ verdict, complete, findings }: Analysis): string {
  const each = findings.map(({ ruleId, level, confidence }) => `${ruleId} ${level} ${confidence}`);
  return `${verdict}${complete ? '' : ', not complete'} (${each.join('; ')})`;
}

/** Fails with how many misses there are, and the first ones. */
export function noMisses(misses: string[], most = Number(process.env.MISSES ?? 40)): void {
  expect(misses.length, [`${misses.length} misses`, ...misses.slice(0, most)].join('\n')).toBe(0);
}

/** Numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
