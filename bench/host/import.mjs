// A fresh process that imports one module (argv[2]) and reports the time. With `first-call` it also measures the first
// and second `bash('true')`.
import { createRequire } from 'node:module';

const [, , specifier, mode] = process.argv;
const require = createRequire(import.meta.url);
const load = mode === 'require' ? async () => require(specifier) : () => import(specifier);

const started = performance.now();
const loading = load();
const loaded = await loading;
const times = { load: performance.now() - started };
if (mode === 'first-call') {
  for (const call of ['first', 'second']) {
    const begun = performance.now();
    await loaded.bash('true');
    times[call] = performance.now() - begun;
  }
}
process.stdout.write(JSON.stringify(times));
