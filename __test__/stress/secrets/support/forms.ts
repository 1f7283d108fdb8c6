/** The token of the attempts: letters and digits after a prefix. */
export const TOKEN = 'ghp_VaLuEvAlUeVaLuEvAlUeVaLuEvAlUe3x7Q9z';
/** A value with characters that are escaped. */
export const AWS = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXVALUEKEY';
export const OTHER = 'xoxb-1111111111-OtherOtherOtherOther';

const base64 = (value: string) =>
  [0, 1, 2].flatMap((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(value)]);
    const [start, end] = [Math.ceil((shift * 8) / 6), Math.floor((bytes.length * 8) / 6)];
    return [bytes.toString('base64'), bytes.toString('base64url')].map((text) => text.slice(start, end));
  });

const lower = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

/** A value in the forms in which no answer may have it. */
const promised = (value: string) => [
  value,
  value.toLowerCase(),
  encodeURIComponent(value),
  lower(encodeURIComponent(value)),
  JSON.stringify(value).slice(1, -1),
  value.replaceAll('/', '\\/'),
  value.replaceAll('+', '\\u002B'),
  value.replaceAll('+', '&#43;'),
  value.replaceAll('/', '&#x2F;'),
  ...base64(value),
];

/** The longest part of a value that something may have by itself: its kind, and what is only half of it. */
const PART = 24;

const FORMS = [TOKEN, AWS, OTHER].flatMap(promised).map((form) => Buffer.from(form));
const PARTS = [TOKEN, AWS, OTHER].flatMap((value) =>
  Array.from({ length: value.length - PART + 1 }, (_, at) => Buffer.from(value.slice(at, at + PART))),
);

/** Whether some bytes have a value, or most of one. */
export const exposes = (bytes: Buffer): boolean =>
  FORMS.some((form) => bytes.includes(form)) || PARTS.some((part) => bytes.includes(part));
