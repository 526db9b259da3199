import { isIP } from 'node:net';
import { z } from 'zod';
import { durationSeconds } from './config-values.ts';

/** The source `email`: messages of mail relays that start runs. */
export const email = z
  .strictObject({
    nameServers: z
      .array(
        z
          .string()
          .refine(
            isNameServer,
            'must be an IP address with or without a port, such as 192.0.2.53 or [2001:db8::53]:5353.',
          ),
      )
      .min(1)
      .max(8)
      .optional()
      .describe('Name servers for DKIM, SPF and DMARC, by address. Default: those of the machine.'),
    nameServerTimeoutSeconds: durationSeconds
      .max(10)
      .default(2)
      .describe('Time after which a name server is asked again, in seconds. It is asked twice.'),
    maxAttachments: z.int().min(0).max(100).default(10).describe('Most attachments of a message.'),
    maxAttachmentBytes: z.int().min(0).max(16_777_216).default(524_288).describe('Largest attachment, in bytes.'),
    maxAttachmentsBytes: z
      .int()
      .min(0)
      .max(16_777_216)
      .default(786_432)
      .describe('Most bytes of all attachments of a message together.'),
  })
  .describe('Messages of mail relays that start runs. Default: none are taken.');

function isNameServer(text: string): boolean {
  const [, inBrackets, port6, plain = '', port4] =
    /^(?:\[([^\]]+)\](?::(\d{1,5}))?|([^[\]]*?)(?:(?<=\.\d{1,3}):(\d{1,5}))?)$/.exec(text) ?? [];
  const isAddress = inBrackets === undefined ? isIP(plain) !== 0 : isIP(inBrackets) === 6;
  return isAddress && Number(port6 ?? port4 ?? 53) <= 65_535;
}
