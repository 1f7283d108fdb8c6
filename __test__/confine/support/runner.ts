import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ConfineOptions, ConfinePart } from 'agent-bash';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasProgram, kill, testNeeding } from '../../support/index.ts';
import { type Attack, changed } from './attack.ts';
import { Canaries } from './canaries.ts';
import { type Ground, ground } from './ground.ts';
import { run } from './raid.ts';
import { repository, type Site, site, stateOf, victimOf } from './site.ts';
import { type User, users } from './users.ts';

/** One attack after it was made. */
interface Made {
  site: Site;
  succeeded: boolean;
}

const canaries = new Canaries();
let here: Ground;
beforeAll(async () => {
  here = ground();
  await canaries.open();
});
afterAll(async () => {
  canaries.close();
  await Promise.all(removals);
  here?.remove();
}, 60_000);

/** The repository that the sites of a user are copies of. */
const templates = new Map<User, string>();
function templateOf(user: User): string {
  const path = templates.get(user) ?? repository(here, user);
  templates.set(user, path);
  return path;
}

/** The removals of old sites, which go on beside the next attacks. */
const removals: Promise<unknown>[] = [];
function discard(paths: string[]): void {
  if (paths.length > 0) removals.push(once(spawn('rm', ['-rf', ...paths], { stdio: 'ignore' }), 'exit'));
}

/** Sites that are prepared at once. */
const AT_ONCE = 4;

/** The options of a call that no test sets otherwise. */
const CALL = { timeoutMs: 20_000 };

/** How a class of attacks is made. */
export interface How {
  /** The words in front of the attacker's command line, which start its process. */
  wrap?: (here: Ground) => string[];
  /** The only parts that are required and have to be held. Default: all. */
  held?: ConfinePart[];
  /** Whether each is made in a draft of its directory, and in no other way. Nothing may change that directory. */
  draft?: true;
}

/** How a command is held. */
type Held = 'not' | 'confined' | 'drafted';

/**
 * Makes the attacks of one class as each user, first without confinement, where each must succeed, and then with it,
 * where none may. One process of the attacker runs all of them, each in a directory of its own.
 */
export function attacks(title: string, rows: Attack[], { wrap = () => [], held, draft }: How = {}): void {
  describe(title, () => {
    for (const user of users) {
      const own = rows.filter(({ as = user.name }) => user.name.includes(as));
      if (own.length === 0) continue;
      const made = (how: Held) => {
        let all: Promise<Map<string, Made>> | undefined;
        return () =>
          (all ??= makeAll(
            here,
            canaries,
            user,
            own.filter(({ lacks }) => !lacks),
            how,
            { ...(held && { require: held }) },
            wrap(here),
          ));
      };
      const open = made('not');
      const confined = made('confined');
      const drafted = made('drafted');
      describe(`as ${user.name}`, () => {
        for (const { name, needs, lacks, optional } of own) {
          const able = lacks ? test.skip : testNeeding(ableWith(needs), isAble(user, needs));
          if (draft) {
            able(`${name}: does not get out of a draft`, async ({ skip }) => {
              const { site, succeeded } = (await drafted()).get(name) as Made;
              if (NOT_DRAFTED.test(site.raid.stderr)) skip('drafts have no such option');
              expect(site.raid.status, report(site)).not.toBe('rejected');
              expect(succeeded, report(site)).toBe(false);
            });
            continue;
          }
          able(`${name}: works without confinement`, async ({ skip }) => {
            const { site, succeeded } = (await open()).get(name) as Made;
            if (optional && NOT_THERE.test(site.raid.stderr)) skip('this kernel lacks it');
            expect(succeeded, report(site)).toBe(true);
          });
          able(`${name}: does not get out`, async () => {
            const { site, succeeded } = (await confined()).get(name) as Made;
            expect(site.raid.status, report(site)).not.toBe('rejected');
            expect(site.raid.confinement, report(site)).toMatchObject({
              ...(held ? {} : { missing: [] }),
              held: expect.arrayContaining(held ?? HELD),
            });
            expect(succeeded, report(site)).toBe(false);
          });
        }
      });
    }
  });
}

/** The parts that hold with all options. The network is one only where it is confined. */
const HELD = ['files', 'processes', 'syscalls'];

/** The error of a draft whose confinement would reach out of it. */
const NOT_DRAFTED = /^ERR_BASH_INVALID_ARG: confine\./;

/** The error of a kernel that was built without the feature. */
const NOT_THERE = /not implemented|not supported/;

const ableWith = (program = 'gcc') => `${program}, and a node that an ordinary user can run`;

const isAble = (user: User, program = 'gcc') => user.able && ['gcc', 'python3', program].every(hasProgram);

const report = ({ raid }: Site) =>
  JSON.stringify({ ...raid, stdout: raid.stdout.slice(-500), stderr: raid.stderr.slice(-500) });

async function makeAll(
  here: Ground,
  canaries: Canaries,
  user: User,
  rows: Attack[],
  how: Held,
  confine: ConfineOptions,
  wrap: string[],
) {
  const sites = new Map<string, Site>();
  const made = new Map<string, Made>();
  try {
    const waiting = rows.values();
    const prepare = async () => {
      for (const row of waiting) await prepareOne(row);
    };
    const prepareOne = async ({ name, victim, before, ...row }: Attack) => {
      const at = await site(here, user, canaries, 'at', row.repository ? templateOf(user) : null);
      sites.set(name, at);
      if (victim) at.victim = await victimOf(at, here, user);
      await before?.(at, canaries);
      at.before = stateOf(at.path);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, prepare));
    const raids = rows.map(({ name, script, confine: more }) => {
      const at = sites.get(name) as Site;
      const { work, env, hidden, path } = at;
      const options = { cwd: work, env: { ...env, OWN: how === 'not' ? 'unshare -Urm' : '' }, ...CALL };
      const limits = { profile: 'workspace', hide: [hidden], ...confine, ...more?.(at) };
      const draft = { root: work, dir: join(path, 'drafts'), confine: limits };
      const held = { not: {}, confined: { confine: limits }, drafted: { draft } }[how];
      return { id: name, command: script, options: { ...options, ...held } };
    });
    for (const raid of await run(here, user, raids, wrap)) (sites.get(raid.id) as Site).raid = raid;
    for (const { name, sees = changed() } of rows) {
      const at = sites.get(name) as Site;
      const isChanged = how === 'drafted' && (await changed('work')(at, canaries));
      made.set(name, { site: at, succeeded: isChanged || (await sees(at, canaries)) });
    }
  } finally {
    for (const { name, after } of rows) {
      const at = sites.get(name);
      if (at?.victim) kill(at.victim.pid, 'SIGKILL');
      if (at) await after?.(at);
    }
    discard([...sites.values()].map(({ path }) => path));
  }
  return made;
}
