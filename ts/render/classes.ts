import { nearest } from './palette.ts';
import { type Colour, RGB, type Style } from './style.ts';

/** Returns the names of the classes of a style, which the style sheet prefixes. */
export function classesOf(style: Style): string[] {
  const names: string[] = [];
  for (const name of ['bold', 'dim', 'italic', 'underline', 'strike'] as const) if (style[name]) names.push(name);
  if (style.token) {
    names.push(`token-${style.token}`);
    return names;
  }
  const { foreground, background, inverse } = style;
  // A page's default colours can only be swapped by name.
  if (inverse) names.push(`fg-${background === null ? 'page' : index(background)}`);
  else if (foreground !== null) names.push(`fg-${index(foreground)}`);
  if (inverse) names.push(`bg-${foreground === null ? 'text' : index(foreground)}`);
  else if (background !== null) names.push(`bg-${index(background)}`);
  return names;
}

function index(colour: Colour): number {
  return colour & RGB ? nearest(colour) : colour;
}
