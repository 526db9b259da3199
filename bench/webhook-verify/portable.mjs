import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { Webhook as PublicWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { alternate } from '../alternate.mjs';
import { versionsOf } from '../peer-versions.mjs';
import { printTable, rate } from '../table.mjs';
import { bodyOf, headersOf, SECRET, SIZES } from './delivery.mjs';

// Imported by path, because the name resolves to the build for Node.
const { Webhook } = await import('../../packages/webhook-verify/dist/index.js');

const LIMIT = 'noble HMAC';

/** Measures verifications per second in plain JavaScript: the build for browsers and Workers, run on Node. */
export default function portable() {
  const webhook = new Webhook(SECRET, { toleranceSeconds: 86_400 });
  const versions = versionsOf(['@noble/hashes', 'svix', 'standardwebhooks']);
  const utf8 = new TextEncoder();
  const sizes = {};
  for (const [name, size] of Object.entries(SIZES)) {
    const body = new Uint8Array(bodyOf(size));
    const headers = headersOf(body);
    const now = Math.floor(Date.now() / 1000);
    const key = Buffer.from(SECRET).toString('base64');
    const text = Buffer.from(body).toString();
    const standard = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(now),
      'webhook-signature': new PublicWebhook(key).sign('msg_1', new Date(now * 1000), text),
    };
    const [publicWebhook, svixWebhook] = [new PublicWebhook(key), new SvixWebhook(key)];
    const secret = utf8.encode(SECRET);
    sizes[name] = alternate({
      [LIMIT]: () =>
        bytesToHex(
          hmac
            .create(sha256, secret)
            .update(utf8.encode(`${now}.`))
            .update(body)
            .digest(),
        ),
      'ours, verifySignature: all but reading the body': () => webhook.verifySignature(body, headers),
      'ours, verify: with the body read and checked': () => webhook.verify(body, headers),
      'svix verify: body not read': () => svixWebhook.verify(text, standard),
      'standardwebhooks verify: body read': () => publicWebhook.verify(text, standard),
    });
  }
  console.log(
    Object.entries(versions)
      .map((pair) => pair.join(' '))
      .join(', '),
  );
  printTable(
    ['per second (share of the limit)', ...Object.keys(sizes)],
    Object.keys(Object.values(sizes)[0]).map((name) => [
      name,
      ...Object.values(sizes).map((found) => {
        const share = found[name].perSecond / found[LIMIT].perSecond;
        return `${rate(found[name].perSecond)} (${share.toFixed(2)} ±${(found[name].spread * 50).toFixed(0)}%)`;
      }),
    ]),
  );
  return { versions, limit: LIMIT, sizes };
}
