/**
 * Returns what a copy of `process.env` changes. Frameworks pass whole copies, and laying one over the inherited
 * variables would bring back the secrets that are withheld.
 */
export function changedEnvironment(
  env: Readonly<Record<string, string | undefined>> | undefined,
): Record<string, string | null> {
  if (env === undefined) return {};
  const names = new Set([...Object.keys(env), ...Object.keys(process.env)]);
  const changed = [...names].filter((name) => env[name] !== process.env[name]);
  return Object.fromEntries(changed.map((name) => [name, env[name] ?? null]));
}
