import type { BashError, Target } from 'agent-bash';
import { EXIT, paint, print, printable, printJson } from './console.ts';
import { brieflyOn } from './destination.ts';
import { terminals, tree, waiting, warmStarts, warmStartsOn } from './doctor/behaviour.ts';
import { type Check, failed, probe } from './doctor/check.ts';
import { confinement, confinementOn } from './doctor/confinement.ts';
import { connection } from './doctor/connection.ts';
import { addon, node, shell, supervisor } from './doctor/core.ts';
import { drafts } from './doctor/drafts.ts';
import { lineOn } from './doctor/files.ts';
import { checkFlags, type DoctorFlags } from './doctor/fix/flags.ts';
import { fix } from './doctor/fix/index.ts';
import { state, stateOn, temporary, temporaryOn } from './doctor/folders.ts';
import { kernel, proc } from './doctor/kernel.ts';
import { limits, limitsOn } from './doctor/limits.ts';

const MARKS = { ok: ['✓', 'green'], missing: ['–', 'yellow'], failed: ['✗', 'red'] } as const;

/**
 * `agent-bash doctor`: checks by trial what this machine supports, and reports the cost of each missing part. With
 * `--fix` or `--unfix`, changes what confinement needs.
 */
export async function doctor(flags: DoctorFlags, version: string): Promise<void> {
  checkFlags(flags);
  if (flags.fix || flags.unfix) return fix(flags, version);
  if (flags.on) return doctorOn(flags, version);
  await brieflyOn(flags, async () =>
    report(flags, { version, platform: `${process.platform} ${process.arch}`, checks: await examine() }),
  );
}

/** What was found on a machine. */
interface Report {
  version: string;
  /** `null`: it is not known. */
  platform: string | null;
  target?: string;
  checks: Check[];
}

async function report({ json }: DoctorFlags, { version, platform, target, checks }: Report): Promise<void> {
  const ok = checks.every(({ state }) => state !== 'failed');
  if (json) await printJson({ ok, version, platform, ...(target !== undefined && { target }), checks });
  else {
    const place = [target, platform].filter(Boolean).join(', ');
    await print(`agent-bash ${version} on ${place}: ${ok ? 'commands run' : 'no command runs'}`);
    for (const line of table(checks)) await print(line);
  }
  process.exitCode = ok ? EXIT.done : EXIT.failed;
}

/** Checks a target. One that cannot be reached, or is lost meanwhile, is a finding. */
async function doctorOn(flags: DoctorFlags, version: string): Promise<void> {
  try {
    await brieflyOn(flags, async (target) => {
      if (!target) return;
      const { platform, arch } = target.info;
      const checks = await examineOn(target);
      await report(flags, { version, platform: `${platform} ${arch}`, target: target.id, checks });
    });
  } catch (error) {
    const { code, message, target } = error as BashError;
    if (code !== 'ERR_BASH_TARGET' || target === undefined) throw error;
    const checks = [failed('connection', message, 'no command runs')];
    await report(flags, { version, platform: null, target, checks });
  }
}

/** Checks a target by commands there. What concerns this process or its addon has no meaning there. */
async function examineOn(target: Target): Promise<Check[]> {
  const core = [connection(target), await shell(target)];
  if (core.some(({ state }) => state === 'failed')) return core;
  const cost = 'it may not work';
  const probes = [
    probe('tree', () => tree(target), cost),
    probe('warm-starts', () => warmStartsOn(target), cost),
    probe('waiting', () => waiting(target), cost),
    probe('terminals', () => terminals(target), cost),
  ];
  return [
    ...core,
    ...(await Promise.all(probes)),
    ...(await confinementOn(target)),
    ...(await limitsOn(target)),
    await proc(target.info.pid, lineOn(target)),
    await probe('state-folder', () => stateOn(target), 'tasks may have no place'),
    await probe('temporary-folder', () => temporaryOn(target), 'long output may have no file'),
  ];
}

async function examine(): Promise<Check[]> {
  const core = [node(), addon()];
  const runs = () => core.every(({ state }) => state !== 'failed');
  if (runs()) core.push(supervisor());
  if (runs()) core.push(await shell());
  const rest = [
    ...(runs() ? await running() : []),
    ...(await kernel()),
    await probe('state-folder', state, 'tasks may have no place'),
    await probe('temporary-folder', temporary, 'long output may have no file'),
  ];
  return [...core, ...rest];
}

/** Checks that need a machine on which commands run. */
async function running(): Promise<Check[]> {
  const cost = 'it may not work';
  const probes = [
    probe('tree', tree, cost),
    probe('warm-starts', warmStarts, cost),
    probe('waiting', waiting, cost),
    probe('terminals', terminals, cost),
  ];
  return [...(await Promise.all(probes)), ...(await confinement()), await drafts(), ...(await limits())];
}

function table(checks: Check[]): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.flatMap(({ name, state, found, cost }) => {
    const [mark, colour] = MARKS[state];
    const line = `${paint(colour, mark)} ${name.padEnd(width)}  ${printable(found)}`;
    return cost === null ? [line] : [line, `  ${' '.repeat(width)}  ${paint('dim', `costs: ${cost}`)}`];
  });
}
