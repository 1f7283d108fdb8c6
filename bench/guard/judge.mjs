/** Compares what was measured with the figures of the repository. */

/** The part by which a cost may differ from its figure. A path may have a `tolerance` of its own, with a `why`. */
const TOLERANCE = 0.05;

const UNITS = { instructions: 'instructions', calls: 'system calls', bytes: 'bytes of memory' };

const percent = (part) => `${part > 0 ? '+' : ''}${(part * 100).toFixed(1)} %`;

/**
 * Returns a line for each path, and the faults. A path that costs more than its figure is one. So is a path that costs
 * less, because its figure has to follow, and a path without a figure.
 */
export function judge(figures, measured, names) {
  const lines = [];
  const wrong = [];
  for (const name of names) {
    const { tolerance = TOLERANCE, why: _, ...figure } = figures[name] ?? {};
    const costs = Object.entries(measured[name]);
    const part = ([unit, cost]) => cost / (figure[unit] ?? Number.NaN) - 1;
    const shown = costs.map(([unit, cost]) => `${cost} ${UNITS[unit]} (${percent(part([unit, cost]))})`);
    lines.push(`${name.padEnd(30)} ${shown.join(', ')}`);
    for (const cost of costs) {
      const more = part(cost);
      const what = `${name}: ${UNITS[cost[0]]}`;
      if (Number.isNaN(more)) wrong.push(`${what} have no figure: \`npm run bench:guard -- --update\` writes it`);
      else if (more > tolerance) wrong.push(`${what} ${percent(more)}: find out why, and mend it`);
      else if (more < -tolerance) wrong.push(`${what} ${percent(more)}: hold that with \`--update\``);
    }
  }
  return { lines, wrong };
}

/** Returns the figures with what was measured, and with the tolerances that were there. */
export function updated(figures, measured) {
  const all = { ...figures };
  for (const [name, cost] of Object.entries(measured)) {
    const { tolerance, why } = figures[name] ?? {};
    all[name] = { ...cost, ...(tolerance && { tolerance, why }) };
  }
  return Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)));
}
