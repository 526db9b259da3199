import { createHmac } from 'node:crypto';
import { verify as octokitVerify } from '@octokit/webhooks-methods';
import { Webhook } from '@svc/webhook-verify';
import { Webhook as PublicWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { alternate } from '../alternate.mjs';
import { versionsOf } from '../peer-versions.mjs';
import { printTable, rate } from '../table.mjs';
import { bodyOf, headersOf, SECRET, SIZES } from './delivery.mjs';

const PEERS = ['@octokit/webhooks-methods', 'stripe', 'svix', 'standardwebhooks'];
const LIMIT = 'native HMAC';
/** A day, because the benchmark verifies the same delivery until it ends. */
const options = { toleranceSeconds: 86_400 };

/**
 * Measures verifications per second on one core, in the build for Node. The limit is a loop of only
 * `createHmac(…).update(…).digest('hex')`; every other candidate runs the function that its users call.
 */
export default function verify() {
  const webhook = new Webhook(SECRET, options);
  const versions = versionsOf(PEERS);
  const sizes = {};
  for (const [name, size] of Object.entries(SIZES)) {
    sizes[name] = alternate(candidates(webhook, bodyOf(size)));
  }
  const names = Object.keys(Object.values(sizes)[0]);
  console.log(PEERS.map((peer) => `${peer} ${versions[peer]}`).join(', '));
  printTable(
    ['per second (share of the limit)', ...Object.keys(sizes)],
    names.map((name) => [
      name,
      ...Object.values(sizes).map((found) => {
        const share = found[name].perSecond / found[LIMIT].perSecond;
        return `${rate(found[name].perSecond)} (${share.toFixed(2)} ±${(found[name].spread * 50).toFixed(0)}%)`;
      }),
    ]),
  );
  return { versions, limit: LIMIT, sizes };
}

function candidates(webhook, body) {
  const text = body.toString();
  const bytes = new Uint8Array(body);
  const headers = headersOf(body);
  // One bit differs, so that the whole body is hashed before the forgery is found.
  const forged = Buffer.from(body);
  forged[forged.length - 1] ^= 1;
  const web = new Headers(Object.entries(headers).filter(([name]) => name !== 'connection'));
  return {
    [LIMIT]: () => createHmac('sha256', SECRET).update(`${headers['svc-timestamp']}.`).update(body).digest('hex'),
    'ours, verifySignature: all but reading the body': () => webhook.verifySignature(body, headers),
    'ours, verifySignature of a Uint8Array': () => webhook.verifySignature(bytes, headers),
    'ours, verifySignature of a text': () => webhook.verifySignature(text, headers),
    'ours, verifySignature with Web Headers': () => webhook.verifySignature(body, web),
    "ours, verify with payload: 'lazy'": () => webhook.verify(body, headers, { payload: 'lazy' }),
    'ours, safeVerify of a forged body': () => webhook.safeVerify(forged, headers),
    'ours, verify: with the body read and checked': () => webhook.verify(body, headers),
    ...peers(body, text),
  };
}

function peers(body, text) {
  const now = Math.floor(Date.now() / 1000);
  const octokit = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const stripe = `t=${now},v1=${createHmac('sha256', SECRET).update(`${now}.`).update(body).digest('hex')}`;
  const key = Buffer.from(SECRET).toString('base64');
  const standard = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(now),
    'webhook-signature': new PublicWebhook(key).sign('msg_1', new Date(now * 1000), text),
  };
  const [publicWebhook, svixWebhook] = [new PublicWebhook(key), new SvixWebhook(key)];
  return {
    '@octokit/webhooks-methods verify: no freshness, body not read': () => octokitVerify(SECRET, text, octokit),
    'stripe verifyHeader: body not read': () => Stripe.webhooks.signature.verifyHeader(body, stripe, SECRET, 86_400),
    'stripe constructEvent: body read': () => Stripe.webhooks.constructEvent(body, stripe, SECRET, 86_400),
    'svix verify: body not read': () => svixWebhook.verify(body, standard),
    'standardwebhooks verify: body read': () => publicWebhook.verify(body, standard),
  };
}
