import { z } from 'zod';
import { cidr } from './config-values.ts';

/** The key of the configuration for the addresses that the host may call. */
export const egress = z.strictObject({
  allowLoopback: z
    .union([z.boolean(), z.array(z.int().min(1).max(65_535))], {
      error: 'must be true, false or a list of ports. Give the ports of the receivers on this machine.',
    })
    .default(false)
    .describe('Lets subscriptions point at this machine: at every port, or at the listed ports. For development.'),
  denyCidrs: z.array(cidr).default([]).describe('Further address blocks that are denied, such as 203.0.113.0/24.'),
  allowCidrs: z.array(cidr).default([]).describe('Private address blocks that are allowed, such as 10.1.0.0/16.'),
  caFile: z
    .string()
    .nullable()
    .default(null)
    .describe('File with certificate authorities in PEM. null: those of Node.'),
});
