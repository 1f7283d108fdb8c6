import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';
import { until } from '../support/index.ts';

export const CHANNELS = ['start', 'output', 'kill', 'exit', 'block'] as const;
export type Name = (typeof CHANNELS)[number] | 'call' | 'return';

export interface Told {
  name: Name;
  id: string;
  kind: string;
  pid: number;
  [field: string]: unknown;
}

/** Listens to these channels, or else to all others of runs, until the test ends. Returns all messages, in order. */
export function listen(...names: Name[]) {
  const told: Told[] = [];
  for (const name of names.length > 0 ? names : CHANNELS) {
    const listener = (message: unknown) => void told.push({ ...(message as Told), name });
    subscribe(`agent-bash:${name}`, listener);
    onTestFinished(() => void unsubscribe(`agent-bash:${name}`, listener));
  }
  return {
    told,
    /** The messages of one channel. */
    of: (name: Name) => told.filter((one) => one.name === name),
    names: () => told.map(({ name }) => name),
    hears: (name: Name, test: (one: Told) => boolean = () => true) =>
      until(() => told.find((one) => one.name === name && test(one)), `${name} is told`),
  };
}
