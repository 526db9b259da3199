import { isRecord } from './exchange.ts';

/** Names of members, from the root. `*` stands for every item of a list. */
export type Place = readonly string[];

/** Returns every place of a JSON value but its root, each once. A member with the name `*` has none. */
export function placesIn(value: unknown): readonly Place[] {
  const found = new Map<string, Place>();
  const walk = (at: unknown, place: Place): void => {
    if (place.length > 0) found.set(JSON.stringify(place), place);
    if (Array.isArray(at)) for (const item of at) walk(item, [...place, '*']);
    else if (isRecord(at)) {
      for (const [name, member] of Object.entries(at)) if (name !== '*') walk(member, [...place, name]);
    }
  };
  walk(value, []);
  return [...found.values()];
}

/** Returns the values at a place: one for each item of the lists on the way. */
export function valuesAt(value: unknown, [name, ...rest]: Place): readonly unknown[] {
  if (name === undefined) return [value];
  if (name === '*') return Array.isArray(value) ? value.flatMap((item) => valuesAt(item, rest)) : [];
  return isRecord(value) && Object.hasOwn(value, name) ? valuesAt(value[name], rest) : [];
}

/** The replacement of a value; nothing removes it. */
export type Replacement = { readonly by: unknown } | undefined;

/** Replaces the values at a place. Where the place does not exist, nothing changes. */
export function replacedAt(value: unknown, [name, ...rest]: Place, replace: (value: unknown) => Replacement): unknown {
  if (name === '*') {
    if (!Array.isArray(value)) return value;
    if (rest.length > 0) return value.map((item) => replacedAt(item, rest, replace));
    return value.flatMap((item) => {
      const replacement = replace(item);
      return replacement === undefined ? [] : [replacement.by];
    });
  }
  if (name === undefined || !isRecord(value) || !Object.hasOwn(value, name)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      if (key !== name) return [[key, member]];
      if (rest.length > 0) return [[key, replacedAt(member, rest, replace)]];
      const replacement = replace(member);
      return replacement === undefined ? [] : [[key, replacement.by]];
    }),
  );
}
