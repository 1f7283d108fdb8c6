import { randomBytes } from 'node:crypto';
import type { BashError } from 'agent-bash';
import { linkedAbort } from '../core/abort.ts';
import { growingPauses, pause } from '../provider/pauses.ts';
import { givenUp, placeError } from '../provider/place-error.ts';
import { finalOf } from './failures.ts';
import { Kubectl } from './kubectl.ts';
import type { SandboxSettings } from './options.ts';
import {
  CLAIMS,
  GROUP,
  lifecycle,
  newClaim,
  podOf,
  type Resource,
  resourcesOf,
  SANDBOXES,
  VERSION,
} from './resources.ts';

/** The longest time of one watch. The state is asked for between two. */
const WATCH_MS = 30_000;

/** A pod, pinned by its uid. */
export interface ClaimedPod {
  pod: string;
  uid: string;
}

/** A SandboxClaim from its creation to its deletion. */
export class SandboxClaim {
  /** Random, and so known before it is created: a claim whose creation was never answered can be deleted. */
  readonly name = `agent-bash-${randomBytes(10).toString('hex')}`;
  /** When the claim ends by itself, in ms since the epoch. */
  endsAt = 0;
  #namespace: string | undefined;
  /** Whether the claim is there. `'perhaps'`: an attempt to create it was not answered. */
  #created: 'no' | 'perhaps' | 'yes' = 'no';
  /** Why it is not ready, as it said last. */
  #state = 'it was not created yet';
  /** When waiting for the sandbox ends, `performance.now()`. */
  readonly #deadline: number;
  readonly #kubectl: Kubectl;
  readonly #settings: SandboxSettings;

  constructor(settings: SandboxSettings) {
    this.#settings = settings;
    this.#kubectl = new Kubectl(settings);
    this.#namespace = settings.namespace;
    this.#deadline = performance.now() + settings.leaseMs;
  }

  /** The namespace; known once the claim was created. */
  get namespace(): string {
    return this.#namespace ?? '';
  }

  /** Creates the claim and waits until its pod runs. What is left of it when this rejects, `delete` removes. */
  async pod(signal: AbortSignal): Promise<ClaimedPod> {
    let claim = await this.#create(signal);
    for (;;) {
      const sandbox = this.#sandboxOf(claim) ?? (await this.#watched(claim, signal));
      if (sandbox !== null) return this.#podOf(sandbox, signal);
      this.#goesOn(signal);
      claim = await this.#get(signal);
    }
  }

  /** Moves the end of the claim to this time, in ms since the epoch. */
  async renew(until: number): Promise<void> {
    const patch = JSON.stringify({ spec: { lifecycle: lifecycle(until) } });
    await this.#kubectl.call(
      [...this.#in, 'patch', CLAIMS, this.name, '--type=merge', '--patch', patch, '-o', 'name'],
      {
        failing: `the ${this.#words} could not be renewed`,
        until: performance.now() + this.#settings.leaseMs / 2,
      },
    );
    this.endsAt = until;
  }

