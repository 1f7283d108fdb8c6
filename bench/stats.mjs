// Order statistics.

/** Returns the `q`-quantile (0 … 1) of `values` by linear interpolation, or NaN for no values. */
export function quantile(values, q) {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const place = (sorted.length - 1) * q;
  const low = Math.floor(place);
  const high = Math.ceil(place);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
}

export const median = (values) => quantile(values, 0.5);

/** Rotates `values` by `shift`, so that another contestant goes first in each round. */
export function rotate(values, shift) {
  const start = values.length === 0 ? 0 : shift % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}

/**
 * Runs `measure(name)` for every name in each of `rounds` rounds. Each round starts with another name, so that a slow
 * spell of the machine affects all alike. Resolves with the measurements of each name, one per round.
 */
export async function interleave(names, rounds, measure) {
  const measured = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of rotate(names, round)) measured.get(name).push(await measure(name, round));
  }
  return measured;
}

/**
 * Returns the median and interquartile range of the ratios of two series, round by round. The range shows the noise.
 */
export function spread(above, below) {
  const ratios = above.map((value, round) => value / below[round]);
  return { median: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) };
}
