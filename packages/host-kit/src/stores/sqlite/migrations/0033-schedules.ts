/** The time from which the next occurrence of a schedule is due. Null for triggers of other sources, and for paused ones. */
export const schedules = `
ALTER TABLE triggers ADD COLUMN next_fire_at INTEGER;
CREATE INDEX triggers_due_schedules ON triggers (next_fire_at) WHERE next_fire_at IS NOT NULL;
`;
