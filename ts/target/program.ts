import type { NativeProgram } from '../../native.cjs';
import { besidePackage } from '../core/addon.ts';
import { readFileSync, statSync } from '../core/builtins.ts';

/** The host program of a build, beside the package. */
const FILE = 'agent-bash-host';

/** The machines of the processors, as `uname -m` names them. */
const MACHINES: Record<string, string> = { x64: 'x86_64', arm64: 'aarch64' };

let known: { path: string; changed: number; program: NativeProgram } | undefined;

/** Returns the host programs that can be sent to a target. */
export function programs(): NativeProgram[] {
  const path = besidePackage(FILE);
  const machine = MACHINES[process.arch];
  if (path === null || machine === undefined || process.platform !== 'linux') return [];
  const { mtimeMs, size } = statSync(path);
  if (known?.path !== path || known.changed !== mtimeMs) {
    const { createHash } = process.getBuiltinModule('node:crypto');
    const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
    known = {
      path,
      changed: mtimeMs,
      program: { machine, sha256, bytes: size, forms: [{ coding: 'raw', bytes: size, path }] },
    };
  }
  return [known.program];
}
