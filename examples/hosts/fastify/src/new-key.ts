import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mintApiKey } from '@svc/auth/api-key';

const FORMER = /^API_KEY_HASH=.+\n?/gm;

// Only the hash is stored. The key is shown once.
const { key, hash } = mintApiKey({ mode: 'live', randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)) });
const before = existsSync('.env') ? readFileSync('.env', 'utf8') : '';
writeFileSync('.env', `${before.replace(FORMER, '')}API_KEY_HASH=${hash}\n`, { mode: 0o600 });
console.log(key);
if (before.search(FORMER) >= 0)
  console.error('It replaces the key of before, which is refused from the next start on.');
