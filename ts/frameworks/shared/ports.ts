import { type BashOptions, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';

/** Throws `ERR_BASH_INVALID_ARG` for an option `ports` that is not a list of TCP ports. */
export function checkPorts(ports: unknown): void {
  const isPort = (port: unknown) => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
  if (Array.isArray(ports) && ports.every(isPort)) return;
  throw innerOf(bash).invalid('ports', ports, 'an array of whole numbers from 1 to 65,535');
}

/**
 * Returns a confinement in which these ports, too, can be reached from this machine. Without confinement, and with the
 * whole network, every port can be reached as it is.
 */
export function exposing(confine: BashOptions['confine'], ports: readonly number[]): BashOptions['confine'] {
  if (!confine || confine === 'off' || ports.length === 0) return confine;
  const given = typeof confine === 'object' ? confine : { profile: confine };
  return given.network === 'full' ? given : { ...given, expose: [...(given.expose ?? []), ...ports] };
}
