import { type Meter, type MeterProvider, metrics, type Tracer, type TracerProvider, trace } from '@opentelemetry/api';

/** Where the host's telemetry goes. Without an SDK it goes nowhere, and costs next to nothing. */
export interface TelemetryOptions {
  /** Default: the one that is registered when the host is made. */
  readonly meterProvider?: MeterProvider;
  /** Default: the one that is registered. */
  readonly tracerProvider?: TracerProvider;
  /**
   * What a caller's trace context does: `continue` makes the request a part of that trace, and takes over whether it is sampled; `link`
   * begins a trace of our own that points at it, for hosts that strangers call. Default `continue`. It never counts as evidence of
   * anything.
   */
  readonly incomingTraces?: 'continue' | 'link';
}

/** What every part of the telemetry is made with. */
export interface Scope {
  readonly meter: Meter;
  readonly tracer: Tracer;
  readonly incomingTraces: 'continue' | 'link';
}

export function scopeOf(options: TelemetryOptions, version: string): Scope {
  const { meterProvider = metrics, tracerProvider = trace, incomingTraces = 'continue' } = options;
  return {
    meter: meterProvider.getMeter(SCOPE, version),
    tracer: tracerProvider.getTracer(SCOPE, version),
    incomingTraces,
  };
}

const SCOPE = '@svc/host-kit';
