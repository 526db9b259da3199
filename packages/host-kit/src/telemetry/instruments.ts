import type { Counter, Histogram, Meter, MetricOptions, ObservableGauge, UpDownCounter } from '@opentelemetry/api';
import type { Metric } from './metrics.ts';

export function histogramOf(meter: Meter, metric: Metric): Histogram {
  return meter.createHistogram(metric.name, optionsOf(metric));
}

export function counterOf(meter: Meter, metric: Metric): Counter {
  return meter.createCounter(metric.name, optionsOf(metric));
}

export function upDownCounterOf(meter: Meter, metric: Metric): UpDownCounter {
  return meter.createUpDownCounter(metric.name, optionsOf(metric));
}

export function gaugeOf(meter: Meter, metric: Metric): ObservableGauge {
  return meter.createObservableGauge(metric.name, optionsOf(metric));
}

function optionsOf({ unit, description, buckets }: Metric): MetricOptions {
  return { unit, description, ...(buckets !== undefined && { advice: { explicitBucketBoundaries: [...buckets] } }) };
}
