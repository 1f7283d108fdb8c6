import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashSession, bash, type Evidence } from 'agent-bash';
import { expect } from 'vitest';
import { folder } from '../support/index.ts';

/** `./p NUMBER CODE` notes its number and exits with its code, or with another one if it is the one that differs. */
const PROGRAM = '#!/bin/sh\necho "$1" >>"$RAN"\n[ "$1" = "$DIFFERS" ] && exit 77\nexit "$2"\n';

/** What a generated command needs to know of its programs. */
interface Generated {
  /** Lines that define functions, aliases, options and traps, and start nothing. */
  earlier: string[];
  command: string;
  /** The code of each program by its number. */
  codes: Map<number, number>;
  /** Programs that decide a condition. */
  conditions: Set<number>;
  /** Programs of traps, whose places no text tells. */
  trapped: Set<number>;
  /** Programs that `||` hides, with those on its right side. */
  either: Map<number, number | null>;
  /** Programs in another shell, whose code is that of the part that starts it. */
  inner: Set<number>;
}

/** Where a command is generated. */
interface Site {
  depth: number;
  /** Whether a function is around it. */
  inFunction: boolean;
  calls: boolean;
}

class Generator {
  readonly codes = new Map<number, number>();
  readonly conditions = new Set<number>();
  readonly trapped = new Set<number>();
  readonly either = new Map<number, number | null>();
  readonly inner = new Set<number>();
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) | 1;
    for (let n = 0; n < 8; n++) this.below(2);
  }

  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  pick<T>(...from: T[]): T {
    return from[this.below(from.length)] as T;
  }

  program(good = false): [text: string, number: number] {
    const number = this.codes.size + 1;
    const code = good ? 0 : this.pick(0, 0, 0, 3, 4, 5);
    this.codes.set(number, code);
    return [`./p ${number} ${code}`, number];
  }

  condition(): string {
    const [text, number] = this.program();
    this.conditions.add(number);
    return text;
  }

  inTrap(): string {
    const [text, number] = this.program(this.below(3) > 0);
    this.trapped.add(number);
    return this.pick(text, `${text}; true`, ':');
  }

  or(): string {
    const [left, number] = this.program();
    if (this.below(2) === 0) {
      this.either.set(number, null);
      return `${left} || ${this.pick('true', ':', '{ true; }')}`;
    }
    const [right, other] = this.program();
    this.either.set(number, other);
    return `${left} || ${right}`;
  }

  /** A command that may be an element of a pipeline. */
  element(site: Site): string {
    const inner = { ...site, depth: site.depth - 1 };
    const kinds = [() => this.program()[0], () => this.program()[0], () => `( ${this.list(inner)} )`];
    kinds.push(() => `{ ${this.list(inner)}; }`);
    if (site.calls)
      kinds.push(
        () => this.pick('f0', 'f1'),
        () => this.pick('a0', 'a1'),
      );
    return this.pick(...kinds)();
  }

  list(site: Site): string {
    const count = 1 + this.below(3);
    return Array.from({ length: count }, () => this.statement(site)).join('; ');
  }

  statement(site: Site): string {
    if (site.depth <= 0) return this.program()[0];
    const inner = { ...site, depth: site.depth - 1 };
    const kinds = [
      () => this.program()[0],
      () => `${this.program()[0]} && ${this.program()[0]}`,
      () => this.or(),
      () => `${this.element(site)} | ${this.element(site)}`,
      () => `${this.element(site)} | ${this.element(site)} | cat`,
      () => `! ${this.condition()}`,
      () => `if ${this.condition()}; then ${this.list(inner)}; else ${this.list(inner)}; fi`,
      () => `while ${this.condition()}; do ${this.list(inner)}; break; done`,
      () => `for i in 1 2; do ${this.list(inner)}; done`,
      () => `( ${this.list(inner)} )`,
      () => `{ ${this.list(inner)}; }`,
      () => `x=$(${this.list(inner)})`,
      () => `: $(${this.list(inner)})`,
      () => `${this.program()[0]} & wait`,
      () => `${this.program()[0]} & wait $!`,
      () => `( trap '${this.inTrap()}' EXIT; ${this.list(inner)} )`,
    ];
    if (site.calls) kinds.push(...this.callsOf(inner));
    if (site.inFunction)
      kinds.push(
        () => `${this.program()[0]}; return $?`,
        () => 'return 0',
        () => 'return',
      );
    return this.pick(...kinds)();
  }

  callsOf(inner: Site): (() => string)[] {
    const leaf = { ...inner, inFunction: true, calls: false, depth: 1 };
    return [
      () => this.pick('f0', 'f1', 'r 1', 'r 2', 'gives 0'),
      () => this.pick('a0', 'a1', 'a2', `a3 ${this.program()[0]}`, 'x1', 'bash -c x1'),
      () => `if ${this.pick('c0', 'gives 3', 'a4')}; then ${this.list(inner)}; fi`,
      () => `! ${this.pick('c0', 'gives 4')}`,
      () => `f0() { ${this.list(leaf)}; }`,
      () => `unset -f f1; f1() { ${this.list(leaf)}; }`,
      () => `trap '${this.inTrap()}' ${this.pick('EXIT', 'ERR', 'DEBUG', 'RETURN', 'USR1')}`,
      () => `trap - ${this.pick('EXIT', 'ERR', 'DEBUG', 'RETURN')}`,
      () => `trap '${this.inTrap()}' USR1; kill -USR1 $BASHPID; ${this.program()[0]}`,
      () => `set ${this.pick('-e', '+e', '-E', '-T', '-eET', '-o pipefail', '+o pipefail')}`,
      // With the function deleted, the program of that name runs.
      () => `h 0 0; unset -f h; ${this.program()[0].replace('./p', 'h')}`,
    ];
  }

  generate(): Generated {
    const leaf = { depth: 1, inFunction: true, calls: false };
    const [inner, number] = this.program();
    this.inner.add(number);
    const [alias] = this.program();
    const [first] = this.program();
    const earlier = [
      'shopt -s expand_aliases',
      `f0() { ${this.list(leaf)}; }`,
      `f1() { ${this.list({ ...leaf, depth: 2 })}; }`,
      `r() { ${this.program()[0]}; if [ $1 -gt 0 ]; then r $(($1 - 1)); fi; }`,
      'gives() { return $1; }',
      `c0() { ${this.condition()}; }`,
      `h() { ${this.program()[0]}; }`,
      `x1() { ${inner}; }; export -f x1`,
      `alias a0='${alias}' a1='${first}; ${this.program()[0]}' a2='! ${this.condition()}' a4='${this.condition()}'`,
      "alias a3='command '",
    ];
    if (this.below(3) === 0) earlier.push(`set ${this.pick('-E', '-T', '-ET', '-o pipefail')}`);
    if (this.below(4) === 0) earlier.push(`trap ':' ${this.pick('ERR', 'DEBUG', 'RETURN', 'USR1')}`);
    const site = { depth: 2, inFunction: false, calls: true };
    const command = Array.from({ length: 1 + this.below(3) }, () => this.list(site)).join(this.pick('\n', '; '));
    const { codes, conditions, trapped, either } = this;
    return { earlier, command, codes, conditions, trapped, either, inner: this.inner };
  }
}

