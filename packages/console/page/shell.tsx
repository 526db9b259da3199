import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { offer, offered, session, signOut } from './data/api.ts';
import { keyIn, linkTo, offersKey, type Place, placeIn, type Screen } from './data/route.ts';
import { Icon, Mark } from './parts/icon.tsx';
import { isLoaded, Later } from './parts/later.tsx';
import { DeadLetters } from './screens/dead-letters.tsx';
import { DeliveryPage } from './screens/delivery-page.tsx';
import { Overview } from './screens/overview.tsx';
import { RunPage } from './screens/run-page.tsx';
import { Runs } from './screens/runs.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { SubscriptionPage } from './screens/subscription-page.tsx';
import { Subscriptions } from './screens/subscriptions.tsx';

// Before anything else, so that a key is in neither the address nor the history of the tab.
takeOffer();

const place = signal<Place>(placeIn(location.hash));
addEventListener('hashchange', () => {
  // A link with a key may also be opened in a tab that shows the console already.
  takeOffer();
  place.value = placeIn(location.hash);
});

function takeOffer(): void {
  if (!offersKey(location.hash)) return;
  offer(keyIn(location.hash));
  history.replaceState(null, '', linkTo('overview'));
}

const SECTIONS: readonly {
  readonly screen: Screen;
  readonly name: string;
  readonly icon: Parameters<typeof Icon>[0]['name'];
}[] = [
  { screen: 'overview', name: 'Overview', icon: 'overview' },
  { screen: 'subscriptions', name: 'Subscriptions', icon: 'subscriptions' },
  { screen: 'dead-letters', name: 'Dead letters', icon: 'dead-letters' },
  { screen: 'runs', name: 'Runs', icon: 'runs' },
  { screen: 'audit', name: 'Audit', icon: 'audit' },
  { screen: 'keys', name: 'Keys', icon: 'keys' },
  { screen: 'roles', name: 'Roles', icon: 'roles' },
  { screen: 'host', name: 'Host', icon: 'host' },
];

/** The frame of the console: the navigation, and the screen of the current place. */
export function Shell(): VNode {
  const current = place.value;
  const main = useRef<HTMLElement>(null);
  const where = `${current.screen}/${current.ids.join('/')}`;
  const isIn = session.value !== undefined;
  const shown = useRef('');
  const hasParts = isLoaded();
  useEffect(() => {
    const heading = main.current?.querySelector('h1');
    document.title = heading === null || heading === undefined ? 'svc console' : `${heading.textContent} – svc console`;
    // The screen is being loaded. The effect runs again when it is there.
    if (heading === null || heading === undefined) return;
    // Who navigates with a keyboard or a screen reader begins at the new heading, and not where the old link was.
    if (shown.current !== '' && shown.current !== `${isIn}${where}`) {
      heading.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    shown.current = `${isIn}${where}`;
  }, [where, isIn, hasParts]);
  if (!isIn) {
    return (
      <main ref={main} class="sign-in">
        <SignIn key={offered.value} />
      </main>
    );
  }
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header>
        <a class="brand" href={linkTo('overview')}>
          <Mark />
          svc console
        </a>
        <nav class="sections" aria-label="Sections">
          {SECTIONS.filter(isServed).map(({ screen, name, icon }) => (
            <a key={screen} href={linkTo(screen)} aria-current={sectionOf(current) === screen ? 'page' : undefined}>
              <Icon name={icon} />
              {name}
            </a>
          ))}
        </nav>
        <button type="button" class="plain sign-out" onClick={() => signOut()}>
          <Icon name="out" />
          Sign out
        </button>
      </header>
      <main id="main" ref={main} tabIndex={-1} key={where}>
        <ScreenOf place={current} />
      </main>
    </div>
  );
}

/** Most hosts have no roles. */
function isServed({ screen }: { readonly screen: Screen }): boolean {
  return screen !== 'roles' || session.value?.mounts.has('roles') === true;
}

function sectionOf({ screen }: Place): Screen {
  return screen === 'deliveries' ? 'subscriptions' : screen;
}

function ScreenOf({ place: { screen, ids, filters } }: { readonly place: Place }): VNode {
  const [first, second] = ids;
  switch (screen) {
    case 'overview':
      return <Overview filters={filters} />;
    case 'subscriptions':
      return first === undefined ? (
        <Subscriptions filters={filters} />
      ) : (
        <SubscriptionPage
          webhookId={first}
          filters={filters}
          more={{
            section: (turn) => (
              <Later>
                {({ SeriesSection }) => (
                  <SeriesSection
                    webhookId={first}
                    hours={filters.hours ?? ''}
                    turn={turn}
                    link={(hours) => linkTo('subscriptions', [first], { ...filters, hours })}
                  />
                )}
              </Later>
            ),
          }}
        />
      );
    case 'deliveries':
      return first === undefined || second === undefined ? (
        <Overview filters={{}} />
      ) : (
        <DeliveryPage webhookId={first} deliveryId={second} />
      );
    case 'dead-letters':
      return <DeadLetters webhookId={first} filters={filters} />;
    case 'runs':
      return first === undefined ? <Runs filters={filters} /> : <RunPage runId={first} />;
    case 'audit':
      return <Later>{({ AuditLog }) => <AuditLog filters={filters} />}</Later>;
    case 'keys':
      return <Later>{({ Keys }) => <Keys />}</Later>;
    case 'roles':
      return (
        <>
          <h1 tabIndex={-1}>Roles</h1>
          <Later>{({ Roles }) => <Roles filters={filters} />}</Later>
        </>
      );
    case 'host':
      return (
        <>
          <h1 tabIndex={-1}>Host</h1>
          <Later>{({ HostPage }) => <HostPage filters={filters} />}</Later>
        </>
      );
  }
}