  /** Deletes the claim, and so its sandbox. A creation that was never answered may still arrive. */
  async delete(): Promise<void> {
    if (this.#created === 'no') return;
    for (const wait of this.#created === 'yes' ? [0] : [0, 1_000, 3_000]) {
      await pause(wait);
      const args = ['delete', CLAIMS, this.name, '--ignore-not-found', '--wait=false', '-o', 'name'];
      const { stdout } = await this.#kubectl.call([...this.#in, ...args], {
        failing: `the ${this.#words} could not be deleted, and ends by itself at ${new Date(this.endsAt).toISOString()}`,
        accepts: ({ about }) => about === 'gone',
      });
      if (stdout.trim() !== '') return;
    }
  }

  get #words(): string {
    return `claim ${this.name} of the warm pool "${this.#settings.warmPool}"`;
  }

  get #in(): string[] {
    return this.#namespace === undefined ? [] : [`--namespace=${this.#namespace}`];
  }

  async #create(signal: AbortSignal): Promise<Resource> {
    this.endsAt = Date.now() + this.#settings.leaseMs;
    const { failure, stdout } = await this.#kubectl.call(
      [...this.#in, 'create', '--validate=false', '-f', '-', '-o', 'json'],
      {
        failing: `the ${this.#words} could not be created`,
        stdin: JSON.stringify(newClaim(this.name, this.#settings.warmPool, this.endsAt)),
        until: this.#deadline,
        signal,
        // The answer of an earlier attempt was lost.
        accepts: ({ about }) => about === 'exists',
        onDoubt: () => {
          this.#created = 'perhaps';
        },
      },
    );
    this.#created = 'yes';
    return failure === null ? this.#seen(stdout) : this.#get(signal);
  }

  async #get(signal: AbortSignal): Promise<Resource> {
    const { failure, stdout } = await this.#kubectl.call([...this.#in, 'get', CLAIMS, this.name, '-o', 'json'], {
      failing: `the ${this.#words} could not be read`,
      until: this.#deadline,
      signal,
      accepts: ({ about }) => about === 'gone',
    });
    if (failure !== null) throw this.#gone();
    return this.#seen(stdout);
  }

  #seen(text: string): Resource {
    const [claim] = resourcesOf(text);
    if (!claim?.metadata) throw placeError('protocol', `the ${this.#words} was answered with something else`, text);
    this.#namespace = claim.metadata.namespace ?? this.#namespace;
    return claim;
  }

  /** Returns the sandbox of a claim that is ready. `null`: it is not. */
  #sandboxOf({ metadata, status: { conditions, sandbox } = {} }: Resource): string | null {
    if (metadata?.deletionTimestamp) throw this.#gone();
    const { status, reason, message } = conditions?.find(({ type }) => type === 'Ready') ?? {};
    if (status === 'True') return sandbox?.name ?? null;
    this.#state = reason === undefined ? 'no controller of agent-sandbox has answered' : `${reason}: ${message}`;
    const final = status === 'False' ? finalOf(reason, message) : null;
    if (final !== null)
      throw placeError(final.reason, `the ${this.#words} has no sandbox: ${this.#state}; ${final.remedy}`);
    return null;
  }

  /** Waits until the claim is ready, after the state that is known. `null`: it has to be asked for. */
  async #watched({ metadata }: Resource, signal: AbortSignal): Promise<string | null> {
    const query = `watch=true&fieldSelector=metadata.name%3D${this.name}&resourceVersion=${metadata?.resourceVersion}`;
    const path = `/apis/${GROUP}/${VERSION}/namespaces/${metadata?.namespace}/sandboxclaims?${query}`;
    const bound = Math.max(1, Math.min(WATCH_MS, Math.ceil(this.#deadline - performance.now())));
    const { controller, unlink } = linkedAbort([signal]);
    // A server that ends each watch at once is not asked again at once.
    const breath = pause(500, controller.signal);
    try {
      return await new Promise((resolve, reject) => {
        const onLine = (line: string) => {
          try {
            const { type, object } = JSON.parse(line) as { type: string; object: Resource };
            if (type === 'DELETED') throw this.#gone();
            const sandbox = type === 'MODIFIED' ? this.#sandboxOf(object) : null;
            if (sandbox !== null) resolve(sandbox);
          } catch (error) {
            reject(error);
          }
        };
        const over = this.#kubectl.watch(path, onLine, bound, controller.signal);
        over.then(() => breath).then(() => resolve(null), reject);
      });
    } finally {
      unlink();
      controller.abort();
    }
  }

  /** Finds the pod of a sandbox, which mostly has the name of the sandbox. */
  async #podOf(name: string, signal: AbortSignal): Promise<ClaimedPod> {
    let pod = name;
    for (const wait of growingPauses(100, 1_000)) {
      const args = ['get', `${SANDBOXES}/${name}`, `pods/${pod}`, '--ignore-not-found', '-o', 'json'];
      const { stdout } = await this.#kubectl.call([...this.#in, ...args], {
        failing: `the sandbox ${name} of the ${this.#words} could not be read`,
        until: this.#deadline,
        signal,
      });
      const found = resourcesOf(stdout);
      const sandbox = found.find(({ kind }) => kind === 'Sandbox');
      const named = (sandbox && podOf(sandbox)) ?? pod;
      const uid = found.find(({ kind, metadata }) => kind === 'Pod' && metadata?.name === named)?.metadata?.uid;
      if (sandbox && uid !== undefined) return { pod: named, uid };
      this.#state = `its pod ${named} is not there yet`;
      this.#goesOn(signal);
      if (pod === named) await pause(wait, signal);
      pod = named;
    }
    throw this.#gone();
  }

  /** Throws if waiting is over. */
  #goesOn(signal: AbortSignal): void {
    if (signal.aborted) throw givenUp(`the ${this.#words}`, this.#state);
    if (performance.now() < this.#deadline) return;
    const hint = 'raise `leaseMs`, or the replicas of the warm pool; see `kubectl get events`';
    throw placeError('timeout', `the ${this.#words} had no sandbox within its lease: ${this.#state}; ${hint}`);
  }

  #gone(): BashError {
    return placeError(
      'lost',
      `the ${this.#words} was deleted by somebody else, or has expired; acquire another sandbox`,
    );
  }
}