/** A program named in a part. */
const NAMED = /^(?:command +)?(?:\.\/p|h) (\d+) \d+$/;

/** A directory in which generated commands run. */
function workshop(): string {
  const cwd = folder();
  writeFileSync(join(cwd, 'p'), PROGRAM);
  chmodSync(join(cwd, 'p'), 0o755);
  copyFileSync(join(cwd, 'p'), join(cwd, 'h'));
  return cwd;
}

/** What plain bash does: its exit code, and how often each program ran. */
function plainly(script: string, cwd: string, differs = '') {
  const ran = join(cwd, 'ran');
  rmSync(ran, { force: true });
  writeFileSync(ran, '');
  const env = { ...environment(cwd), DIFFERS: differs };
  const { status } = spawnSync('bash', ['-c', script], { cwd, env, stdio: 'ignore' });
  const times = new Map<number, number>();
  for (const line of readFileSync(ran, 'utf8').split('\n').filter(Boolean)) {
    times.set(Number(line), (times.get(Number(line)) ?? 0) + 1);
  }
  return { code: status, times };
}

const environment = (cwd: string) => ({ PATH: `${cwd}:${process.env.PATH}`, RAN: join(cwd, 'ran'), DIFFERS: '' });

/** The verdicts that are right for a command that ended with 0, the exact one first. */
function verdicts(made: Generated, times: Map<number, number>): Evidence['verdict'][] {
  const failed = [...times.keys()].filter((number) => made.codes.get(number) && !made.conditions.has(number));
  const excused = (number: number) => (made.either.get(number) ?? null) !== null;
  const known = failed.filter((number) => !made.trapped.has(number));
  if (known.some((number) => !excused(number))) return ['failed'];
  if (failed.some((number) => made.trapped.has(number))) return ['failed', 'unproven'];
  return known.length > 0 ? ['unproven'] : ['passed'];
}

