// The cost of the safety engine: `analyze`, from the call to the finished object.
import { createRequire } from 'node:module';
import { median, quantile } from '../stats.mjs';
import { time } from '../table.mjs';

export const title = 'analyze';

const SHORT = 'cd packages/core && npm run build -- --filter "$NAME" 2>&1 | tail -n 20 && git commit -m "Build it"';

/** Returns 4 KB of whole lines of one kind. */
function script(line) {
  let text = '';
  for (let count = 0; text.length < 4096; count++) text += line(count);
  return text;
}

const COMMANDS = {
  true: { text: 'true' },
  'a command of 100 bytes': { text: SHORT, reach: 0.1 },
  'a script of 4 KB, pipelines': {
    text: script(
      (count) => `npm run build -- --filter x${count} && cp -r dist/ out/dir && echo "done" | tee -a log.txt\n`,
    ),
    reach: 2,
  },
  'a script of 4 KB, loops over files': {
    text: script((count) => `for f in src/a${count}.ts src/b.ts; do [ -f "$f" ] && wc -l < "$f" >> out.txt; done\n`),
    reach: 2,
  },
  'a script of 4 KB, a heredoc': {
    text: `cat > notes.md <<'EOF'\n${'Some text that is no code.\n'.repeat(155)}EOF\n`,
    reach: 2,
  },
};

export async function measure({ short, ours }) {
  if (ours.length === 0) return [];
  const { analyze } = createRequire(import.meta.url)('agent-bash');
  const rounds = short ? 100 : 1_000;
  return Object.entries(COMMANDS).map(([name, { text, reach }]) => {
    const times = [];
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      analyze(text);
      times.push(performance.now() - start);
    }
    return time(name, median(times), {
      reach: reach ? { max: reach } : null,
      note: `${text.length} bytes; p99 ${quantile(times, 0.99).toFixed(3)} ms`,
    });
  });
}
