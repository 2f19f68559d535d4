// Owns certificates for tests with real TLS, made by the machine's own `openssl`; where there is none, such tests are skipped.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { temporaryFile } from './processes.ts';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) console.warn('Tests with TLS are skipped: this machine has no openssl.');

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** As a server takes them. */
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Signed by itself, for one name and for 127.0.0.1. */
export function makeCertificate(name: string): Certificate {
  const certFile = temporaryFile('cert.pem');
  const keyFile = temporaryFile('key.pem');
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name},IP:127.0.0.1`];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', keyFile, '-out', certFile, ...subject], {
    stdio: 'ignore',
  });
  return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
}
