import type { Confinement } from 'agent-bash';
import { isRecord } from '../read.ts';

/**
 * Returns how a sandbox says that it confined a command; `null` if it says nothing. A local sandbox of this package has
 * this field. The answer of another one may be anything.
 */
export function confinementIn(given: unknown): Confinement | null {
  if (!isRecord(given)) return null;
  try {
    const copy: unknown = structuredClone(given);
    return isConfinement(copy) ? copy : null;
  } catch {
    return null;
  }
}

function isConfinement(given: unknown): given is Confinement {
  const { profile, held, missing, denied, deniedTotal, tmp } = given as Record<string, unknown>;
  return (
    (profile === 'workspace' || profile === 'read-only') &&
    Array.isArray(held) &&
    Array.isArray(missing) &&
    missing.every(isRecord) &&
    Array.isArray(denied) &&
    denied.every(isDenial) &&
    Number.isSafeInteger(deniedTotal) &&
    (tmp === null || typeof tmp === 'string')
  );
}

function isDenial(given: unknown): boolean {
  if (!isRecord(given)) return false;
  const { kind, target, program, count, grant } = given;
  const named = [kind, target, program].every((text) => typeof text === 'string');
  return named && Number.isSafeInteger(count) && (grant === null || isRecord(grant));
}