/** How the evidence of a command differs from what plain bash does. */
function differences(made: Generated, evidence: Evidence, code: number | null, cwd: string): string[] {
  const script = [...made.earlier, made.command].join('\n');
  const plain = plainly(script, cwd);
  const found: string[] = [];
  if (code !== plain.code) found.push(`exit code ${code}, in bash ${plain.code}`);
  const right: string[] = plain.code === 0 ? verdicts(made, plain.times) : ['failed'];
  const isPartial = evidence.state === 'partial' && evidence.verdict === 'unproven';
  if (!right.includes(evidence.verdict) && !isPartial)
    found.push(`verdict ${evidence.verdict}, not ${right.join(', ')}`);
  if (evidence.state !== 'known' || evidence.partsTotal > 50 || evidence.masked.length >= 20) return found;
  for (const [number, count] of plain.times) {
    if (made.inner.has(number)) continue;
    const parts = evidence.parts.filter((part) => Number(NAMED.exec(part.command)?.[1]) === number);
    const told = parts.reduce((sum, part) => sum + part.times, 0);
    const codes = parts.every((part) => part.exitCode === (made.codes.get(number) ?? 0));
    // The own steps of a session run a trap of DEBUG, too.
    const isMore = made.trapped.has(number) && told > count && made.command.includes('DEBUG');
    if ((told !== count && !isMore) || !codes)
      found.push(`program ${number}: ${JSON.stringify(parts)}, in bash ${count} times`);
    if (!made.codes.get(number) || made.conditions.has(number) || made.trapped.has(number) || count > 1) continue;
    const isCarried = plain.code !== 0 && plainly(script, cwd, `${number}`).code !== plain.code;
    const isListed = evidence.masked.some((part) => Number(NAMED.exec(part.command)?.[1]) === number);
    // Of parts within each other that end alike only the outer one is listed.
    const isMasked = evidence.masked.some((part) => part.exitCode === made.codes.get(number));
    // Whether a failure without a certain place is hidden is not known if its code is that of the command.
    const isOpen = made.codes.get(number) === plain.code;
    if (isCarried ? isListed : !isMasked && !isOpen) found.push(`program ${number}: ${isCarried ? '' : 'not '}masked`);
  }
  return found;
}

/** Runs generated commands, as one script or behind earlier commands of a session. Returns what is wrong. */
export async function wrong({ from, to, inSession }: { from: number; to: number; inSession: boolean }) {
  const cwd = workshop();
  const options = { cwd, env: environment(cwd), evidence: 'status' } as const;
  const all: string[] = [];
  let partial = 0;
  for (let seed = from; seed <= to; seed++) {
    const made = new Generator(seed).generate();
    const script = [...made.earlier, made.command].join('\n');
    // The own steps of a session run traps that functions inherit, too.
    if (inSession && /set -\w*T/.test(script) && /DEBUG|RETURN/.test(script)) continue;
    const session = new BashSession(options);
    if (inSession) await session.run(made.earlier.join('\n'));
    const { evidence, exitCode } = await (inSession ? session.run(made.command) : bash(script, options));
    await session.close();
    if (!evidence) throw new Error('no evidence');
    partial += Number(evidence.state === 'partial');
    const found = differences(made, evidence, exitCode, cwd);
    if (found.length > 0) all.push(`${seed}: ${found.join('; ')}\n${script}\n${JSON.stringify(evidence)}`);
  }
  return { wrong: all, partial };
}

/** Expects the evidence of generated commands to be what plain bash does. Returns how many are known in part. */
export async function expectAsInBash(range: { from: number; to: number; inSession: boolean }) {
  const { wrong: found, partial } = await wrong(range);
  expect(found.join('\n\n')).toBe('');
  return partial;
}
