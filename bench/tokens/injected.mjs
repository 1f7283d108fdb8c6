// Failure lines of 20 shapes, put at random places into an output. The places depend on a seed alone.

/** A generator of numbers from 0 to 1 (mulberry32). */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const NAMES = ['parser', 'orders', 'billing', 'session', 'router', 'ledger', 'mailer', 'upload', 'search', 'cache'];

/** The shapes. Each has a name and a number of its own, so that no two lines are repeats. */
export const SHAPES = [
  (name, n) => `error[E0${n}]: mismatched types in ${name}`,
  (name, n) => `src/${name}.ts(${n},5): error TS2322: Type 'string' is not assignable to type '${name}'.`,
  (name, n) => `FAILED tests/test_${name}.py::test_${name}_${n} - assert 1 == 2`,
  (name, n) => `--- FAIL: Test${name}${n} (0.01s)`,
  (name, n) => `panic: runtime error: index out of range [${n}] with length 3 in ${name}`,
  (name, n) => `  ✕ ${name} keeps its order (${n} ms)`,
  (name, n) => `not ok ${n} - ${name} answers`,
  (name, n) => `thread '${name}::tests::works' panicked at src/${name}.rs:${n}:9:`,
  (name, n) => `fatal: ${name} ${n} not found in the index`,
  (name, n) => `${name}/main.c:${n}:3: error: expected ';' before '}' token`,
  (name, n) => `make: *** [Makefile:${n}: ${name}] Error 2`,
  (name, n) => `npm error code E4${n} ${name}`,
  (name, n) => `ValueError: ${name} must not be ${n}`,
  (name, n) => `java.lang.IllegalStateException: ${name} ${n}`,
  (name, n) => `bash: line ${n}: ${name}: command not found`,
  (name, n) => `cat: ${name}-${n}.txt: No such file or directory`,
  (name, n) => `2026-03-04T05:06:07.${n}Z ERROR ${name} lost its connection`,
  (name, n) => `/usr/bin/ld: ${name}.o: in function \`main': undefined reference to \`${name}_${n}'`,
  (name, n) => `CONFLICT (content): Merge conflict in src/${name}_${n}.rs`,
  (name, n) => `Error: Cannot find module './${name}${n}'`,
];

/** Puts one line of each shape into a text. Returns the new text and the lines. */
export function inject(text, seed) {
  const random = randomFrom(seed);
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const injected = SHAPES.map((shape) =>
    shape(NAMES[Math.floor(random() * NAMES.length)], 100 + Math.floor(random() * 900)),
  );
  for (const line of injected) lines.splice(Math.floor(random() * (lines.length + 1)), 0, line);
  return { text: `${lines.join('\n')}\n`, injected };
}
