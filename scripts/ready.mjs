/**
 * `node scripts/ready.mjs [--full] FILE ARGS`: sets up, then runs a file of this clone in this process (`npm start`,
 * `npm run bench`). With `--full` the set-up builds the optimized addon.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { main, root } from './process.mjs';
import { setUp } from './setup.mjs';

const full = process.argv[2] === '--full';
const [file, ...args] = process.argv.slice(full ? 3 : 2);
await main(async () => {
  await setUp({ full });
  process.argv = [process.argv[0], resolve(root, file), ...args];
});
if (!process.exitCode) await import(pathToFileURL(resolve(root, file)).href);
