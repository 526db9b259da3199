/// <reference lib="dom" />

/**
 * Defines the element `<svc-portal src="…">`, which embeds the portal in an iframe. `src` is the `url` of a session, which
 * works once. The element has the height of the content. It dispatches `svc-portal-ended` when the session has ended, so
 * that the page can create another one. A second call does nothing.
 *
 * @throws {TypeError} where there are no custom elements, such as on a server
 * @example
 * definePortalElement();
 * document.querySelector('svc-portal')?.addEventListener('svc-portal-ended', () => location.reload());
 */
export function definePortalElement(): void {
  if (typeof customElements === 'undefined')
    throw new TypeError('definePortalElement: there are no custom elements here. Call it in a browser.');
  if (customElements.get('svc-portal') === undefined) customElements.define('svc-portal', portalElement());
}

/** Made in a browser alone: a server has no `HTMLElement`. */
function portalElement(): CustomElementConstructor {
  return class extends HTMLElement {
    static readonly observedAttributes = ['src', 'title'];
    #frame: HTMLIFrameElement | undefined;
    #origin = '';

    connectedCallback(): void {
      addEventListener('message', this.#heard);
      this.#show();
    }

    disconnectedCallback(): void {
      removeEventListener('message', this.#heard);
      this.#frame?.remove();
      this.#frame = undefined;
    }

    attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
      if (this.isConnected && before !== after) this.#show();
    }

    #show(): void {
      const address = addressIn(this.getAttribute('src'));
      this.#frame?.remove();
      this.#frame = undefined;
      if (address === undefined) return;
      this.#origin = address.origin;
      const frame = document.createElement('iframe');
      frame.title = this.getAttribute('title') ?? 'Webhooks';
      frame.referrerPolicy = 'no-referrer';
      // Its own scripts, origin and forms: neither windows of its own nor the place of this page.
      frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms');
      frame.allow = 'clipboard-write';
      Object.assign(frame.style, { border: '0', display: 'block', width: '100%', height: `${FIRST_HEIGHT}px` });
      frame.src = address.href;
      this.#frame = frame;
      const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
      root.append(frame);
    }

    /** Heeds messages of the embedded page alone: of its window, and of its origin. */
    readonly #heard = ({ source, origin, data }: MessageEvent<unknown>): void => {
      const frame = this.#frame;
      if (frame === undefined || source !== frame.contentWindow || origin !== this.#origin) return;
      const message = messageIn(data);
      if (message === 'ended') this.dispatchEvent(new CustomEvent('svc-portal-ended'));
      else if (message !== undefined) frame.style.height = `${Math.min(Math.max(message, LEAST), MOST)}px`;
    };
  };
}

/** The bounds of the height, in px: a page that is broken must not push the rest of this one away. */
const LEAST = 160;
const MOST = 20_000;
const FIRST_HEIGHT = 480;

function addressIn(src: string | null): URL | undefined {
  if (src === null || !URL.canParse(src)) return undefined;
  const address = new URL(src);
  return ['https:', 'http:'].includes(address.protocol) ? address : undefined;
}

/** A height in px, the end of the session, or undefined for any other message. */
function messageIn(data: unknown): number | 'ended' | undefined {
  if (typeof data !== 'object' || data === null || !('type' in data)) return undefined;
  if (data.type === 'svc-portal:ended') return 'ended';
  if (data.type !== 'svc-portal:height' || !('height' in data)) return undefined;
  return typeof data.height === 'number' && Number.isFinite(data.height) ? data.height : undefined;
}
