// Owns the age of a time as short text, such as `3 h ago`.

const units = [
  { ms: 86_400_000, name: 'd' },
  { ms: 3_600_000, name: 'h' },
  { ms: 60_000, name: 'min' },
] as const;

export function ageText(at: number, now = Date.now()): string {
  const ms = Math.max(0, now - at);
  const unit = units.find((each) => ms >= each.ms);
  return unit ? `${Math.floor(ms / unit.ms)} ${unit.name} ago` : 'just now';
}
