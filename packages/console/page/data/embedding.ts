import { effect, type ReadonlySignal } from '@preact/signals';

/**
 * Tells the page that embeds this one the height of the content, and the end of the session. The messages name the one
 * origin that they are for, so a browser gives them to no other page.
 */
export function reportTo(origin: string, session: ReadonlySignal<unknown>): void {
  if (parent === window) return;
  const report = (message: object) => parent.postMessage(message, origin);
  const { body } = document;
  let told = 0;
  const tell = () => {
    const height = heightOf(body);
    if (height === told) return;
    told = height;
    report({ type: 'svc-portal:height', height });
  };
  new ResizeObserver(tell).observe(body);
  // A dialog stands above the content, and does not change its height.
  new MutationObserver(tell).observe(body, { childList: true, subtree: true, attributeFilter: ['open'] });
  tell();
  effect(() => {
    if (session.value === undefined) report({ type: 'svc-portal:ended' });
  });
}

function heightOf(body: HTMLElement): number {
  const dialog = body.querySelector('dialog');
  const below = dialog === null ? 0 : dialog.offsetTop + dialog.offsetHeight + DIALOG_MARGIN;
  return Math.ceil(Math.max(body.getBoundingClientRect().height, below));
}

const DIALOG_MARGIN = 16;
