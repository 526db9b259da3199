import { type Attributes, context, propagation } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TelemetryOptions } from '@svc/host-kit';

/** One series of a metric: its attributes, and its value; for a histogram the number of recorded values. */
export interface Series {
  readonly attributes: Attributes;
  readonly value: number;
}

export interface Recording {
  readonly telemetry: Required<Pick<TelemetryOptions, 'meterProvider' | 'tracerProvider'>>;
  /** Collects the metrics, and returns the series of one of them. */
  series(name: string): Promise<readonly Series[]>;
  names(): Promise<readonly string[]>;
  spans(): readonly ReadableSpan[];
  /** Returns everything that was exported, as text. */
  exported(): Promise<string>;
}

/** Sets up the SDK with exporters in memory. The context manager and the propagator are global, as the API demands. */
export function recording(): Recording {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: 2 ** 30,
    exportTimeoutMillis: 2 ** 30,
  });
  const spans = new InMemorySpanExporter();
  const metrics = async () => {
    const { resourceMetrics } = await reader.collect();
    return resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  };
  return {
    telemetry: {
      meterProvider: new MeterProvider({ readers: [reader] }),
      tracerProvider: new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }),
    },
    async series(name) {
      const found = (await metrics()).find(({ descriptor }) => descriptor.name === name);
      if (found === undefined) return [];
      if (found.dataPointType === DataPointType.HISTOGRAM) {
        return found.dataPoints.map(({ attributes, value }) => ({ attributes, value: value.count }));
      }
      if (found.dataPointType === DataPointType.EXPONENTIAL_HISTOGRAM) throw new Error(`${name} has no buckets`);
      return found.dataPoints.map(({ attributes, value }) => ({ attributes, value }));
    },
    names: async () => (await metrics()).map(({ descriptor }) => descriptor.name),
    spans: () => spans.getFinishedSpans(),
    async exported() {
      const told = spans.getFinishedSpans().map((span) => {
        const { name, attributes, links, events, status } = span;
        return { name, attributes, links, events, status, state: span.spanContext().traceState?.serialize() };
      });
      return JSON.stringify([await metrics(), told]);
    },
  };
}
