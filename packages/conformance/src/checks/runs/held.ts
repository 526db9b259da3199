/** Options of a run that stays running for 20 s, longer than a check needs it. */
export const HELD = { inputs: { delayMs: 20_000 } };
