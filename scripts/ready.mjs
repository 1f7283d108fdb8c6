/** `node scripts/ready.mjs FILE ARGS`: runs a file of this clone in this process, after the set-up it needs (`npm start`, `npm run bench`). */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { main, root } from './process.mjs';
import { setUp } from './setup.mjs';

const [file, ...args] = process.argv.slice(2);
await main(async () => {
  await setUp();
  process.argv = [process.argv[0], resolve(root, file), ...args];
});
if (!process.exitCode) await import(pathToFileURL(resolve(root, file)).href);
