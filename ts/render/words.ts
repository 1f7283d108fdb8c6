/** Formats a whole number with separated thousands: 12,345. */
export function grouped(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a time for people: 850 ms, 1.2 s, 30 s, 2 min 5 s, 15 min, 1 h 2 min. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return 'no end';
  if (ms < 1_000) return `${Math.floor(ms)} ms`;
  if (ms < 60_000) return `${Math.floor(ms / 100) / 10} s`;
  const seconds = Math.floor(ms / 1_000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  if (hours > 0) return joined([hours, 'h'], [minutes % 60, 'min']);
  return joined([minutes, 'min'], [seconds % 60, 's']);
}

function joined(...parts: [number, string][]): string {
  return parts
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ');
}
