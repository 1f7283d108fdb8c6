/** A child of an element. Text becomes a text node, never markup. */
export type Child = Node | string | null | false | undefined;

type Value = string | number | boolean | null | undefined;

/** Attributes by name. `true` is an empty attribute; `false`, `null` and `undefined` are left out. */
export type Attributes = Record<string, Value>;

/** Makes an element. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const name in attributes) attribute(element, name, attributes[name]);
  element.append(...present(children));
  return element;
}

/** Sets an attribute if its value differs. */
export function attribute(element: Element, name: string, value: Value): void {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else {
    const text = value === true ? '' : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

/** Sets the text of an element if it differs. */
export function text(element: Element, value: string): void {
  if (element.textContent !== value) element.textContent = value;
}

/** Shows or hides an element. */
export function show(element: HTMLElement, isShown: boolean): void {
  if (element.hidden === isShown) element.hidden = !isShown;
}

const keys = new WeakMap<Element, string>();

/** Replaces the content of an element if `key` differs from that of the last call. */
export function fill(element: Element, key: string, make: () => Child[]): void {
  if (keys.get(element) === key) return;
  keys.set(element, key);
  element.replaceChildren(...present(make()));
}

/**
 * Makes a button. `about` is a part of its accessible name that is not visible: the command that the button acts on.
 */
export function button(
  label: Child,
  onClick: () => void,
  attributes: Attributes = {},
  about?: Child,
): HTMLButtonElement {
  const made = h('button', { type: 'button', ...attributes }, label, about && hidden(about));
  made.addEventListener('click', onClick);
  return made;
}

/** Makes text for screen readers that is not visible. */
export function hidden(...children: Child[]): HTMLElement {
  return h('span', { class: 'vh' }, ...children);
}

type Movable = ParentNode & { moveBefore?(node: Node, before: Node | null): void };

/** Makes `elements` the children of `parent`, in this order. A moved element keeps its focus. */
export function arrange(parent: Element, elements: readonly Element[]): void {
  const wanted = new Set(elements);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const element of elements) {
    if (element === at) at = at.nextElementSibling;
    else move(parent, element, at);
  }
}

function move(parent: Movable & Element, element: Element, before: Element | null): void {
  const focused = element.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  if (focused && parent.moveBefore && element.isConnected && parent.isConnected) parent.moveBefore(element, before);
  else parent.insertBefore(element, before);
  if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

/**
 * Makes everything but an element inert, so that the focus stays inside of it. What says something to screen readers
 * does so nevertheless. Returns the function that ends this.
 */
export function isolate(element: HTMLElement): () => void {
  const made: HTMLElement[] = [];
  for (let inner = element; inner.parentElement && inner !== document.body; inner = inner.parentElement) {
    for (const other of inner.parentElement.children) {
      if (!(other instanceof HTMLElement) || other === inner || other.inert) continue;
      if (other.querySelector(':scope > [role=alert]')) continue;
      other.inert = true;
      made.push(other);
    }
  }
  return () => {
    for (const other of made) other.inert = false;
  };
}

/** Time in ms after which a hidden tab, which gets no frames, is painted. */
const HIDDEN_MS = 250;
/** Rest after a frame, as a multiple of its time: commands need the processor more than their picture does. */
const REST = 9;
/** Longest rest in ms. */
const REST_MS = 150;
/** The end of the rest of this tab. */
let rested = 0;

/** Returns a function that calls `paint` once before the next frame after a rest, or soon if the tab is hidden. */
export function painter(paint: () => void): () => void {
  let [waits, frame, timer] = [false, 0, 0];
  const run = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    waits = false;
    const start = performance.now();
    rested = start + REST_MS;
    paint();
    // By then the browser has laid out and painted the frame.
    setTimeout(() => {
      const end = performance.now();
      rested = end + Math.min(REST_MS, REST * (end - start));
    });
  };
  const ask = () => {
    timer = window.setTimeout(run, HIDDEN_MS);
    if (!document.hidden) frame = requestAnimationFrame(run);
  };
  return () => {
    if (waits) return;
    waits = true;
    const rest = rested - performance.now();
    if (rest > 0) timer = window.setTimeout(ask, rest);
    else ask();
  };
}

function present(children: Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false);
}
