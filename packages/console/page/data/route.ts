/** A place in the console: its screen, the ids in its path, and its filters. It is written in the fragment of the URL. */
export interface Place {
  readonly screen: Screen;
  readonly ids: readonly string[];
  readonly filters: Readonly<Record<string, string>>;
}

const SCREENS = [
  'overview',
  'subscriptions',
  'deliveries',
  'dead-letters',
  'runs',
  'audit',
  'keys',
  'roles',
  'host',
] as const;

/** The name of a screen. */
export type Screen = (typeof SCREENS)[number];

/** Reads the fragment of a URL. An unknown one is the overview, so that an old link leads somewhere. */
export function placeIn(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split('?', 2);
  const [name, ...rest] = path.split('/');
  const screen = SCREENS.find((known) => known === name);
  if (screen === undefined) return { screen: 'overview', ids: [], filters: {} };
  const filters = Object.fromEntries([...new URLSearchParams(query)].filter(([, value]) => value !== ''));
  return { screen, ids: rest.filter((id) => id !== '').map(decoded), filters };
}

/** Writes a place as the fragment of a URL. */
export function linkTo(
  screen: Screen,
  ids: readonly string[] = [],
  filters: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
  return `#/${[screen, ...ids.map(encodeURIComponent)].join('/')}${query === '' ? '' : `?${query}`}`;
}

/** The credential in a fragment such as `#key=…`; undefined for every other fragment. */
export function keyIn(fragment: string): string | undefined {
  const [, key] = /^#key=([\x21-\x7e]{1,8192})$/.exec(fragment) ?? [];
  return key === undefined ? undefined : decoded(key);
}

/** Returns whether a fragment was written to have a credential, also one that `keyIn` does not take. */
export function offersKey(fragment: string): boolean {
  return fragment.startsWith('#key=');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The code of a portal session in a fragment such as `#code=…`; undefined for every other fragment. */
export function codeIn(fragment: string): string | undefined {
  return /^#code=([A-Za-z0-9_]{1,256})$/.exec(fragment)?.[1];
}
