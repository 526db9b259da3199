/**
 * Measures the times of events from `append` to their receipt in the other process, at an even rate.
 *
 * @param runs the id of a run for each subscription that matches it
 * @param arrived waits until all events may have arrived. Default: 700 ms
 * @returns the times in ms, sorted
 * @throws {Error} when an event does not arrive
 */
export async function latencies(host, receivers, runs, { perSecond, seconds, arrived = settled }) {
  const entries = Object.entries(runs);
  const begun = new Map(entries.map(([webhookId]) => [webhookId, []]));
  const appends = [];
  await receivers.start();
  const started = performance.now();
  for (let count = 0; count < perSecond * seconds; count += 1) {
    const [webhookId, runId] = entries[count % entries.length];
    begun.get(webhookId).push(performance.timeOrigin + performance.now());
    // Not awaited: a slow append must not delay the next event.
    appends.push(host.append(runId));
    const next = started + ((count + 1) * 1000) / perSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
  }
  await Promise.all(appends);
  await arrived();
  const times = [];
  for (const [webhookId, at] of await receivers.times()) {
    const start = begun.get(webhookId)?.shift();
    if (start !== undefined) times.push(at - start);
  }
  if (times.length < perSecond * seconds)
    throw new Error(`${perSecond * seconds - times.length} events did not arrive.`);
  return times.sort((a, b) => a - b);
}

const SETTLE_MS = 700;
const settled = () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

/** Returns the value below which the given part of sorted values lies. */
export function share(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
