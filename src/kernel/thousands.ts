// Owns how a large whole number is written for people: 200,000. `Intl.NumberFormat` takes tens of milliseconds to load.

export function thousands(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
