import { type Meter, type MeterProvider, metrics, type Tracer, type TracerProvider, trace } from '@opentelemetry/api';

/** The OpenTelemetry providers of a host. Without an SDK nothing is recorded, at next to no cost. */
export interface TelemetryOptions {
  /** Receives metrics. Default: the global provider at the time of `createHost`. */
  readonly meterProvider?: MeterProvider;
  /** Receives spans. Default: the global provider. */
  readonly tracerProvider?: TracerProvider;
  /**
   * The use of a caller's trace context. `continue` makes the request a part of the caller's trace and adopts its
   * sampling decision. `link` begins a new trace with a link to the caller's: choose it for a host that strangers call.
   * Default `continue`. A trace context never affects authentication or authorization.
   */
  readonly incomingTraces?: 'continue' | 'link';
}

/** The meter and the tracer that every part of the telemetry uses. */
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
