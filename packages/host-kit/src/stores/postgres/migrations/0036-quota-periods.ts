/** Finds the counts of quotas whose periods have ended. */
export const quotaPeriods = `
CREATE INDEX api_key_quotas_by_period ON api_key_quotas (period, starts_at);
`;
