import { onTestFinished } from 'vitest';

/** Sets variables of this very process (undefined removes one) until the test has finished. */
export function hostEnv(variables: Record<string, string | undefined>): void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  const set = (name: string, value: string | undefined) => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const [name, value] of Object.entries(variables)) set(name, value);
  onTestFinished(() => {
    for (const [name, value] of before) set(name, value);
  });
}
