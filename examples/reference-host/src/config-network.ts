import { parseCidr } from '@svc/egress-guard';
import { z } from 'zod';

/** A block of addresses. */
export const cidr = z.string().refine((text) => parseCidr(text) !== undefined, 'must be a block such as 10.0.0.0/8');
