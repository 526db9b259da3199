import type { Attributes } from '@opentelemetry/api';
import type { MirroredOperation, MirrorObserver } from '../versions/mirror-report.ts';
import { counterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Counts the reads that are compared between the majors. */
export function mirrorCounter({ meter }: Scope): MirrorObserver {
  const compared = counterOf(meter, METRICS.mirrorCompared);
  const different = counterOf(meter, METRICS.mirrorDifferent);
  const skipped = counterOf(meter, METRICS.mirrorSkipped);
  return {
    compared: (read) => compared.add(1, attributesOf(read)),
    different: (read) => different.add(1, attributesOf(read)),
    skipped: (reason) => skipped.add(1, { 'svc.mirror.reason': reason }),
  };
}

function attributesOf({ operation, major }: MirroredOperation): Attributes {
  return { 'svc.operation': operation, 'svc.major': major };
}
