const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** Returns a duration in its two largest units: `<1 ms`, `340 ms`, `4.2 s`, `3 min 20 s`, `2 d 4 h`. */
export function spanText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole === 0 && ms > 0) return '<1 ms';
  if (whole < 1000) return `${whole} ms`;
  if (whole < 10_000) return `${(whole / 1000).toFixed(1)} s`;
  const first = UNITS.findIndex(([, length]) => whole >= length);
  const [unit, length] = UNITS[first] ?? UNITS[3];
  const count = Math.floor(whole / length);
  const [smaller, part] = UNITS[first + 1] ?? [];
  const rest = part === undefined ? 0 : Math.floor((whole - count * length) / part);
  return rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${smaller}`;
}

/** Returns how far a time is from now: `20 s ago`, `in 3 min`. */
export function distanceText(time: number, now: number): string {
  const ms = now - time;
  if (Math.abs(ms) < 1000) return 'now';
  const rough = spanText(Math.abs(ms)).split(' ').slice(0, 2).join(' ').replace(/\.\d/, '');
  return ms > 0 ? `${rough} ago` : `in ${rough}`;
}

/** Returns the time of the creation that an id such as `run_01k0…` contains (ULID), in ms since the epoch. */
export function timeOfId(id: string): number | undefined {
  const [, digits] = /(?:^|[/_])([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id) ?? [];
  if (digits === undefined) return undefined;
  let time = 0;
  for (const digit of digits) time = time * 32 + CROCKFORD.indexOf(digit);
  return time;
}

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
