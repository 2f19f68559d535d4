// Owns the proof that certificates and keys are read as named, and that a wrong file is named before anything is sent.

import { writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { readPemFiles } from '../../../src/transport/pem-files.ts';
import { makeCertificate } from '../../servers/certificates.ts';
import { temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';

describe('files in PEM', () => {
  const read = (files: object, cwd = '/') =>
    readPemFiles('files', { cwd, ...files }).catch((error: { data: unknown }) => error.data);

  verifies('EXT-20', 'are read from where the entry names them', async () => {
    const { certFile, keyFile, cert, key } = makeCertificate('localhost');
    expect(await read({})).toEqual({});
    expect(await read({ caFile: certFile, certFile, keyFile })).toEqual({ ca: cert, cert, key });
    expect(await read({ caFile: basename(certFile) }, dirname(certFile))).toEqual({ ca: cert });
    const both = temporaryFile('both.pem');
    writeFileSync(both, Buffer.concat([cert, key]));
    expect(Object.keys((await read({ certFile: both })) as object)).toEqual(['cert', 'key']);
  });

  verifies('EXT-20', 'are named when they cannot be used', async () => {
    const { certFile, keyFile } = makeCertificate('localhost');
    const { keyFile: otherKey } = makeCertificate('other');
    const text = temporaryFile('text');
    writeFileSync(text, 'no certificate');
    const names = (what: string) => ({ problem: expect.stringContaining(`server "files" names ${what}, which`) });
    expect(await read({ caFile: '/no/such/file' })).toEqual({
      problem: 'server "files" names the file /no/such/file, which cannot be read (ENOENT)',
    });
    expect(await read({ caFile: text })).toEqual(names(`the CA file ${text}`));
    expect(await read({ certFile, keyFile: otherKey })).toEqual(
      names(`the certificate ${certFile} with the key ${otherKey}`),
    );
    expect(await read({ certFile })).toEqual(names(`the certificate ${certFile} with the key ${certFile}`));
    expect(await read({ keyFile })).toEqual(names(`the key ${keyFile} without a certificate`));
  });
});
