// Owns the list of all rules for signals.

import type { Rule } from './rule.ts';
import { deeds } from './rules/deeds.ts';
import { obedience } from './rules/obedience.ts';
import { voices } from './rules/voices.ts';

export const rules: readonly Rule[] = [...obedience, ...voices, ...deeds];
