// Owns how one step of a call's progress is drawn: `3/10 (30 %) copying files`.

import type { Progress } from '../../connection/session.ts';

export function stepText({ progress, total, message = '' }: Progress): string {
  const share = total === undefined || total <= 0 ? '' : ` (${Math.min(100, Math.round((progress / total) * 100))} %)`;
  const count = total === undefined ? `step ${rounded(progress)}` : `${rounded(progress)}/${rounded(total)}${share}`;
  return [count, message.trim()].filter((part) => part !== '').join(' ');
}

/** Servers that count in fractions would otherwise print 0.30000000000000004. */
const rounded = (value: number) => String(Math.round(value * 100) / 100);
