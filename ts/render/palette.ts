/** Levels of each component in the 6 × 6 × 6 colour cube, 16 … 231. 24 shades of grey follow it. */
const LEVELS = [0, 95, 135, 175, 215, 255];

/** The first sixteen colours, as many terminals have them. */
const BASIC = [
  '#000000 #cd3131 #0dbc79 #b5a000 #2472c8 #bc3fbc #11a8cd #c0c0c0',
  '#666666 #f14c4c #23d18b #d7c000 #3b8eea #d670d6 #29b8db #ffffff',
].flatMap((line) => line.split(' '));

type Parts = [red: number, green: number, blue: number];

/** Returns a colour of the palette, 0 … 255, as `#rrggbb`. */
export function hexOf(index: number): string {
  if (index < 16) return BASIC[index] as string;
  return `#${partsOf(index)
    .map((part) => part.toString(16).padStart(2, '0'))
    .join('')}`;
}

/** Returns the palette's colour, 16 … 255, nearest to a 24-bit colour. */
export function nearest(colour: number): number {
  const wanted: Parts = [(colour >> 16) & 255, (colour >> 8) & 255, colour & 255];
  const [red, green, blue] = wanted.map(level) as Parts;
  const cube = 16 + 36 * red + 6 * green + blue;
  const brightness = (wanted[0] + wanted[1] + wanted[2]) / 3;
  const grey = 232 + Math.max(0, Math.min(23, Math.round((brightness - 8) / 10)));
  return distance(wanted, partsOf(grey)) < distance(wanted, partsOf(cube)) ? grey : cube;
}

function partsOf(index: number): Parts {
  if (index >= 232) {
    const grey = 8 + 10 * (index - 232);
    return [grey, grey, grey];
  }
  const cube = index - 16;
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((at) => LEVELS[at]) as Parts;
}

function level(part: number): number {
  return part < 48 ? 0 : part < 115 ? 1 : Math.min(5, Math.floor((part - 35) / 40));
}

function distance(one: Parts, other: Parts): number {
  return one.reduce((sum, part, at) => sum + (part - (other[at] as number)) ** 2, 0);
}
