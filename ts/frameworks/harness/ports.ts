import type { ForwardedPort, Target } from 'agent-bash';
import { allEnded } from '../shared/all-ended.ts';

/** The ways from this machine to the ports of a session. */
export interface ReachablePorts {
  /** The machine at whose 127.0.0.1 the servers are, for a model. */
  readonly machine: string;
  /** Returns the port at 127.0.0.1 of this machine that leads to one of the session. */
  portTo(port: number): Promise<number>;
  /** Closes what leads there. */
  close(): Promise<void>;
}

/** The ports of a session on this machine. */
export class LocalPorts implements ReachablePorts {
  readonly machine = 'the machine';

  async portTo(port: number): Promise<number> {
    return port;
  }

  async close(): Promise<void> {}
}

/** The ports of a session on a target, each forwarded when it is asked for. */
export class TargetPorts implements ReachablePorts {
  readonly machine = 'the machine of the agent, through a port of its own that it knows, and on the host itself';
  readonly #target: Target;
  readonly #forwarded = new Map<number, Promise<ForwardedPort>>();

  constructor(target: Target) {
    this.#target = target;
  }

  async portTo(port: number): Promise<number> {
    const known = this.#forwarded.get(port) ?? this.#target.forward(port);
    this.#forwarded.set(port, known);
    try {
      return (await known).port;
    } catch (error) {
      this.#forwarded.delete(port);
      throw error;
    }
  }

  async close(): Promise<void> {
    const all = [...this.#forwarded.values()];
    this.#forwarded.clear();
    await allEnded(all.map(async (forwarded) => (await forwarded.catch(() => null))?.close()));
  }
}
