import type { Served } from '@svc/versioning';
import { MIRROR_DEFAULTS, type MirrorOptions } from '../options/mirror-options.ts';
import { type MirrorObserver, MirrorReport } from '../versions/mirror-report.ts';
import { type MirrorReads, type MirrorReadsOptions, mirrorReads } from './mirror-reads.ts';

/** The mirrored reads of a host, and their report. */
export interface Mirror {
  readonly reads: MirrorReads;
  readonly report: MirrorReport;
}

export interface MirrorParts extends Pick<MirrorReadsOptions, 'random' | 'clock'> {
  readonly served: Served;
  readonly observer: MirrorObserver;
}

/** @throws {TypeError} for a share or a number out of range, for no major, and for a host that serves one major */
export function mirrorOf(given: Partial<MirrorOptions>, { served, observer, ...ports }: MirrorParts): Mirror {
  const options = checked({ ...MIRROR_DEFAULTS, ...given }, served);
  const report = new MirrorReport(observer, ports.clock.now);
  return { report, reads: mirrorReads({ ...ports, options, report }) };
}

function checked(options: MirrorOptions, { overlap }: Served): MirrorOptions {
  const { share, maxConcurrent, majors } = options;
  if (!(typeof share === 'number' && share > 0 && share <= 1))
    throw new TypeError(
      'protocol.mirrorReads.share: must be above 0 and at most 1. Pass 0.01 to compare one read of a hundred.',
    );
  if (!Number.isInteger(maxConcurrent) || maxConcurrent < 1 || maxConcurrent > MOST_CONCURRENT)
    throw new TypeError(
      `protocol.mirrorReads.maxConcurrent: must be a whole number from 1 to ${MOST_CONCURRENT}. Leave it out for 2.`,
    );
  const isKnown = majors.length > 0 && majors.every((major) => major === 1 || major === 2);
  if (!isKnown) throw new TypeError('protocol.mirrorReads.majors: must list 1, 2 or both. Leave it out for [1].');
  if (!overlap)
    throw new TypeError(
      'protocol.mirrorReads: needs both majors in protocol.versions, because it compares them. Add one, or leave protocol.mirrorReads out.',
    );
  return options;
}

const MOST_CONCURRENT = 16;
