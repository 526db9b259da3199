import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type ChartStep, stepTime } from '../model/series.ts';
import { spanText } from '../model/spans.ts';
import { Table } from './table.tsx';

/**
 * Counts over time as bars: one kind above the axis, the other one below it, so that neither is told by its colour alone. The
 * slider reads one step, by keyboard too, and the table has them all.
 */
export function Chart(given: {
  readonly label: string;
  readonly sentence: string;
  readonly steps: readonly ChartStep[];
  readonly up: { readonly name: string; readonly tone: 'good' | 'bad' };
  readonly down?: string;
}): VNode {
  const { label, sentence, steps, up, down } = given;
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const last = steps.length - 1;
  const index = Math.min(chosen ?? last, last);
  const step = steps[index];
  const highest = Math.max(0, ...steps.map((each) => each.up));
  const lowest = Math.max(0, ...steps.map((each) => each.down));
  // Without a count below, the axis is at the bottom.
  const axis = lowest === 0 ? HEIGHT : (HEIGHT * highest) / (highest + lowest);
  const [first] = steps;
  if (first === undefined || step === undefined) return <p class="quiet">{sentence}</p>;
  const stepMs = (steps[1]?.at ?? first.at + 60_000) - first.at;
  const spanMs = steps.length * stepMs;
  const read = (at: ChartStep) => `${stepTime(at.at, spanMs)} UTC: ${at.text}`;
  const width = WIDTH / steps.length;
  const point = ({ currentTarget, clientX }: PointerEvent) => {
    if (!(currentTarget instanceof Element)) return;
    const { left, width: whole } = currentTarget.getBoundingClientRect();
    setChosen(Math.max(0, Math.min(last, Math.floor(((clientX - left) / whole) * steps.length))));
  };
  return (
    <figure class="chart card">
      <figcaption>{sentence}</figcaption>
      <p class="keys quiet">
        <span class={`key ${up.tone}`}>
          up: {up.name}, {highest.toLocaleString('en')} at the most
        </span>
        {down !== undefined && (
          <span class="key bad">
            down: {down}, {lowest.toLocaleString('en')} at the most
          </span>
        )}
        <span>a bar is {spanText(stepMs)}</span>
      </p>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" onPointerMove={point}>
        <rect class="cursor" x={index * width} y="0" width={width} height={HEIGHT} />
        <path class={up.tone} d={bars(steps, ({ up: count }) => -heightOf(count, highest, axis), axis, width)} />
        <path class="bad" d={bars(steps, (each) => heightOf(each.down, lowest, HEIGHT - axis), axis, width)} />
        <path class="axis" d={`M0 ${axis}H${WIDTH}`} />
      </svg>
      <p class="ends quiet">
        <span>{stepTime(first.at, spanMs)} UTC</span>
        <span>{stepTime(first.at + spanMs, spanMs)} UTC</span>
      </p>
      <input
        type="range"
        min={0}
        max={last}
        value={index}
        aria-label={`${label}: a step of the chart`}
        aria-valuetext={read(step)}
        onInput={(event) => setChosen(event.currentTarget.valueAsNumber)}
      />
      <p class="readout">{read(step)}</p>
      <StepTable label={label} steps={steps} read={(at) => stepTime(at, spanMs)} up={up.name} down={down} />
    </figure>
  );
}

const WIDTH = 1000;
const HEIGHT = 120;

/** A count of one is seen beside a thousand. */
function heightOf(count: number, most: number, room: number): number {
  return count === 0 ? 0 : Math.max(2, (count / most) * room);
}

function bars(steps: readonly ChartStep[], height: (step: ChartStep) => number, axis: number, width: number): string {
  const thick = (width * 0.8).toFixed(2);
  return steps
    .map((step, index) => ({ x: (index + 0.1) * width, tall: height(step) }))
    .filter(({ tall }) => tall !== 0)
    .map(({ x, tall }) => `M${x.toFixed(2)} ${axis.toFixed(1)}v${tall.toFixed(1)}h${thick}v${(-tall).toFixed(1)}z`)
    .join('');
}

/** The steps with counts, the newest first. Its rows are made when it is opened. */
function StepTable(given: {
  readonly label: string;
  readonly steps: readonly ChartStep[];
  readonly read: (at: number) => string;
  readonly up: string;
  readonly down: string | undefined;
}): VNode {
  const { label, steps, read, up, down } = given;
  const [isOpen, setOpen] = useState(false);
  const counted = steps.filter((step) => step.up + step.down > 0).reverse();
  return (
    <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && counted.length === 0 && <p class="quiet">Nothing was counted.</p>}
      {isOpen && counted.length > 0 && (
        <Table
          label={label}
          rows={counted}
          keyOf={({ at }) => String(at)}
          columns={[
            { name: 'Time (UTC)', cell: ({ at }) => read(at) },
            { name: up, cell: (step) => step.up.toLocaleString('en') },
            ...(down === undefined ? [] : [{ name: down, cell: (step: ChartStep) => step.down.toLocaleString('en') }]),
          ]}
        />
      )}
    </details>
  );
}
