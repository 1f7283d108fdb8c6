// Order statistics; nothing here knows what is measured.

/** The `q`-quantile (0 … 1) of `values`, by linear interpolation; NaN when there are none. */
export function quantile(values, q) {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const place = (sorted.length - 1) * q;
  const low = Math.floor(place);
  const high = Math.ceil(place);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
}

export const median = (values) => quantile(values, 0.5);

/** `values` moved round by `shift`, so that in every round another contestant goes first. */
export function rotate(values, shift) {
  const start = values.length === 0 ? 0 : shift % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}

/**
 * Runs `measure(name)` for every name, `rounds` times, interleaved, the first moving on each round, so that a slow
 * spell of the machine meets all alike. Resolves to the measurements of each name, one a round.
 */
export async function interleave(names, rounds, measure) {
  const measured = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of rotate(names, round)) measured.get(name).push(await measure(name, round));
  }
  return measured;
}

/** Median and interquartile range of the ratios of two series round by round: how far a ratio can be trusted. */
export function spread(above, below) {
  const ratios = above.map((value, round) => value / below[round]);
  return { median: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) };
}
