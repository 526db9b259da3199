export type {
  CertificateOf,
  ClientCertificate,
  ClientCertificatesOptions,
  TrustedTerminator,
} from './client-certificate.ts';
export { clientCertificates } from './client-certificate.ts';
export type { ForwardedFormat } from './forwarded.ts';
