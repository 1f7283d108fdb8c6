import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Target } from 'agent-bash';
import {
  createLocalSandbox,
  createLocalSandboxSession,
  createSandbox,
  createSandboxSession,
  type DisposableSandboxSession,
  type LocalSessionOptions,
  type Sandbox,
} from 'agent-bash/sandbox';
import { afterAll, beforeAll, describe } from 'vitest';
import { remove } from '../support/folder.ts';
import { finished } from '../support/index.ts';
import { addressOf } from '../support/target.ts';
import { temporaryFolder } from './support.ts';

/** A machine that runs the sandboxes of a test. */
export interface Place {
  /** The target; `undefined` on this machine. */
  readonly target: Target | undefined;
  /** The directory in which commands start. */
  readonly cwd: string;
  /** The user's own home. */
  readonly home: string;
  sandbox(options?: LocalSessionOptions): Sandbox;
  session(options?: LocalSessionOptions): DisposableSandboxSession;
  /** A session in a directory of the test's own; it ends with the test. */
  sessionInFolder(options?: LocalSessionOptions): Promise<{ folder: string; session: DisposableSandboxSession }>;
}

/** Runs the tests of `body` on this machine, and once more on a target that has the same files. */
export function inPlaces(body: (place: Place) => void): void {
  describe('here', () => {
    const { HOME: home = '' } = process.env;
    body(placeWith({ home, sandbox: createLocalSandbox, session: createLocalSandboxSession }));
  });
  describe('on a target', () => {
    let target: Target;
    let home = '';
    beforeAll(async () => {
      home = mkdtempSync(join(tmpdir(), 'agent-bash-test-'));
      target = await connect({ ...addressOf(home), name: 'there' });
    });
    afterAll(async () => {
      await target.close();
      remove(home);
    });
    body(
      placeWith({
        get target() {
          return target;
        },
        get home() {
          return home;
        },
        sandbox: (options) => createSandbox({ ...options, target }),
        session: (options) => createSandboxSession({ ...options, target }),
      }),
    );
  });
}

function placeWith(given: Pick<Place, 'home' | 'sandbox' | 'session'> & { target?: Target }): Place {
  return {
    get target() {
      return given.target;
    },
    get home() {
      return given.home;
    },
    get cwd() {
      return given.target?.info.cwd ?? process.cwd();
    },
    sandbox: given.sandbox,
    session: given.session,
    async sessionInFolder(options = {}) {
      const folder = await temporaryFolder();
      const session = given.session({ cwd: folder, graceMs: 300, ...options });
      finished(() => session[Symbol.asyncDispose]());
      return { folder, session };
    },
  };
}
