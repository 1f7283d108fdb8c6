// A host whose cost is counted: `host.mjs PATH COUNT` does the work of a path COUNT times.
import * as agentBash from 'agent-bash';
import { PATHS } from './paths.mjs';

const [name, count] = process.argv.slice(2);
for (let at = 0; at < Number(count); at++) await PATHS[name].act(agentBash);
