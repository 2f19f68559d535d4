// Owns which filled-in values of a remote entry are sent with each request: headers, and parameters of the address.

import type { RemoteLaunch } from '../model/server.ts';
import { inputsOf, variablesOf } from './expand.ts';

export interface FilledValue {
  readonly name: string;
  /** As it is sent. */
  readonly value: string;
  /** The variables that its placeholders name. */
  readonly variables: readonly string[];
}

/** Values that were written with a placeholder. `written` has the placeholders, `filled` is the same entry with their values. */
export function filledValues(written: RemoteLaunch, filled: RemoteLaunch): readonly FilledValue[] {
  const sent = new Map(Object.entries(filled.headers));
  const headers = Object.entries(written.headers).map(([name, text]) => [name, text, sent.get(name)] as const);
  const { searchParams } = new URL(filled.url);
  const parameters = [...written.url.matchAll(PARAMETER)].map(
    ([, name = '', text = '']) => [name, text, searchParams.get(name)] as const,
  );
  return [...headers, ...parameters].flatMap(([name, text, value]) => {
    const variables = variablesOf(text);
    return value && (variables.length > 0 || inputsOf(text).length > 0) ? [{ name, value, variables }] : [];
  });
}

const PARAMETER = /[?&]([^=&#]+)=([^&#]+)/g;
