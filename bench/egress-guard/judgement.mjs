import { createRequire } from 'node:module';
import { isIPv4 } from 'node:net';
import { checkAddress, checkUrl, egressPolicy } from '@svc/egress-guard';
import ipaddr from 'ipaddr.js';
import {
  DENIED_BLOCKS,
  isDenied,
  numberOf,
  REACHABLE_BLOCKS,
  textOf,
} from '../../packages/egress-guard/test/oracle.ts';
import { alternate } from '../alternate.mjs';
import { versionsOf } from '../peer-versions.mjs';
import { printTable, rate } from '../table.mjs';

const require = createRequire(import.meta.url);
const PEERS = ['ipaddr.js', '@microsoft/antissrf', 'private-ip', 'ip', 'ssrfcheck'];

/** Counts the mistakes of address classifiers at the borders of every special block, and measures the speed of ours. */
export default async function judgement() {
  const versions = versionsOf(PEERS);
  const corpus = corpusOf();
  const judges = await judgesOf();
  const right = Object.fromEntries(Object.entries(judges).map(([name, denies]) => [name, mistakesOf(denies, corpus)]));
  console.log(`${corpus.denied.length} denied addresses and ${corpus.allowed.length} allowed ones`);
  printTable(
    ['judge', 'let through', 'for example', 'refused'],
    Object.entries(right).map(([name, { through, refused }]) => [
      versions[name] === undefined ? name : `${name} ${versions[name]}`,
      through.length,
      through.slice(0, 3).join(' '),
      refused.length,
    ]),
  );
  return { versions, right, speed: speed() };
}

/**
 * Returns the first and last address of each block, their neighbours, and the IPv4-mapped forms of the IPv4 addresses.
 */
function corpusOf() {
  const texts = new Set();
  for (const block of [...DENIED_BLOCKS, ...REACHABLE_BLOCKS]) {
    const [base, bits] = block.split('/');
    const { value, width } = numberOf(base);
    const last = value + (1n << BigInt(width - Number(bits))) - 1n;
    for (const address of [value, last, value - 1n, last + 1n]) {
      if (address < 0n || address >= 1n << BigInt(width)) continue;
      texts.add(
        new URL(`http://${width === 32 ? textOf(address, 32) : `[${textOf(address, 128)}]`}/`).hostname.replace(
          /[[\]]/g,
          '',
        ),
      );
      if (width === 32) texts.add(`::ffff:${(address >> 16n).toString(16)}:${(address & 0xffffn).toString(16)}`);
    }
  }
  const verdict = (text) => (isIPv4(text) ? isDenied(numberOf(text).value, 32) : isDenied(numberOf(text).value, 128));
  const all = [...texts];
  return { denied: all.filter(verdict), allowed: all.filter((text) => !verdict(text)) };
}

async function judgesOf() {
  const policy = egressPolicy();
  const { AntiSSRFPolicy, PolicyConfigOptions } = require('@microsoft/antissrf');
  const blocked = new AntiSSRFPolicy(PolicyConfigOptions.ExternalOnlyLatest).deniedAddresses;
  const { default: isPrivate } = await import('private-ip');
  const ip = require('ip');
  const { isSSRFSafeURL } = require('ssrfcheck');
  return {
    'ours, checkAddress': (text) => !checkAddress(text, policy).allowed,
    'ours, checkUrl': (text) => !checkUrl(urlOf(text), policy).ok,
    'ipaddr.js': (text) => ipaddr.parse(text).range() !== 'unicast',
    '@microsoft/antissrf': (text) => blocked.check(text, isIPv4(text) ? 'ipv4' : 'ipv6'),
    'private-ip': (text) => isPrivate(text) !== false,
    ip: (text) => ip.isPrivate(text),
    ssrfcheck: (text) => !isSSRFSafeURL(urlOf(text)),
  };
}

function urlOf(text) {
  return `https://${isIPv4(text) ? text : `[${text}]`}/`;
}

function mistakesOf(denies, { denied, allowed }) {
  return { through: denied.filter((text) => !denies(text)), refused: allowed.filter(denies) };
}

function speed() {
  const policy = egressPolicy();
  const addresses = [
    '8.8.8.8',
    '203.0.114.7',
    '10.1.2.3',
    '2606:4700::1111',
    '2001:4860:4860::8888',
    '::ffff:8.8.8.8',
    'fd00::1',
    '172.32.0.1',
  ];
  const urls = [
    'https://hooks.example.com/a/b?c=d',
    'https://example.com:8443/x',
    'https://api.acme.example/webhooks/7f3a',
    'https://a.b.example/',
  ];
  let turn = 0;
  const next = (list) => {
    turn = (turn + 1) & 1023;
    return list[turn % list.length];
  };
  // The result is kept, because the compiler could otherwise remove the work.
  let kept;
  const found = {
    address: alternate({
      'ours, checkAddress': () => (kept = checkAddress(next(addresses), policy)),
      'ipaddr.js parse().range()': () => (kept = ipaddr.parse(next(addresses)).range()),
    }),
    url: alternate({
      'ours, checkUrl': () => (kept = checkUrl(next(urls), policy)),
      'new URL': () => (kept = new URL(next(urls))),
    }),
  };
  for (const [kind, pair] of Object.entries(found)) {
    const [[ours, our], [peer, their]] = Object.entries(pair);
    const ratio = (our.perSecond / their.perSecond).toFixed(2);
    console.log(`${kind}: ${ours} ${rate(our.perSecond)}/s, ${peer} ${rate(their.perSecond)}/s, ratio ${ratio}`);
  }
  return { ...found, kept: kept !== undefined };
}
