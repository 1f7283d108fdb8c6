import { resolve } from 'node:path';
import { type BashError, connect, type Target, type TargetAddress } from 'agent-bash';
import { type Command, InvalidArgumentError } from 'commander';
import { EXIT, Failure } from './console.ts';
import { type Interruption, interruptible } from './interruption.ts';
import { parseLinger } from './values.ts';

/** A destination, as it was given and as `connect` takes it. */
interface Destination {
  text: string;
  address: TargetAddress;
}

/** The options that name a target, as commander gives them. */
export interface TargetFlags {
  on?: Destination;
  sshConfig?: string;
  linger?: number;
}

/** Adds these options to a command. */
export function addTargetFlags(command: Command): Command {
  return command
    .option(
      '--on <dest>',
      'on a target: an ssh destination, docker:NAME, podman:NAME or pod:NAMESPACE/POD[/CONTAINER]',
      parseDestination,
    )
    .option('--ssh-config <file>', 'with --on, the config of ssh')
    .option('--linger <time>', 'with --on, how long work goes on there without a link (default: 2m)', parseLinger);
}

/** Parses a destination. Whether a name can be one is up to `connect`. */
export function parseDestination(text: string): Destination {
  const [, kind, name = ''] = /^(docker|podman|pod):(.*)$/s.exec(text) ?? [];
  if (kind === undefined) return { text, address: { ssh: text } };
  if (kind !== 'pod') return { text, address: kind === 'docker' ? { docker: name } : { podman: name } };
  const [namespace = '', pod, container, more] = name.split('/');
  if (pod === undefined || more !== undefined) {
    throw new InvalidArgumentError('A pod is pod:NAMESPACE/POD or pod:NAMESPACE/POD/CONTAINER.');
  }
  return { text, address: { kubernetes: { namespace, pod, ...(container !== undefined && { container }) } } };
}

/** Returns the options that name the same target in another call, each behind a space. */
export function wordsOf({ on, sshConfig }: TargetFlags): string {
  return spaced([...(on ? ['--on', on.text] : []), ...(sshConfig === undefined ? [] : ['--ssh-config', sshConfig])]);
}

/** Returns words for a shell, each behind a space. */
export function spaced(words: string[]): string {
  const quoted = (word: string) => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  return words.map((word) => ` ${quoted(word)}`).join('');
}

/** Throws for options that do not belong together. */
function checkTargetFlags({ on, sshConfig, linger }: TargetFlags): void {
  const lone = sshConfig !== undefined ? '--ssh-config' : linger !== undefined ? '--linger' : undefined;
  if (on === undefined && lone) throw wrong(`${lone} is about a connection: name the target with --on`);
  if (on && sshConfig !== undefined && !('ssh' in on.address)) {
    throw wrong(`--ssh-config is for an ssh destination, and ${on.text} is none`);
  }
}

const wrong = (message: string) => new Failure('ERR_BASH_INVALID_ARG', message, EXIT.usage);

/** Connects to the target of the flags; `undefined` without `--on`. A bad destination is a wrong argument. */
export async function targetOf(flags: TargetFlags, signal?: AbortSignal): Promise<Target | undefined> {
  checkTargetFlags(flags);
  const { on, sshConfig, linger } = flags;
  if (on === undefined) return undefined;
  const { address } = on;
  const to = 'ssh' in address && sshConfig !== undefined ? withConfig(address, resolve(sshConfig)) : address;
  try {
    return await connect({ ...to, ...(linger !== undefined && { detachMs: linger }), ...(signal && { signal }) });
  } catch (error) {
    throw (error as BashError).code === 'ERR_BASH_INVALID_ARG' ? Failure.of(error, EXIT.usage) : error;
  }
}

function withConfig({ ssh }: Extract<TargetAddress, { ssh: unknown }>, config: string): TargetAddress {
  return { ssh: typeof ssh === 'string' ? { host: ssh, config } : { ...ssh, config } };
}

/** Calls `use` with what the flags name, which is closed at the end; with `undefined` if they name nothing. */
export async function onTarget<Flags extends TargetFlags, Place extends { close(): Promise<void> }>(
  flags: Flags,
  { signal, code }: Interruption,
  open: (flags: Flags, signal: AbortSignal) => Promise<Place | undefined>,
  use: (target: Place | undefined) => Promise<void>,
): Promise<void> {
  let target: Place | undefined;
  try {
    target = await open(flags, signal);
    await use(target);
  } catch (error) {
    // An interruption has its reason.
    if (!signal.aborted) throw error;
  } finally {
    await target?.close();
  }
  process.exitCode = code() ?? process.exitCode;
}

/** Does so for a command that is ended by the end of its target. Without `--on`, a signal ends it as it does others. */
export async function brieflyOn(flags: TargetFlags, use: (target: Target | undefined) => Promise<void>): Promise<void> {
  if (flags.on === undefined) {
    checkTargetFlags(flags);
    return use(undefined);
  }
  const interruption = interruptible();
  return onTarget(flags, interruption, targetOf, (target) => {
    interruption.signal.addEventListener('abort', () => void target?.close());
    return use(target);
  });
}
