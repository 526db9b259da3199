import { appendFileSync } from 'node:fs';
import { mintApiKey } from '@svc/auth/api-key';

// Only the hash is stored. The key is shown once.
const { key, hash } = mintApiKey({ mode: 'live', randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)) });
appendFileSync('.env', `API_KEY_HASH=${hash}\n`, { mode: 0o600 });
console.log(key);
