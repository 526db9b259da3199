/**
 * Serves the metrics of the host of this process in the format of Prometheus: `node --import ./telemetry.mjs main.js`.
 * Records no traces. `OTEL_EXPORTER_PROMETHEUS_HOST` (default localhost) and `OTEL_EXPORTER_PROMETHEUS_PORT` (default
 * 9464) set the address, the path is /metrics.
 */
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

const { OTEL_EXPORTER_PROMETHEUS_HOST: host = 'localhost', OTEL_EXPORTER_PROMETHEUS_PORT: port = '9464' } = process.env;

const exporter = new PrometheusExporter({ host, port: Number(port) }, (error) => {
  if (error === undefined) return;
  // Without metrics no alert fires, so a host that cannot serve them does not run.
  process.stderr.write(
    `OTEL_EXPORTER_PROMETHEUS_PORT: ${host}:${port} cannot be listened on (${error.code}). Choose a free port.\n`,
  );
  process.exit(1);
});
const provider = new MeterProvider({ readers: [exporter] });
metrics.setGlobalMeterProvider(provider);
process.once('beforeExit', () => provider.shutdown());
