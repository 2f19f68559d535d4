// Owns certificates for tests with real TLS, made here byte by byte: a test that needs a program of the machine could be skipped.

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { temporaryFile } from './processes.ts';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** As a server takes them. */
  readonly cert: Buffer;
  readonly key: Buffer;
}

const DAY_MS = 86_400_000;

/** Signed by itself, for one name and for 127.0.0.1. */
export function makeCertificate(name: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const body = certificateBody(name, publicKey.export({ type: 'spki', format: 'der' }));
  const signature = sign('sha256', body, privateKey);
  const certFile = temporaryFile('cert.pem');
  const keyFile = temporaryFile('key.pem');
  writeFileSync(certFile, pemOf(sequence(body, ECDSA_WITH_SHA256, bits(signature))));
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

/** The `TBSCertificate` of RFC 5280; the name is its own issuer. */
function certificateBody(name: string, publicKey: Buffer): Buffer {
  const subject = sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(name)))));
  const validity = sequence(utcTime(Date.now() - DAY_MS), utcTime(Date.now() + DAY_MS));
  const alternatives = sequence(der(0x82, Buffer.from(name)), der(0x87, Buffer.from([127, 0, 0, 1])));
  return sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // The first byte keeps the number positive and without a leading zero.
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    subject,
    validity,
    subject,
    publicKey,
    der(
      0xa3,
      sequence(extension('551d13', sequence(der(0x01, Buffer.from([0xff])))), extension('551d11', alternatives)),
    ),
  );
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content);
const extension = (id: string, content: Buffer) => sequence(objectId(id), der(0x04, content));
const utcTime = (at: number) =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().replace(/\D/g, '').slice(2, 14)}Z`));

const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'));

const pemOf = (certificate: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
