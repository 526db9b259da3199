import type { NextConfig } from 'next';

const config: NextConfig = {
  // Loaded by Node itself: the host uses node:sqlite and sockets, which must not be bundled.
  serverExternalPackages: ['@svc/host-kit', '@svc/egress-guard'],
  // A stream of events must not wait in the buffer of a compressor.
  compress: false,
  poweredByHeader: false,
};

export default config;
