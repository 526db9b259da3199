/**
 * How long events take from `append` to their receipt in the other process, at an even rate, in ms.
 *
 * @param runs by the subscription that hears of each
 * @returns sorted
 */
export async function latencies(host, receivers, runs, { perSecond, seconds }) {
  const entries = Object.entries(runs);
  const begun = new Map(entries.map(([webhookId]) => [webhookId, []]));
  const appends = [];
  await receivers.start();
  const started = performance.now();
  for (let count = 0; count < perSecond * seconds; count += 1) {
    const [webhookId, runId] = entries[count % entries.length];
    begun.get(webhookId).push(performance.timeOrigin + performance.now());
    // Not awaited: events come when they come, however slow the one before.
    appends.push(host.append(runId));
    const next = started + ((count + 1) * 1000) / perSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
  }
  await Promise.all(appends);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const times = [];
  for (const [webhookId, at] of await receivers.times()) {
    const start = begun.get(webhookId)?.shift();
    if (start !== undefined) times.push(at - start);
  }
  if (times.length < perSecond * seconds) throw new Error(`${perSecond * seconds - times.length} events did not come.`);
  return times.sort((a, b) => a - b);
}

const SETTLE_MS = 700;

export function share(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
