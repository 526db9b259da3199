import { effect, signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { exchange, type HeldSession, may, session, signOut } from './data/api.ts';
import { reportTo } from './data/embedding.ts';
import { failure } from './data/polled.ts';
import { codeIn, type Place, placeIn } from './data/route.ts';
import { Empty } from './parts/words.tsx';
import { DeliveryPage } from './screens/delivery-page.tsx';
import { EditControl } from './screens/edit-dialog.tsx';
import { SubscriptionPage } from './screens/subscription-page.tsx';
import { Subscriptions } from './screens/subscriptions.tsx';

// Before anything else, so that the code is in neither the address nor the history of the tab.
const code = codeIn(location.hash);
history.replaceState(null, '', `${location.pathname}${location.search}`);

/** The origin for which the host has let this page be embedded. */
const embedder = new URLSearchParams(location.search).get('origin');
const place = signal<Place>(placeIn(location.hash));
addEventListener('hashchange', () => {
  place.value = placeIn(location.hash);
});

const problem = signal<string | undefined>(
  code === undefined ? 'This address has no code. Open the portal again.' : undefined,
);

async function begin(given: string): Promise<void> {
  try {
    const held = await exchange(given, embedder);
    wear(held);
    // The host has compared the origin to that of the session.
    if (held.origin !== undefined) reportTo(held.origin, session);
    const left = Date.parse(held.expiresAt) - Date.now();
    setTimeout(() => signOut(ENDED), Math.max(0, left));
    effect(() => {
      if (session.value === undefined) problem.value = ENDED;
    });
  } catch (error) {
    problem.value = failure(error).message;
  }
}

if (code !== undefined) void begin(code);

const ENDED = 'The session has ended. Open the portal again.';

/** Takes on the look of a session. The style knows every value of the closed sets, and no other. */
function wear({ theme }: HeldSession): void {
  const { dataset } = document.documentElement;
  for (const name of ['scheme', 'accent', 'corners'] as const) dataset[name] = theme[name];
}

/** The portal: the subscriptions of a session, one of them, and one of its deliveries. */
export function PortalShell(): VNode {
  const current = place.value;
  const main = useRef<HTMLElement>(null);
  const where = `${current.screen}/${current.ids.join('/')}`;
  const shown = useRef('');
  const isIn = session.value !== undefined;
  useEffect(() => {
    if (isIn && shown.current !== '' && shown.current !== where) main.current?.querySelector('h1')?.focus();
    if (isIn) shown.current = where;
  }, [where, isIn]);
  return (
    <main ref={main} class="portal" key={where}>
      {isIn && <ScreenOf place={current} />}
      {!isIn && problem.value === undefined && <p class="quiet">Opening …</p>}
      {!isIn && problem.value !== undefined && (
        <Empty title="The portal is closed">
          <p role="alert">{problem.value}</p>
        </Empty>
      )}
    </main>
  );
}

function ScreenOf({ place: { screen, ids, filters } }: { readonly place: Place }): VNode {
  const [first, second] = ids;
  if (first === undefined) return <Subscriptions filters={filters} />;
  if (screen === 'deliveries' && second !== undefined) return <DeliveryPage webhookId={first} deliveryId={second} />;
  // The portal shows dead letters among the deliveries.
  const shown = screen === 'dead-letters' ? { state: 'dead-lettered' } : filters;
  return <SubscriptionPage webhookId={first} filters={shown} more={may('edit') ? { control: EditControl } : {}} />;
}
