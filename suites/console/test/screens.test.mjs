import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { bootHost, eventually, KEY, OTHER_KEY } from './booted-host.mjs';
import { signedIn, startBrowser } from './browser.mjs';
import { fill, LETTERS } from './world.mjs';

let host;
let world;
let browser;

before(async () => {
  host = await bootHost({ roles: true });
  world = await fill(host);
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  world?.stop();
  await host?.stop();
});

test('the chart of a subscription counts its attempts, is read by keyboard, and has a table', async () => {
  const path = `#/subscriptions/${world.webhooks.failing}`;
  const { page, context, faults } = await signedIn(browser, host, KEY, path);
  const chart = page.locator('.chart');
  // Two attempts each.
  await chart.getByText(`${LETTERS * 2} failed.`).waitFor();
  assert.match(await chart.locator('figcaption').innerText(), /Last hour, this subscription: 0 attempts delivered/);
  const slider = page.getByRole('slider', { name: 'Attempts over time: a step of the chart' });
  const last = await chart.locator('.readout').innerText();
  assert.match(last, /^\d\d:\d\d UTC: \d+ delivered, \d+ failed/);
  await slider.focus();
  await page.keyboard.press('Home');
  assert.match(await chart.locator('.readout').innerText(), /UTC: 0 delivered, 0 failed$/);
  assert.equal(await slider.getAttribute('aria-valuetext'), await chart.locator('.readout').innerText());
  await chart.getByText('As a table').click();
  const rows = chart.getByRole('table').locator('tbody tr');
  const failed = await rows.evaluateAll((all) => all.reduce((sum, row) => sum + Number(row.lastChild.textContent), 0));
  assert.equal(failed, LETTERS * 2);
  await page.getByRole('link', { name: 'Last 7 days' }).click();
  await chart.getByText(`Last 7 days, this subscription: 0 attempts delivered, ${LETTERS * 2} failed.`).waitFor();
  assert.equal(new URL(page.url()).hash, `${path}?hours=168`);
  await page.goto(`${host.url}/console/?other#/overview`);
  assert.deepEqual(faults, []);
  await context.close();
});

test('the labels of a chart are read on its ground, in both schemes', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const { page, context } = await signedIn(browser, host, KEY, '', { colorScheme });
    const chart = page.locator('.chart');
    await chart.waitFor();
    const contrasts = await chart.evaluate((figure) => {
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      const luminance = (color) => {
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) =>
          byte / 255 <= 0.03928 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4,
        );
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ground = luminance(getComputedStyle(figure).backgroundColor);
      const against = (color) => {
        const [low, high] = [ground, luminance(color)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
      };
      const texts = [...figure.querySelectorAll('.ends, .keys, .readout')].map((each) => getComputedStyle(each).color);
      const bars = [...figure.querySelectorAll('path.good, path.bad')].map((each) => getComputedStyle(each).fill);
      return { texts: texts.map(against), bars: bars.map(against) };
    });
    assert.ok(Math.min(...contrasts.texts) >= 4.5, `${colorScheme}: ${contrasts.texts}`);
    assert.ok(Math.min(...contrasts.bars) >= 3, `${colorScheme}: ${contrasts.bars}`);
    await context.close();
  }
});

test('dead letters are counted by time, answer and type, and a count leads to its letters', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '#/dead-letters');
  await page.getByText(`${LETTERS} dead letters, by the time`).waitFor();
  await page.getByRole('heading', { name: 'By event type' }).waitFor();
  const answers = page.locator('.facet').filter({ hasText: 'By last answer' });
  assert.match(await answers.innerText(), new RegExp(`HTTP 500 ${LETTERS}`));
  await answers.getByRole('link', { name: 'HTTP 500' }).click();
  assert.equal(new URL(page.url()).hash, '#/dead-letters?status=500');
  await page.getByRole('link', { name: 'Show all dead letters' }).waitFor();
  await page.getByRole('link', { name: world.failing.url }).click();
  await page.getByText(`${LETTERS} dead letters match.`).waitFor();
  assert.equal(new URL(page.url()).hash, `#/dead-letters/${world.webhooks.failing}?status=500`);
  await page.evaluate(() => {
    location.hash = '#/dead-letters?status=418';
  });
  await page.getByText('No dead letter matches').waitFor();
  await page.evaluate(() => {
    location.hash = '#/dead-letters?status=five';
  });
  await page.getByText('an entry is no status').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('the host page has the checks, the versions, the lanes, and the differences between the majors', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '#/host');
  await page.getByText('ready', { exact: true }).waitFor();
  await page.getByText('svc-reference-host').waitFor();
  await page.getByRole('table', { name: 'Lanes' }).getByText('api-key', { exact: true }).waitFor();
  const table = page.getByRole('table', { name: 'Discovery of both majors' });
  const row = (member) => table.getByRole('row').filter({ has: page.getByText(member, { exact: true }) });
  await row('runList.maxPageSize').getByText('major 2 alone').waitFor();
  await row('streamModes').getByText('major 1 alone').waitFor();
  await row('webhooks.signatureAlgorithms').getByText('differs').waitFor();
  assert.equal(await row('preferredVersion').count(), 0);
  await page.getByRole('link', { name: 'All', exact: true }).click();
  await row('preferredVersion').getByText('same').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('an artifact is downloaded as the bytes of the API, and its content is never a part of the page', async () => {
  const content = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
  const { runId } = await host.call('POST', '/runs', { workflowId: 'artifact', inputs: { content } });
  const { page, context, faults } = await signedIn(browser, host, KEY, `#/runs/${encodeURIComponent(runId)}`);
  const row = page.getByRole('table', { name: 'Artifacts' }).locator('tbody tr');
  await row.getByText(/^\d+ B$/).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    row.getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.match(download.suggestedFilename(), /^art_[0-9a-z]{26}\.json$/);
  const bytes = readFileSync(await download.path());
  const id = download.suggestedFilename().replace('.json', '');
  const answer = await fetch(`${host.url}/runs/${runId.replace('/', '~2F')}/artifacts/${id}`, {
    headers: { authorization: `Bearer ${KEY}`, 'svc-version': '2' },
  });
  assert.deepEqual(bytes, Buffer.from(await answer.arrayBuffer()));
  assert.equal(JSON.parse(bytes).content, content);
  assert.equal(await row.getByText(`${bytes.length} B`).count(), 1);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(faults, []);
  await context.close();
});

