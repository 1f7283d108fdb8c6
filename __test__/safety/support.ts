import { type Analysis, type AnalyzeOptions, analyze } from 'agent-bash';
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
