// Owns finding the line of each permission rule in its file. Loading the configuration does not keep it.

import type { RuleText } from '../model/rule.ts';

export async function locateRules<Rule extends RuleText>(rules: readonly Rule[]): Promise<readonly Rule[]> {
  const { readDocument } = await import('../config/read-document.ts');
  const files = [...new Set(rules.flatMap(({ provenance }) => provenance.file ?? []))];
  const read = new Map(await Promise.all(files.map(async (file) => [file, await readDocument(file)] as const)));
  return Promise.all(
    rules.map(async (rule) => {
      const { file = '', key } = rule.provenance;
      const found = read.get(file);
      const line = found?.kind === 'document' ? (await found.document.locate(key))?.line : undefined;
      return { ...rule, provenance: { ...rule.provenance, ...(line !== undefined && { line }) } };
    }),
  );
}
