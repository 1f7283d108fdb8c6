/**
 * The part of a stream that is kept: its end, its beginning, or both ends. Limits are whole numbers of at least 1. A
 * limit that is left out does not hold, but at most 16 MiB are kept in any case.
 */
export type Truncate =
  | {
      /**
       * Which part is kept, up to the limit that is reached first: whole lines of
       * the end, or the beginning, which may end inside a line.
       *
       * @example await bash('npm test', { truncate: { keep: 'head', maxLines: 100 } });
       */
      keep: 'tail' | 'head';
      /**
       * Lines.
       *
       * @default no limit
       * @example await bash('npm test', { truncate: { keep: 'tail', maxLines: 200 } });
       */
      maxLines?: number | undefined;
      /**
       * Bytes of UTF-8.
       *
       * @default no limit but 16 MiB
       * @example await bash('npm test', { truncate: { keep: 'tail', maxBytes: 20_000 } });
       */
      maxBytes?: number | undefined;
      /**
       * UTF-16 units, as JavaScript counts characters.
       *
       * @default no limit
       * @example await bash('npm test', { truncate: { keep: 'head', maxChars: 30_000 } });
       */
      maxChars?: number | undefined;
    }
  | {
      /**
       * Both ends of a stream that is longer than `maxBytes`. `headBytes` and `tailBytes` together are at most
       * `maxBytes`.
       *
       * @example await bash('npm test', { truncate: TRUNCATE.ends });
       */
      keep: 'ends';
      /**
       * Bytes of UTF-8 up to which a stream stays whole.
       *
       * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
       * });
       */
      maxBytes: number;
      /**
       * Bytes that are kept of the beginning of a longer stream.
       *
       * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
       * });
       */
      headBytes: number;
      /**
       * Bytes that are kept of the end of a longer stream.
       *
       * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
       * });
       */
      tailBytes: number;
    };
