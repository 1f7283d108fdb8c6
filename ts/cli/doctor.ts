import { EXIT, paint, print, printable, printJson } from './console.ts';
import { terminals, tree, waiting, warmStarts } from './doctor/behaviour.ts';
import { type Check, probe } from './doctor/check.ts';
import { confinement } from './doctor/confinement.ts';
import { addon, node, shell, supervisor } from './doctor/core.ts';
import { checkFlags, type DoctorFlags } from './doctor/fix/flags.ts';
import { fix } from './doctor/fix/index.ts';
import { state, temporary } from './doctor/folders.ts';
import { kernel } from './doctor/kernel.ts';
import { limits } from './doctor/limits.ts';

const MARKS = { ok: ['✓', 'green'], missing: ['–', 'yellow'], failed: ['✗', 'red'] } as const;

/**
 * `agent-bash doctor`: checks by trial what this machine supports, and reports the cost of each missing part. With
 * `--fix` or `--unfix`, changes what confinement needs.
 */
export async function doctor(flags: DoctorFlags, version: string): Promise<void> {
  checkFlags(flags);
  if (flags.fix || flags.unfix) return fix(flags, version);
  const { json } = flags;
  const checks = await examine();
  const ok = checks.every(({ state }) => state !== 'failed');
  const platform = `${process.platform} ${process.arch}`;
  if (json) await printJson({ ok, version, platform, checks });
  else {
    await print(`agent-bash ${version} on ${platform}: ${ok ? 'commands run' : 'no command runs'}`);
    for (const line of table(checks)) await print(line);
  }
  process.exitCode = ok ? EXIT.done : EXIT.failed;
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
  return [...(await Promise.all(probes)), ...(await confinement()), ...(await limits())];
}

function table(checks: Check[]): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.flatMap(({ name, state, found, cost }) => {
    const [mark, colour] = MARKS[state];
    const line = `${paint(colour, mark)} ${name.padEnd(width)}  ${printable(found)}`;
    return cost === null ? [line] : [line, `  ${' '.repeat(width)}  ${paint('dim', `costs: ${cost}`)}`];
  });
}