/** Verifies the log on the page, and returns the outcome and the sentence of each finding. */
async function verify(page) {
  const button = page.getByRole('button', { name: 'Verify now' });
  await button.click();
  await button.waitFor();
  const items = page.locator('.findings li');
  await items.first().waitFor();
  const texts = await items.allInnerTexts();
  return Object.fromEntries(
    texts.map((text) => {
      const [, outcome, name, sentence] = /^(verified|wrong|not verified)\s+([^.]+)\.\s+(.*)$/s.exec(text);
      return [name, { outcome, sentence }];
    }),
  );
}

test('the audit log is verified in the page, and each kind of lie is found', async () => {
  const checkpoint = async () => {
    const response = await fetch(`${host.url}/host/example/audit/checkpoint`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    return response.ok && (await response.text());
  };
  const sizeOf = (text) => Number(text.split('\n')[1]);
  const note = await eventually('a checkpoint', checkpoint);
  const { page, context, faults } = await signedIn(browser, host, KEY, '#/audit');
  const first = await verify(page);
  for (const name of ['Signed head', 'Content', 'Inclusion', 'Repetition'])
    assert.equal(first[name].outcome, 'verified', name);
  assert.equal(first.Continuation.outcome, 'not verified', 'the first visit has nothing to compare with');
  assert.match(first['Not looked at'].sentence, /Entries of other tenants.*the key come from this same host/);
  assert.doesNotMatch(await page.evaluate(() => JSON.stringify(localStorage)), new RegExp(KEY));

  const size = sizeOf(note);
  await eventually('the log has grown', async () => {
    const found = await verify(page);
    assert.equal(found.Continuation.outcome, 'verified', found.Continuation.sentence);
    return Number(/(\d+) now/.exec(found.Continuation.sentence.replaceAll(',', ''))?.[1]) > size;
  });

  /** Has the host lie in one answer. */
  const lying = async (pattern, change) => {
    await page.route(pattern, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: change(await response.text()) });
    });
    const found = await verify(page);
    await page.unroute(pattern);
    return found;
  };
  const changed = (edit) => (text) => {
    const page = JSON.parse(text);
    edit(page);
    return JSON.stringify(page);
  };
  const listing = /\/audit\?treeSize=/;
  const actor = await lying(
    listing,
    changed(({ entries }) => {
      entries[1].actor = 'p_mallory';
    }),
  );
  assert.equal(actor.Content.outcome, 'wrong');
  assert.equal(actor.Inclusion.outcome, 'verified', 'the others are in the log');
  const twice = await lying(
    listing,
    changed(({ entries }) => {
      entries[1] = entries[0];
    }),
  );
  assert.deepEqual([twice.Inclusion.outcome, twice.Repetition.outcome], ['verified', 'wrong']);
  const proof = await lying(
    listing,
    changed(({ entries }) => {
      entries[0].proof = entries[0].proof.map((hash) => hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0')));
    }),
  );
  assert.deepEqual([proof.Content.outcome, proof.Inclusion.outcome], ['verified', 'wrong']);
  const without = await lying(
    listing,
    changed(({ entries }) => {
      for (const entry of entries) delete entry.proof;
    }),
  );
  assert.equal(without.Inclusion.outcome, 'wrong', 'no proof proves nothing');
  const signature = await lying(/\/audit\/checkpoint/, (text) =>
    text.replace(/^(.*\n)(\d+)/, (_, name, at) => `${name}${Number(at) + 1}`),
  );
  assert.equal(signature['Signed head'].outcome, 'wrong');
  assert.deepEqual(Object.keys(signature), ['Signed head', 'Everything else']);
  const cut = await lying(/\/audit\/checkpoint/, () => note);
  assert.equal(cut['Signed head'].outcome, 'verified', 'an old head has a valid signature');
  assert.equal(cut.Continuation.outcome, 'wrong');
  assert.match(cut.Continuation.sentence, /shorter than at your last visit/);
  // A log that has not grown since needs no proof of it.
  const noted = sizeOf(await checkpoint());
  await eventually('the log has grown again', async () => sizeOf(await checkpoint()) > noted);
  const forked = await lying(
    /\/audit\/proof\/consistency/,
    changed(({ proof: hashes }) => {
      hashes.reverse();
      hashes.push('0'.repeat(64));
    }),
  );
  assert.equal(forked.Continuation.outcome, 'wrong', forked.Continuation.sentence);
  const honest = await verify(page);
  assert.equal(honest.Continuation.outcome, 'verified', 'no lie took the place of the remembered head');
  await page.evaluate(() => {
    for (const name of Object.keys(localStorage)) localStorage.setItem(name, '{"note":1}');
  });
  const unreadable = await verify(page);
  assert.equal(unreadable.Continuation.outcome, 'not verified');
  assert.match(unreadable.Continuation.sentence, /cannot be read/);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a role is assigned and withdrawn, and no operator gives one to itself', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '#/roles');
  await page.getByRole('table', { name: 'Roles of the tenant' }).getByText('administrator').waitFor();
  const assign = async (principal) => {
    await page.getByRole('button', { name: 'Assign a role …' }).click();
    await page.getByLabel('Principal, by its opaque id').fill(principal);
    await page.getByLabel('Workspace').fill('acme-prod');
    await page.getByRole('dialog').getByLabel('Role').fill('reader');
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
  };
  await assign('p_bob');
  const row = page.getByRole('table', { name: 'Assignments' }).getByRole('row').filter({ hasText: 'p_bob' });
  await row.waitFor();
  const stored = async () => (await host.call('GET', '/host/example/assignments?principal=p_bob')).assignments;
  assert.deepEqual(
    (await stored()).map(({ role, workspace }) => [role, workspace]),
    [['reader', 'acme-prod']],
  );
  await row.getByRole('button', { name: 'Withdraw …' }).click();
  await page.getByText('No request that begins after this has it').waitFor();
  await page.getByRole('button', { name: 'Withdraw', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  assert.deepEqual(await stored(), []);
  await assign('p_ada');
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.keyboard.press('Escape');
  assert.equal((await page.getByText('in the configuration').count()) > 0, true);
  assert.deepEqual(faults, []);
  await context.close();
});

test('the new screens show an operator of another tenant nothing of this one', async () => {
  const { page, context, faults } = await signedIn(browser, host, OTHER_KEY, '#/roles');
  await page.getByRole('table', { name: 'Assignments' }).getByText('p_eve').waitFor();
  assert.ok(!(await page.locator('main').innerText()).includes('p_ada'));
  await page.evaluate(() => {
    location.hash = '#/dead-letters';
  });
  await page.getByText('No dead letter', { exact: true }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a key without the scopes sees the refusal on each screen, and the public part of the host page', async () => {
  const { key } = await host.call('POST', '/host/example/keys', { name: 'Reader', scopes: ['runs:read'] });
  const { page, context, faults } = await signedIn(browser, host, key, '#/host');
  await page.getByText('This credential may not see this.').waitFor();
  await page.getByText('svc-reference-host').waitFor();
  for (const place of ['#/roles', '#/dead-letters', '#/audit']) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, place);
    await page.getByText('This credential may not see this.').first().waitFor();
  }
  assert.deepEqual(faults, []);
  await context.close();
});

