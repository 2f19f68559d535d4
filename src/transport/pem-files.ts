// Owns the PEM files that an entry names: the authorities trusted for its server, and the client certificate with its key.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import { errorCode } from './error-code.ts';

export interface PemFiles {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** The folder that relative paths start from. */
  readonly cwd: string;
}

/** In the form that `tls.connect` takes. A `ca` replaces the system's authorities. */
export interface TlsCredentials {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** If no key file is named, the key is in the certificate's file. Rejects before anything is sent, and names the file. */
export async function readPemFiles(server: ServerName, files: PemFiles): Promise<TlsCredentials> {
  const { caFile, certFile, keyFile = certFile } = files;
  const read = (file: string) => readPem(server, resolve(files.cwd, file));
  const ca = caFile === undefined ? undefined : await read(caFile);
  const cert = certFile === undefined ? undefined : await read(certFile);
  const key = keyFile === undefined ? undefined : await read(keyFile);
  if (ca !== undefined) await check(`the CA file ${caFile}`, server, { ca });
  if (cert !== undefined && key !== undefined) {
    await check(`the certificate ${certFile} with the key ${keyFile}`, server, { cert, key });
  } else if (key !== undefined) throw invalid(server, `the key ${keyFile} without a certificate`, 'needs both');
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

async function readPem(server: ServerName, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw invalid(server, `the file ${file}`, `cannot be read (${errorCode(error) ?? 'no code'})`, error);
  }
}

/** Node accepts any text as `ca` and then trusts no server, so the first certificate is parsed here. */
async function check(what: string, server: ServerName, { ca, ...own }: TlsCredentials): Promise<void> {
  const [{ X509Certificate }, { createSecureContext }] = await Promise.all([import('node:crypto'), import('node:tls')]);
  try {
    if (ca !== undefined) new X509Certificate(ca);
    createSecureContext(own);
  } catch (error) {
    throw invalid(server, what, `cannot be used (${errorCode(error) ?? 'no PEM'})`, error);
  }
}

function invalid(server: ServerName, what: string, why: string, cause?: unknown): RuntimeError {
  return new RuntimeError('CONFIG_INVALID', { problem: `server "${server}" names ${what}, which ${why}` }, { cause });
}
