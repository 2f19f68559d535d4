// Owns what is told of rules when a configuration is read: those that cannot mean anything, so that nobody relies on them.

import type { LoadedConfig } from './config/load.ts';
import type { HostEnvironment } from './config/scopes.ts';
import type { Diagnostic } from './model/diagnostic.ts';
import { reviewRules } from './policy/review.ts';
import { parseRules } from './policy/rule.ts';

/** Only what is wrong wherever it stands: a rule for a server of another folder is none of this folder's business. */
export function withRulesReviewed(
  config: LoadedConfig,
  environment: Pick<HostEnvironment, 'cwd' | 'home'>,
): LoadedConfig {
  if (config.rules.length === 0) return config;
  const servers = [...config.definitions, ...config.invalid].map(({ name }) => name);
  const remarks = reviewRules(parseRules(config.rules, servers, environment), servers);
  const found = remarks
    .filter(({ kind }) => kind === 'never' || kind === 'typo')
    .map(({ rule, why }): Diagnostic => {
      const { file, line } = rule.provenance;
      return {
        severity: 'warning',
        code: 'CONFIG_INVALID',
        message: `the rule "${rule.text}" ${why}`,
        remedy: 'Correct it, or remove it. See all rules with: plexus policy',
        ...(file !== undefined && { file }),
        ...(line !== undefined && { line }),
      };
    });
  return found.length === 0 ? config : { ...config, diagnostics: [...config.diagnostics, ...found] };
}
