// Owns the files in PEM that an entry names: who may vouch for its server, and who we are.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import { errorCode } from './error-code.ts';

export interface PemFiles {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** What relative paths start from. */
  readonly cwd: string;
}

/** As `tls.connect` takes them. With a `ca`, nobody else may vouch: the system's authorities are not asked. */
export interface Credentials {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** A key that is not named lies in the file of its certificate. Fails before anything is sent, and says which file. */
export async function readPemFiles(server: ServerName, files: PemFiles): Promise<Credentials> {
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

/** Node takes any text for a `ca` and then trusts nobody, so its first certificate is read here. */
async function check(what: string, server: ServerName, { ca, ...own }: Credentials): Promise<void> {
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
