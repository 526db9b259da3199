import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { WorkflowEngine } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { strictValidator } from '@svc/tools/json-schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PUBLISHED_SCHEMAS } from '../../src/mounts/schemas.ts';
import { type RecordedHost, recordedHost } from '../host/recorded-host.ts';

const engine: WorkflowEngine = {
  execute: async () => ({ status: 'completed', outputs: {} }),
};

describe.each([...PUBLISHED_SCHEMAS].map(([path, schema]) => [path, schema()] as const))(
  `${covers('events.schema.published')} the schema %s`,
  (path, schema) => {
    let serving: RecordedHost;
    beforeAll(async () => {
      serving = await recordedHost({ store: memoryStore(), engine });
    });
    afterAll(() => serving.stop());

    // `npm run generate` writes the files.
    test('is the file of the package', async () => {
      await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(`../../schemas/${path}`);
      const file = createRequire(import.meta.url).resolve(`@svc/host-kit/schemas/${path}`);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(schema)));
    });

    test('is compiled by a strict validator, under its identifier', () => {
      expect(() => strictValidator(schema)).not.toThrow();
      expect(schema).toMatchObject({
        $id: `https://svc.example/spec/${path}`,
        $schema: 'https://json-schema.org/draft/2020-12/schema',
      });
    });

    test('is served to every caller, with a validator for caches', async () => {
      const url = `http://host.test/host/example/schemas/${path}`;
      const response = await serving.host.fetch(new Request(url));
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/schema+json');
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
      expect(response.headers.has('svc-version')).toBe(false);
      expect(await response.json()).toEqual(JSON.parse(JSON.stringify(schema)));
      const etag = response.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]{20,}"$/);
      const again = await serving.host.fetch(new Request(url, { headers: { 'if-none-match': etag } }));
      expect([again.status, await again.text()]).toEqual([304, '']);
      const other = await serving.host.fetch(new Request(url, { headers: { 'if-none-match': '"other"' } }));
      expect(other.status).toBe(200);
      expect((await serving.host.fetch(new Request(url, { method: 'POST' }))).status).toBe(405);
    });

    test('is found through discovery', async () => {
      for (const version of ['1', '2']) {
        const request = new Request('http://host.test/.well-known/svc', { headers: { 'svc-version': version } });
        const { extensions } = await (await serving.host.fetch(request)).json();
        expect(extensions['example.schemas']).toEqual({ path: '/host/example/schemas' });
      }
    });
  },
);
