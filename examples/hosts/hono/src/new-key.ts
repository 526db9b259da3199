import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mintApiKey } from '@svc/auth/api-key';

const LINE = /^API_KEY_HASH=(.*)\n?/gm;

// Only the hash is stored. The key is shown once.
const { key, hash } = mintApiKey({ mode: 'live', randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)) });
const before = existsSync('.env') ? readFileSync('.env', 'utf8') : '';
const former = [...before.matchAll(LINE)].flatMap(([, hashes = '']) => hashes.trim().split(',')).filter(Boolean);
const others = before.replace(LINE, '').replace(/.$/, '$&\n');
writeFileSync('.env', `${others}API_KEY_HASH=${[...former, hash].join(',')}\n`, { mode: 0o600 });
console.log(key);
if (former.length > 0)
  console.error(
    'The keys of before stay valid. To end one, remove its hash from API_KEY_HASH in .env; the newest is last.',
  );
