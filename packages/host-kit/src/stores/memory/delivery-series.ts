import {
  type DeliveryMinute,
  type DeliverySeries,
  type SeriesPoint,
  sumOfCounts,
} from '../../ports/delivery-series.ts';
import { type Journal, put } from './journal.ts';

export function deliverySeries(journal: Journal): DeliverySeries {
  /** By subscription and minute. */
  const minutes = new Map<string, DeliveryMinute>();

  return {
    async add(added, transaction) {
      for (const counted of added) {
        const key = `${counted.webhookId} ${counted.minute}`;
        const known = minutes.get(key);
        put(
          journal,
          transaction,
          minutes,
          key,
          known === undefined ? counted : { ...counted, ...sumOfCounts(known, counted) },
        );
      }
    },
    async read(webhookIds, { from, until, stepMs }) {
      const points = new Map<number, SeriesPoint>();
      for (const { webhookId, minute, ...counts } of minutes.values()) {
        if (!webhookIds.includes(webhookId) || minute < from || minute >= until) continue;
        const at = from + Math.floor((minute - from) / stepMs) * stepMs;
        const known = points.get(at);
        points.set(at, { at, ...(known === undefined ? counts : sumOfCounts(known, counts)) });
      }
      return [...points.values()].sort((a, b) => a.at - b.at);
    },
    sweep: (before, limit) =>
      journal.transaction(async (transaction) => {
        const old = [...minutes].filter(([, { minute }]) => minute < before).slice(0, limit);
        for (const [key] of old) put(journal, transaction, minutes, key, undefined);
        return old.length;
      }),
  };
}
