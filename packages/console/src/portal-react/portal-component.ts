/// <reference lib="dom" />
import { definePortalElement } from '../portal-element/portal-element.ts';

/** The parts of React 18 or later that the component is made of. Preact has them too. */
export interface ReactParts<Node> {
  /** `createElement` of React. */
  readonly createElement: (type: string, props: Readonly<Record<string, unknown>>) => Node;
  /** `useEffect` of React. */
  readonly useEffect: (effect: () => (() => void) | undefined, dependencies: readonly unknown[]) => void;
  /** `useRef` of React. */
  readonly useRef: (initial: null) => { current: EventTarget | null };
}

/** The properties of the component. */
export interface PortalProps {
  /** The `url` of a session, which works once. Create a session, and render the component with a new one. */
  readonly src: string;
  /** The name of the frame for screen readers. Default: `Webhooks`. */
  readonly title?: string;
  /** Called when the session has ended. Default: not called. */
  readonly onEnded?: () => void;
}

/**
 * Makes a React component that shows `<svc-portal>`. React is passed in, so that this package depends on no version of it.
 *
 * @example
 * import { createElement, useEffect, useRef } from 'react';
 *
 * const SvcPortal = portalComponent({ createElement, useEffect, useRef });
 */
export function portalComponent<Node>({ createElement, useEffect, useRef }: ReactParts<Node>) {
  return function SvcPortal({ src, title, onEnded }: PortalProps): Node {
    const element = useRef(null);
    useEffect(() => {
      definePortalElement();
      return undefined;
    }, []);
    useEffect(() => {
      const { current } = element;
      if (current === null || onEnded === undefined) return undefined;
      current.addEventListener('svc-portal-ended', onEnded);
      return () => current.removeEventListener('svc-portal-ended', onEnded);
    }, [onEnded]);
    return createElement('svc-portal', { ref: element, src, ...(title !== undefined && { title }) });
  };
}
