// The chart of the README, from bench/results.json. `npm run bench -- --chart` measures and writes both.
import { OURS, PEERS } from './contestants/index.mjs';

/** The rows that the chart needs. */
export const ROWS = ['start', 'shells', 'heap'];

const WARM = "warm: bash('true')";

const digits = (value) => (value < 9.95 ? value.toFixed(1) : String(Math.round(value)));
const times = (value) => `${digits(value)} ×`;

/**
 * Ratios by contestant: a start against the baseline, the same with a warm shell, and with 2 GB resident against
 * without.
 */
export function figures({ report }) {
  const find = (row, what) => {
    const line = report.find((one) => one.row === row)?.lines.find((one) => one.what === what);
    if (!line) throw new Error(`bench/results.json has no “${what}” in “${row}”: npm run bench -- --chart`);
    return line.value;
  };
  const all = (row, rest) => Object.fromEntries([OURS, ...PEERS].map((name) => [name, find(row, `${name}${rest}`)]));
  return {
    start: all('start', ' ÷ baseline'),
    warm: find('shells', `${WARM} ÷ baseline`),
    heap: all('heap', ', large ÷ small'),
  };
}

/** The footer of the chart: the machine of the measurement. */
function footing({ machine }) {
  const { system, node, cores, processor, loadBefore } = machine;
  return `${system.split(' ')[0]}, Node ${node.slice(1)}, ${processor}, ${cores} cores, load ${loadBefore.toFixed(1)} before; npm run bench -- --chart`;
}

const WIDTH = 760;
const LABEL = 170;
const ROOM = 480;
const STEP = 24;

// The chart has a background of its own for each colour scheme, so that it can be read on any page.
const STYLE = `
  .page { fill: #ffffff; stroke: #d0d7de }
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .head { font-weight: 600 }
  .foot { font-size: 11px; fill: #59636e }
  .ours { fill: #1a7f37 }
  .other { fill: #8c959f }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d }
    text { fill: #e6edf3 }
    .foot { fill: #9198a1 }
    .ours { fill: #3fb950 }
    .other { fill: #656c76 }
  }
`;

const escaped = (text) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function bars(title, values, top) {
  const most = Math.max(...values.map(([, value]) => value));
  const lines = values.map(([name, value], index) => {
    const y = top + 14 + index * STEP;
    const width = Math.max(2, Math.round((value / most) * ROOM));
    const kind = name.startsWith(OURS) ? 'ours' : 'other';
    return [
      `  <text x="${LABEL - 10}" y="${y + 13}" text-anchor="end">${escaped(name)}</text>`,
      `  <rect class="${kind}" x="${LABEL}" y="${y}" width="${width}" height="${STEP - 7}" rx="2"/>`,
      `  <text x="${LABEL + width + 8}" y="${y + 13}">${times(value)}</text>`,
    ].join('\n');
  });
  return [`  <text class="head" x="20" y="${top}">${escaped(title)}</text>`, ...lines].join('\n');
}

/** The chart as SVG: shorter bars are better. */
export function chart(results) {
  const { start, warm, heap } = figures(results);
  const starts = [[`${OURS}, warm`, warm], ...Object.entries(start)];
  const heaps = Object.entries(heap);
  const second = 34 + starts.length * STEP + 44;
  const bottom = second + heaps.length * STEP + 44;
  const parts = [
    bars('Starting true, against a bare posix_spawn of bash (less is better)', starts, 34),
    bars('How much longer that takes with 2 GB resident in Node', heaps, second),
  ];
  const said = parts
    .map((part) => [...part.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text).join(' '))
    .join('. ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom}" width="${WIDTH}" height="${bottom}" role="img">
  <title>agent-bash beside child_process, execa, tinyexec and nano-spawn</title>
  <desc>${said}</desc>
  <style>${STYLE}  </style>
  <rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${bottom - 1}" rx="6"/>
${parts.join('\n')}
  <text class="foot" x="20" y="${bottom - 14}">${escaped(footing(results))}</text>
</svg>
`;
}
