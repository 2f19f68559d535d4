// Owns real configuration files of many agents, for tests. They are read where they lie, outside of the repository, and never copied.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

export interface RealFile {
  readonly file: string;
  readonly text: string;
}

const data = new URL('../../../../shared/data/configs/configs.jsonl.gz', import.meta.url);

/** A machine without the files is told so; `absent` then names the reason. */
export function realFiles(what: string): { readonly files: readonly RealFile[]; readonly absent?: string } {
  if (!existsSync(data)) {
    const absent = `not compared, since ${data.pathname} is absent`;
    console.warn(`${what} was ${absent}.`);
    return { files: [], absent };
  }
  const lines = gunzipSync(readFileSync(data)).toString('utf8').trim().split('\n');
  return { files: lines.map((line) => JSON.parse(line) as RealFile) };
}
