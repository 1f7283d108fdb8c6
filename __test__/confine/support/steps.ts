import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, type Host, host } from '../../support/index.ts';

/** A host that runs code in steps, so that a test can look at its processes between them. */
export interface Stepped {
  host: Host;
  /** Runs the next step to its end. */
  step(): Promise<void>;
}

/** Starts a host with code that comes first, and steps. It lives until it is killed, or its test has ended. */
export function stepped(first: string, steps: string[]): Stepped {
  const dir = folder();
  const bodies = steps.map((step, n) => `await go(${n});\n${step}\nconsole.log('done ${n}.');`);
  const running = host(`
    import { existsSync } from 'node:fs';
    const go = async (n) => {
      while (!existsSync(${JSON.stringify(dir)} + '/' + n)) await new Promise((next) => setTimeout(next, 2));
    };
    ${first}
    ${bodies.join('\n')}
    setInterval(() => {}, 1000);`);
  let next = 0;
  return {
    host: running,
    async step() {
      const n = next++;
      writeFileSync(join(dir, String(n)), '');
      await running.says(new RegExp(`^done ${n}\\.$`, 'm'));
    },
  };
}
