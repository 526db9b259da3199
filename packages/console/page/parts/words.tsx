import type { ComponentChildren, VNode } from 'preact';
import type { ApiError } from '../data/api.ts';
import { distanceText } from '../model/spans.ts';
import type { Tone } from '../model/standing.ts';
import { visibleText } from '../model/visible-text.ts';
import { Icon } from './icon.tsx';

/** A state: a word, an icon and a colour. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: string }): VNode {
  return (
    <span class={`badge ${tone}`}>
      <Icon name={tone} />
      {visibleText(children)}
    </span>
  );
}

/** A time as its distance from now, with the exact time as its title. */
export function Ago({ time }: { readonly time: string | number | undefined }): VNode {
  if (time === undefined) return <span class="quiet">–</span>;
  const date = new Date(time);
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {distanceText(date.getTime(), Date.now())}
    </time>
  );
}

/** A text of a stranger: on one line, with every hidden character visible. */
export function Text({ children }: { readonly children: string }): VNode {
  return <>{visibleText(children)}</>;
}

/** An id or a URL, in the font of code. */
export function Code({ children }: { readonly children: string }): VNode {
  return <code>{visibleText(children)}</code>;
}

/** The end of an id, by which rows are told apart. */
export function ShortId({ children }: { readonly children: string }): VNode {
  return (
    <>
      {' '}
      <code class="short-id">…{visibleText(children.slice(-6))}</code>
    </>
  );
}

/** A word with a capital, for a button or a filter. */
export function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** An error of the host where its data would be. */
export function Failure({ error, retry }: { readonly error: ApiError; readonly retry?: () => void }): VNode {
  return (
    <div class="notice bad" role="alert">
      <Icon name="bad" />
      <p>
        <strong>{TITLES[error.status] ?? 'The host refused.'}</strong> <Text>{error.message}</Text>
      </p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

const TITLES: Readonly<Record<number, string>> = {
  0: 'No answer.',
  403: 'This credential may not see this.',
  404: 'This does not exist, or not for this credential.',
  429: 'Too many requests.',
};

/** A place without data, which says what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Names and values. */
export function Facts({ children }: { readonly children: ComponentChildren }): VNode {
  return <dl class="facts">{children}</dl>;
}

/** One name with its value. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A number of things, in words: `1 dead letter`, `4,312 dead letters`. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