test('the focus goes to the heading of a screen that is loaded later, and a part that cannot be loaded is asked for again', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '#/runs');
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  await page.route(/\/console\/part-/, (route) => route.abort());
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByText('This part of the page could not be loaded.').waitFor();
  await page.unroute(/\/console\/part-/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('table', { name: 'API keys' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === 'API keys');
  assert.equal(await page.title(), 'API keys – svc console');
  await page.getByRole('link', { name: 'Host' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    () => document.activeElement?.tagName === 'H1' && document.activeElement.textContent === 'Host',
  );
  assert.deepEqual(faults, []);
  await context.close();
});

test('a log without a checkpoint is not verified, and a range without end breaks no chart', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '#/audit');
  await page.route(/\/audit\/checkpoint/, (route) =>
    route.fulfill({ status: 404, json: { error: 'not_found', message: 'The audit log has no checkpoint yet.' } }),
  );
  await page.getByRole('button', { name: 'Verify now' }).click();
  await page.getByText('The audit log has no checkpoint yet.').waitFor();
  assert.equal(await page.locator('.findings').count(), 0);
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  await page.route(/\/series\?/, (route) =>
    route.fulfill({
      json: { from: '0001-01-01T00:00:00Z', to: '9999-01-01T00:00:00Z', step: 60, latencyBoundsMs: [], points: [] },
    }),
  );
  await page.evaluate(() => {
    location.hash = '#/overview';
  });
  await page.getByText('No attempt was made in this time.').waitFor();
  assert.ok((await page.locator('*').count()) < 2000, 'a range without end makes no page without end');
  assert.deepEqual(faults, []);
  await context.close();
});
